/** The service that `lattice init` writes without an input file: it compiles, and its comments explain what to change. */

export function starterService(name: string): string {
  return `# A service of Lattice. Check it with: lattice validate -f FILE
# See every object that it becomes with: lattice compile -f FILE
apiVersion: lattice.dev/v1alpha1
kind: LatticeService
metadata:
  name: ${name}
spec:
  # environment: prod          # the LatticeEnvironment to run in; without it, the namespace of this file
  containers:
    main:
      image: registry.example.com/${name}:1.0
      variables:
        GREETING: "hello from \${metadata.name}"
      resources:
        requests: { cpu: 100m, memory: 128Mi }
      readinessProbe:
        httpGet: { path: /, port: http }
  service:
    ports:
      http: { port: 8080 }
  replicas: { min: 2 }
  # Calls are closed until both sides declare them.
  # resources:
  #   catalog: { direction: outbound }             # this service calls catalog, which must declare it as inbound
  #   frontend: { direction: inbound }             # frontend calls this service
  #   main-db: { type: postgres }                  # \${resources.main-db.connection_string} in a variable
  #   site: { type: route, params: { host: ${name}.example.com, path: / } }
`;
}
