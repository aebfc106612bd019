/**
 * Names of the objects of one cluster. Kubernetes limits many of them to 63 characters, because they become label values and host names.
 *
 * A name that is too long is cut and gets a digest of the whole name, so that two long names stay different.
 */
import { sha256Hex } from "#base";
import { canonicalJson, type Json } from "#kube";

const MOST_CHARACTERS = 63;
const DIGEST_CHARACTERS = 8;

/** The pool of `spec.nodes.workers`. */
export const DEFAULT_POOL = "default";

export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";

/** The namespace of the Cluster API objects, on the parent and on the child. */
export function capiNamespace(cluster: string): string {
  return `capi-${cluster}`;
}

export function controlPlaneName(cluster: string): string {
  return boundedName(`${cluster}-control-plane`);
}

export function poolName(cluster: string, pool: string): string {
  return boundedName(`${cluster}-${pool}`);
}

/** The default name of the Secret with the one-time token. */
export function tokenSecretName(cluster: string): string {
  return `lattice-bootstrap-${cluster}`;
}

/**
 * The name of a template whose spec cannot be changed: another spec has another name. Machines are replaced when the name changes that
 * their owner refers to.
 */
export function templateName(owner: string, spec: Json): string {
  const suffix = `-${sha256Hex(canonicalJson(spec)).slice(0, DIGEST_CHARACTERS)}`;
  return `${boundedName(owner, MOST_CHARACTERS - suffix.length)}${suffix}`;
}

export function boundedName(name: string, most = MOST_CHARACTERS): string {
  if (name.length <= most) return name;
  const suffix = `-${sha256Hex(name).slice(0, DIGEST_CHARACTERS)}`;
  return `${name.slice(0, most - suffix.length).replace(/-+$/, "")}${suffix}`;
}
