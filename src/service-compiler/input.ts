/** All inputs of the compilation of one service. The compiler itself reads no clock, file, cluster or environment. */
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
  /** HMAC key for secret contents in the config hash: a plain hash of a weak password can be guessed. */
  readonly hashKey: Sensitive<string>;
};

/**
 * `postgres/main-db/password` is key `password` of Secret `postgres-main-db` in the namespace of the workload. `source` is the namespace that
 * the service or binding is in: a Secret of another namespace must be labelled shareable.
 */
export type SecretStore = (namespace: string, path: string, source: string) => Result<string, string>;

/** Kinds of objects that a volume can refer to. */
export type MountedKind = "Secret" | "ConfigMap" | "PersistentVolumeClaim";

export type ServiceInput = {
  readonly service: LatticeService;
  /** The namespace of the workload. */
  readonly namespace: string;
  readonly environment: LatticeEnvironment | undefined;
  /** All of the service's namespace; the compiler selects those that apply. */
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
  /** Reads the `source` of a file; only the command line has files. */
  readonly readFile: (path: string) => Result<Uint8Array, string>;
  /** resourceVersion of a Secret that External Secrets syncs; absent: not created yet. */
  readonly syncedVersion: (namespace: string, name: string) => string | undefined;
};
