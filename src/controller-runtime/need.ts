/** A permission, as controllers and services declare it. */
import type { Resource } from "#kube";

/** The verbs that a controller or service needs for a kind or a subresource. */
export type Need = {
  readonly resource: Resource;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  /** Of the only objects that it is needed for; absent: all. */
  readonly names?: readonly string[];
};
