/**
 * A provisioner implements a resource type: it turns an entry of `spec.resources` into outputs that templates read.
 *
 * This is the interface for types of your own. Outputs are computed on demand: a password that no template reads is never looked
 * up, and a missing callee is not an error until its address is needed.
 */
import type { Result } from "#base";
import type { Grants } from "../grants/index.ts";
import type { Value } from "../templates/index.ts";
import type { Params } from "./params.ts";

export type ServiceAddress = { readonly namespace: string; readonly name: string };

/** The context of a provisioner. Nothing here reads a clock, a file or a network. */
export type ProvisionerContext = {
  /** The namespace of the workload. */
  readonly namespace: string;
  readonly clusterDomain: string;
  /** The domain for hosts of routes. */
  readonly ingressDomain: string | undefined;
  /** What the environment grants to its services. */
  readonly grants: Grants;
  /** The other service that holds the host and path of this service's route, by resource name. */
  readonly routeHolder: (resource: string) => string | undefined;
  /** Ports by name. */
  readonly findService: (address: ServiceAddress) => { readonly ports: ReadonlyMap<string, number> } | undefined;
  /** URLs by name. */
  readonly findExternalService: (address: ServiceAddress) => { readonly endpoints: ReadonlyMap<string, string> } | undefined;
  /** A value of `${config.*}`, by its key. */
  readonly readConfig: (key: string) => Result<Value, string>;
  /** `postgres/main-db/password`. The error is a sentence that never contains a value. */
  readonly readSecret: (path: string) => Result<Value, string>;
};

/** One entry of `spec.resources`, with the templates of its params rendered. */
export type ProvisionRequest = {
  /** The key in `spec.resources`. */
  readonly name: string;
  /** Name and namespace from `id`, else the name of the resource. */
  readonly address: ServiceAddress;
  readonly class: string | undefined;
  readonly params: Params;
  readonly surroundings: ProvisionerContext;
};

/** `not-found`: the referenced object does not exist. Any other problem is a sentence; `field` is its param, such as `params.port`. */
export type ResourceProblem =
  | { readonly kind: "not-found" }
  | { readonly kind: "other"; readonly message: string; readonly field?: string }
  | { readonly kind: "several"; readonly problems: readonly ResourceProblem[] };

export type ResourceOutput = () => Result<Value, ResourceProblem>;

/** A PersistentVolumeClaim to create for a volume. */
export type Claim = {
  readonly name: string;
  readonly size: string;
  readonly accessModes: readonly string[];
  readonly storageClassName: string | undefined;
};

/** A route from the ingress gateway: requests for this host and path reach the port of the service. */
export type RouteTarget = { readonly host: string; readonly path: string; readonly port: string | number | undefined };

/** The called service, when it differs from the address of the resource: a database has a service of its own. */
export type PeerAddress = { readonly address: ServiceAddress; readonly port: number };

export type Callee = { readonly address: ServiceAddress; readonly ports: readonly (string | number)[] };

/** The result of provisioning: outputs for templates, and the objects and flows of the resource. */
export type Provisioned = {
  readonly outputs: ReadonlyMap<string, ResourceOutput>;
  /** Outputs whose names are not known in advance. An error is reported where the output is read. */
  readonly anyOutput?: (name: string) => Result<Value, ResourceProblem>;
  readonly claim?: Claim;
  readonly route?: RouteTarget;
  readonly peer?: PeerAddress;
  /** A service that is called by its own name, on these ports only. */
  readonly callee?: Callee;
  /** Warnings, one sentence each. */
  readonly warnings?: readonly string[];
};

/** A resource type. `provision` is pure: the same request gives the same result. */
export type Provisioner = {
  readonly type: string;
  /** Names of the accepted params; any other is an error. undefined: all are accepted. */
  readonly params?: readonly string[];
  readonly provision: (request: ProvisionRequest) => Result<Provisioned, ResourceProblem>;
};
