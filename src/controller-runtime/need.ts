/** A permission, as controllers and services declare it. */
import type { Resource } from "#kube";

/** The verbs that a controller or service needs for a kind or a subresource. `names`: only for objects with these names. */
export type Need = {
  readonly resource: Resource;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  readonly names?: readonly string[];
};
