/**
 * What a LatticeService in patch mode changes in its Deployment. It is kept as text in a ConfigMap of the operator's namespace.
 *
 * It holds no sensitive value, only references to Secrets.
 */
import type { JsonObject } from "#kube";

/** What one LatticeService changes in one Deployment. */
export type WorkloadPatch = {
  readonly version: 1;
  /** "namespace/name" of the LatticeService. Its name becomes the label `lattice.dev/service` of the Deployment and of its pods. */
  readonly service: string;
  /** The Deployment. */
  readonly target: { readonly namespace: string; readonly name: string };
  /**
   * A strategic merge patch without directives (`$patch` and the like) and without `envFrom`. Only `metadata.labels`, `metadata.annotations` and
   * `spec.template` may be changed. null removes a field.
   */
  readonly patch: JsonObject;
  /** By container: entries that are appended to the owner's `envFrom`. */
  readonly envFrom: Readonly<Record<string, readonly JsonObject[]>>;
  /**
   * By container and name of the variable: `valueFrom` of an `env` entry (`{configMapKeyRef}` or `{secretKeyRef}`). Used only where the owner's
   * container has that name in `env`, because `env` has precedence over `envFrom`.
   */
  readonly variables: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
};
