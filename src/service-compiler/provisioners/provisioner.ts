/**
 * What a type of resource does: it turns an entry of `spec.resources` into outputs that templates read.
 *
 * This is the interface for types of your own. Outputs are computed on demand: a password that no template reads is never looked
 * up, and a callee that is not there is no error until its address is needed.
 */
import type { Result } from "#base";
import type { Grants } from "../grants/index.ts";
import type { Value } from "../templates/index.ts";
import type { Params } from "./params.ts";

export type ServiceAddress = { readonly namespace: string; readonly name: string };

/** What a provisioner may know of the world around the service. Nothing here reads a clock, a file or a network. */
export type ProvisionerContext = {
  /** Where the workload runs. */
  readonly namespace: string;
  readonly clusterDomain: string;
  /** Under which routes get their host. */
  readonly ingressDomain: string | undefined;
  /** What the environment lets its services use. */
  readonly grants: Grants;
  /** Another service that has the host and path of this service's route; by the name of the resource. */
  readonly routeHolder: (resource: string) => string | undefined;
  /** Ports by name. */
  readonly findService: (address: ServiceAddress) => { readonly ports: ReadonlyMap<string, number> } | undefined;
  /** URLs by name. */
  readonly findExternalService: (address: ServiceAddress) => { readonly endpoints: ReadonlyMap<string, string> } | undefined;
  /** A value of `${config.*}`, by its key. */
  readonly readConfig: (key: string) => Result<Value, string>;
  /** `postgres/main-db/password`. The error is a sentence that never holds a value. */
  readonly readSecret: (path: string) => Result<Value, string>;
};

/** One entry of `spec.resources`, with the templates of its params filled in. */
export type ProvisionRequest = {
  /** The key in `spec.resources`. */
  readonly name: string;
  /** What `id` means, or the name; and where. */
  readonly address: ServiceAddress;
  readonly class: string | undefined;
  readonly params: Params;
  readonly surroundings: ProvisionerContext;
};

/** `not-found`: the thing itself is not there. Anything else is a sentence; `field` is the param that it is about, such as `params.port`. */
export type ResourceProblem =
  | { readonly kind: "not-found" }
  | { readonly kind: "other"; readonly message: string; readonly field?: string }
  | { readonly kind: "several"; readonly problems: readonly ResourceProblem[] };

export type ResourceOutput = () => Result<Value, ResourceProblem>;

/** A claim to be made for a volume. */
export type Claim = {
  readonly name: string;
  readonly size: string;
  readonly accessModes: readonly string[];
  readonly storageClassName: string | undefined;
};

/** A route from the ingress gateway: requests for this host and path reach the port of the service. */
export type RouteTarget = { readonly host: string; readonly path: string; readonly port: string | number | undefined };

/** What is called on the network, when it is not the address itself: a database runs behind a service of its own. */
export type PeerAddress = { readonly address: ServiceAddress; readonly port: number };

export type Callee = { readonly address: ServiceAddress; readonly ports: readonly (string | number)[] };

/** What a resource brings: outputs for templates, and objects or flows that follow from it. */
export type Provisioned = {
  readonly outputs: ReadonlyMap<string, ResourceOutput>;
  /** Outputs whose names are not known beforehand. An error is reported where the output is read. */
  readonly anyOutput?: (name: string) => Result<Value, ResourceProblem>;
  readonly claim?: Claim;
  readonly route?: RouteTarget;
  readonly peer?: PeerAddress;
  /** A service that is called by its own name, on these ports only. */
  readonly callee?: Callee;
  /** Sentences for people. */
  readonly warnings?: readonly string[];
};

/** A type of resource. `provision` is pure: the same request gives the same answer. */
export type Provisioner = {
  readonly type: string;
  /** Names of the params that it understands; any other is an error. undefined: all are accepted. */
  readonly params?: readonly string[];
  readonly provision: (request: ProvisionRequest) => Result<Provisioned, ResourceProblem>;
};
