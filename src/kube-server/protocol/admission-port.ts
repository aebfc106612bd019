/**
 * The port between the REST layer and admission: every change passes through it before it is stored.
 *
 * Most plugins return at once; a webhook returns later. The store detects writes that happened while a request waited.
 */
import type { Later, Result } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import type { Authorizer } from "./auth-port.ts";
import type { ResourceType } from "../resource-type.ts";
import type { Core } from "./core.ts";
import type { User } from "./request.ts";
import type { Failure } from "./status.ts";
import type { ResolveService } from "./resolve-service.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** One requested change. Objects are in the requested version, with defaults. */
export type Attributes = {
  readonly operation: Operation;
  /** The verb of the request, as authorization names it: an "update" or a "patch" may CREATE. */
  readonly verb?: string | undefined;
  /** The requested resource. */
  readonly type: ResourceType;
  /** The kind of the objects: that of the resource, except a Scale for `scale` and an Eviction for `eviction`. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** "" before a generated name is chosen, and for each object of a deleted collection. */
  readonly name: string;
  readonly user: User;
  readonly dryRun: boolean;
  /** As sent by the client: `{kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", …}`. A function, because few plugins read them. */
  readonly options: () => JsonObject;
  /** Absent on DELETE. */
  readonly object: KubeObject | undefined;
  /** Absent on CREATE. */
  readonly old: KubeObject | undefined;
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void;
  /** The same for all rounds of one request; without it there is one round. */
  readonly reinvocation?: Reinvocation;
};

/** All mutating plugins run a second time when a webhook changed the object: earlier ones have not seen the change. */
export type Reinvocation = {
  round: 1 | 2;
  /** A webhook changed the object in the first round. */
  wanted: boolean;
  /** `called`: webhooks with `reinvocationPolicy: IfNeeded` that were called. `again`: those of them after which the object changed. */
  readonly called: Set<string>;
  readonly again: Set<string>;
  /** The object that the last webhook returned. */
  left: KubeObject | undefined;
};

export function firstRound(): Reinvocation {
  return { round: 1, wanted: false, called: new Set(), again: new Set(), left: undefined };
}

/** Returns the object with which the request continues, or the reason for its rejection. On DELETE the returned object is ignored. */
export type Mutate = (attributes: Attributes) => Later<Result<KubeObject | undefined, Failure>>;
/** Validates the object that will be stored. */
export type Validate = (attributes: Attributes) => Later<Result<undefined, Failure>>;

/** One admission plugin, named as in kube-apiserver. */
export type AdmissionPlugin = {
  readonly name: string;
  readonly mutate?: Mutate;
  readonly validate?: Validate;
};

export type Admission = { readonly mutate: Mutate; readonly validate: Validate };

/** The dependencies of the admission plugins. */
export type AdmissionContext = Pick<Core, "store" | "types" | "clock" | "random" | "logger" | "closing"> & {
  readonly authorize: Authorizer;
  /** Resolves the Service of a webhook. Default: an endpoint on loopback, or the Service's external name. */
  readonly resolveService?: ResolveService | undefined;
};
