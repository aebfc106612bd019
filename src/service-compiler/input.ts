/** All that the compilation of one service may know. It is handed in: the compiler itself reads no clock, file, cluster or environment. */
import type { Result, Sensitive } from "#base";
import type { LatticeEnvironment, LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import type { Grants } from "./grants/index.ts";
import type { Registry, ProvisionerContext } from "./provisioners/index.ts";

export type Settings = {
  readonly clusterDomain: string;
  readonly trustDomain: string;
  readonly ingressDomain: string | undefined;
  readonly gateway: { readonly namespace: string; readonly name: string };
  /** The namespace whose pods scrape metrics; absent: only canaries are scraped. */
  readonly monitoring?: string | undefined;
  readonly cluster: { readonly name?: string | undefined; readonly provider?: string | undefined; readonly region?: string | undefined };
  /** Under which secret contents enter the config hash: a bare hash of a weak password can be guessed. */
  readonly hashKey: Sensitive<string>;
};

/**
 * `postgres/main-db/password` is key `password` of Secret `postgres-main-db` in the namespace of the workload. `source` is the namespace that
 * the reader is written in: a Secret of another namespace must be labelled shareable.
 */
export type SecretStore = (namespace: string, path: string, source: string) => Result<string, string>;

/** Kinds of objects that a volume can be made of. */
export type MountedKind = "Secret" | "ConfigMap" | "PersistentVolumeClaim";

export type ServiceInput = {
  readonly service: LatticeService;
  /** Where the workload runs. */
  readonly namespace: string;
  readonly environment: LatticeEnvironment | undefined;
  /** Those of the service's namespace; which of them apply is found out here. */
  readonly configs: readonly LatticeServiceConfig[];
  readonly bindings: readonly LatticeSecretBindings[];
  readonly settings: Settings;
  readonly grants: Grants;
  readonly registry: Registry;
  readonly routeHolder: ProvisionerContext["routeHolder"];
  /** Why a container may not mount an object of the target namespace; undefined: it may. */
  readonly mountProblem: (kind: MountedKind, name: string) => string | undefined;
  readonly findService: ProvisionerContext["findService"];
  readonly findExternalService: ProvisionerContext["findExternalService"];
  readonly secrets: SecretStore;
  /** `source` of a file; only the command line has files. */
  readonly readFile: (path: string) => Result<Uint8Array, string>;
  /** resourceVersion of a Secret that External Secrets keeps in step; absent: not there yet. */
  readonly syncedVersion: (namespace: string, name: string) => string | undefined;
};
