/** Small Lattice resources for tests, each valid as it is. */
import type { FixtureObject } from "#embedded-cluster";

const API = "lattice.dev/v1alpha1";

export function environment(name: string, spec: object = {}): FixtureObject {
  return { apiVersion: API, kind: "LatticeEnvironment", metadata: { name }, spec };
}

/** `key`: namespace/name, as in `shop/api`. One container, one port. */
export function latticeService(key: string, spec: Readonly<Record<string, unknown>> = {}): FixtureObject {
  const [namespace, name] = key.split("/");
  const main = { image: "registry.example.com/app:1" };
  return {
    apiVersion: API,
    kind: "LatticeService",
    metadata: { name, namespace },
    spec: { containers: { main }, service: { ports: { http: { port: 8080 } } }, ...spec },
  };
}

/** One container with these variables. */
export function withVariables(variables: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return { containers: { main: { image: "registry.example.com/app:1", variables } } };
}

export const calls = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, { direction: "outbound" }]));
export const isCalledBy = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, { direction: "inbound" }]));

export function externalService(key: string, spec: object): FixtureObject {
  const [namespace, name] = key.split("/");
  return { apiVersion: API, kind: "LatticeExternalService", metadata: { name, namespace }, spec };
}

export function serviceConfig(key: string, spec: object): FixtureObject {
  const [namespace, name] = key.split("/");
  return { apiVersion: API, kind: "LatticeServiceConfig", metadata: { name, namespace }, spec };
}

export function secretBindings(key: string, spec: object): FixtureObject {
  const [namespace, name] = key.split("/");
  return { apiVersion: API, kind: "LatticeSecretBindings", metadata: { name, namespace }, spec };
}

/** `shareable`: the value of the label that lets services of other namespaces read it. */
export function secret(key: string, texts: Readonly<Record<string, string>>, shareable?: string): FixtureObject {
  const [namespace, name] = key.split("/");
  const data = Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, Buffer.from(text).toString("base64")]));
  const labels = shareable === undefined ? {} : { labels: { "lattice.dev/shareable": shareable } };
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, ...labels }, type: "Opaque", data };
}
