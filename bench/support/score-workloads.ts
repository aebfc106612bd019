/** A Score workload of the shape that peers were measured with: two containers of ten variables, a file, a name, a route and a volume. */
export function scoreWorkload(number: number): string {
  const name = `workload-${String(number).padStart(3, "0")}`;
  return `apiVersion: score.dev/v1b1
metadata:
  name: ${name}
service:
  ports:
    web:
      port: 80
      targetPort: 8080
containers:
  main:
    image: images.example/${name}:1.0.0
    command: ["/bin/app"]
    args: ["--port=8080"]
    variables:
${variables("MAIN")}
    files:
      /etc/app/config.yaml:
        mode: "0644"
        content: |
          name: \${metadata.name}
          host: \${resources.dns.host}
          url: https://\${resources.dns.host}/
    volumes:
      /data:
        source: \${resources.data}
    resources:
      requests: { cpu: 100m, memory: 128Mi }
      limits: { cpu: 500m, memory: 512Mi }
    livenessProbe:
      httpGet: { path: /healthz, port: 8080 }
  sidecar:
    image: images.example/sidecar:1.0.0
    variables:
${variables("SIDE")}
resources:
  dns:
    type: dns
  data:
    type: volume
  route:
    type: route
    params:
      host: \${resources.dns.host}
      path: /
      port: 80
`;
}

function variables(prefix: string): string {
  const texts = (number: number) => [
    `${prefix}_HOST_${number}: "\${resources.dns.host}"`,
    `${prefix}_URL_${number}: "https://\${resources.dns.host}/v${number}/\${metadata.name}"`,
    `${prefix}_MIX_${number}: "name=\${metadata.name};host=\${resources.dns.host};n=${number}"`,
  ];
  return Array.from({ length: 10 }, (_, number) => `      ${texts(number)[number % 3] ?? ""}`).join("\n");
}
