/**
 * Services in a ring, each calling the next few and called by the last few: every edge agreed on both sides. The shape of the peers'
 * measurements, generated here so that no file is needed.
 */
import { expectOk } from "#base";
import { parseLatticeService, type LatticeService } from "#crds";
import type { Json } from "#kube";

export type Ring = { readonly count: number; readonly degree: number; readonly full: boolean };

export function ringServices({ count, degree, full }: Ring): readonly LatticeService[] {
  return Array.from({ length: count }, (_, index) => ringService(index, { count, degree, full }));
}

/** `image` makes a different service of the same edges. */
export function ringService(index: number, { count, degree, full }: Ring, image = "images.example/main:1.0.0"): LatticeService {
  const at = (distance: number) => `svc${(index + distance + count) % count}`;
  const distances = Array.from({ length: degree }, (_, distance) => distance + 1);
  const resources = Object.fromEntries([
    ...distances.map((distance) => [at(distance), { type: "service", direction: "outbound" }]),
    ...distances.map((distance) => [at(-distance), { type: "service", direction: "inbound" }]),
  ]);
  const containers = full
    ? { main: fullContainer(image, at), sidecar: fullContainer("images.example/sidecar:1.0.0", at) }
    : { main: { image } };
  const spec = {
    environment: "default",
    containers,
    resources,
    service: { ports: { http: { port: 8080 } } },
    replicas: { min: 1, ...(full ? { max: 5 } : {}) },
  };
  return expectOk(
    parseLatticeService({
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeService",
      metadata: { name: `svc${index}`, namespace: "default" },
      spec,
    }),
  );
}

/** Ten variables with placeholders, a file, limits and a probe. */
function fullContainer(image: string, at: (distance: number) => string): Json {
  const templates = (number: number) => [
    `\${resources.${at(1)}.url}`,
    `http://\${resources.${at(2)}.host}:\${resources.${at(2)}.port}/v${number}`,
    `name=\${metadata.name};n=${number}`,
  ];
  const variables = Array.from({ length: 10 }, (_, number) => [`VAR_${number}`, templates(number)[number % 3] ?? ""]);
  return {
    image,
    command: ["/bin/app"],
    args: ["--port=8080"],
    variables: Object.fromEntries(variables) as Json,
    files: { "/etc/app/config.yaml": { content: `name: \${metadata.name}\nupstream: \${resources.${at(3)}.url}\n` } },
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "512Mi" } },
    readinessProbe: { httpGet: { path: "/ready", port: 8080 } },
  };
}
