/**
 * The smallest valid object of each kind, and functions that vary it. The names do not occur in real manifests, so that their origin
 * is clear when one is found in a cluster.
 */
import { LATTICE_API_VERSION, type LatticeObject } from "#crds";

export type RawObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
};

type Fields = Readonly<Record<string, unknown>>;

export function rawObject(kind: LatticeObject["kind"], metadata: Fields, spec: Fields): RawObject {
  return { apiVersion: LATTICE_API_VERSION, kind, metadata, spec };
}

const inNamespace = (name: string) => ({ name, namespace: "default" });

export const rawProvider = { type: "docker", kubernetes: { version: "1.36.3" } };
export const rawAws = { region: "eu-central-1", controlPlane: { instanceType: "m6i.large" }, workers: { instanceType: "m6i.large" } };
export const rawGcp = {
  project: "lattice-test",
  region: "europe-west1",
  controlPlane: { machineType: "n2-standard-4" },
  workers: { machineType: "n2-standard-4" },
};
export const rawAzure = {
  subscriptionId: "00000000-0000-0000-0000-000000000000",
  location: "westeurope",
  controlPlane: { vmSize: "Standard_D4s_v5" },
  workers: { vmSize: "Standard_D4s_v5" },
};

export const rawCluster = (spec: Fields = {}, name = "row"): RawObject =>
  rawObject("LatticeCluster", { name }, { provider: rawProvider, nodes: { controlPlane: 1, workers: 2 }, ...spec });

export const rawClusterOn = (provider: Fields): RawObject => rawCluster({ provider: { ...rawProvider, ...provider } });

export const rawService = (spec: Fields = {}, name = "row"): RawObject =>
  rawObject("LatticeService", inNamespace(name), { containers: { main: { image: "nginx:1.29" } }, ...spec });

/** A service with one container, `main`, that has these fields beside its image. */
export const rawContainer = (fields: Fields): RawObject => rawService({ containers: { main: { image: "nginx:1.29", ...fields } } });

export const rawExternalService = (spec: Fields = {}, name = "row"): RawObject =>
  rawObject("LatticeExternalService", inNamespace(name), { endpoints: { default: "https://api.example.com" }, ...spec });

export const rawEnvironment = (spec: Fields = {}, name = "row"): RawObject => rawObject("LatticeEnvironment", { name }, spec);

export const rawRegistration = (spec: Fields = {}): RawObject =>
  rawObject("LatticeServiceRegistration", inNamespace("row"), { git: { url: "https://git.example.com/services" }, ...spec });

export const rawConfig = (spec: Fields = {}): RawObject =>
  rawObject("LatticeServiceConfig", inNamespace("row"), { appliesTo: { environment: "prod" }, values: { "log.level": "info" }, ...spec });

export const rawBindings = (spec: Fields = {}): RawObject =>
  rawObject("LatticeSecretBindings", inNamespace("row"), { bindings: { stripe: { secretRef: { name: "stripe" } } }, ...spec });

export const rawRegistry = (spec: Fields = {}): RawObject =>
  rawObject("LatticeImageRegistry", { name: "row" }, { host: "registry.example.com", ...spec });

/** One of each kind. */
export const rawObjects: readonly RawObject[] = [
  rawCluster(),
  rawEnvironment(),
  rawService(),
  rawExternalService(),
  rawRegistration(),
  rawConfig(),
  rawBindings(),
  rawRegistry(),
];
