/**
 * What the REST layer asks before it keeps a change, and what each part of admission gives as an answer.
 *
 * Most parts answer at once; a webhook answers later. A request that had to wait finds out at the store whether the world moved on meanwhile.
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

/** One change that somebody wants to make. Objects are as the version that was asked for, with defaults. */
export type Attributes = {
  readonly operation: Operation;
  /** What the request itself asks for, as authorization names it: an "update" or a "patch" may CREATE. */
  readonly verb?: string | undefined;
  /** The resource that was asked for. */
  readonly type: ResourceType;
  /** What the objects are: the kind of the resource, but a Scale behind `scale`, an Eviction behind `eviction`. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** "" while a generated name is not chosen yet, and for each object of a collection that is deleted. */
  readonly name: string;
  readonly user: User;
  readonly dryRun: boolean;
  /** As the client gave them: `{kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", …}`. Made only for who asks: hardly anybody does. */
  readonly options: () => JsonObject;
  /** Absent on DELETE. */
  readonly object: KubeObject | undefined;
  /** Absent on CREATE. */
  readonly old: KubeObject | undefined;
  /** For a Warning header of the answer. */
  readonly warn: (text: string) => void;
  /** The same for all rounds of one request; without it there is one round. */
  readonly reinvocation?: Reinvocation;
};

/** All mutators are asked a second time when a webhook changed the object: those before it have not seen the change. */
export type Reinvocation = {
  round: 1 | 2;
  /** Somebody changed something in the first round. */
  wanted: boolean;
  /** Hooks that were called and want to be called again after later changes; and those for which such a change has come. */
  readonly called: Set<string>;
  readonly again: Set<string>;
  /** The object as the last webhook left it. */
  left: KubeObject | undefined;
};

export function firstRound(): Reinvocation {
  return { round: 1, wanted: false, called: new Set(), again: new Set(), left: undefined };
}

/** Changes: the object as it shall go on, or why it may not. On DELETE the object that comes back is ignored. */
export type Mutate = (attributes: Attributes) => Later<Result<KubeObject | undefined, Failure>>;
/** Judges what will be stored. */
export type Validate = (attributes: Attributes) => Later<Result<undefined, Failure>>;

/** One part of admission, named as kube-apiserver names its plugins. */
export type AdmissionPlugin = {
  readonly name: string;
  readonly mutate?: Mutate;
  readonly validate?: Validate;
};

export type Admission = { readonly mutate: Mutate; readonly validate: Validate };

/** What the parts of admission work with. */
export type AdmissionContext = Pick<Core, "store" | "types" | "clock" | "random" | "logger" | "closing"> & {
  readonly authorize: Authorizer;
  /** Where the Service of a webhook is; without it at an endpoint on loopback, or where its external name leads. */
  readonly resolveService?: ResolveService | undefined;
};
