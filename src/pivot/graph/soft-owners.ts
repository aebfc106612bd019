/**
 * Owners by convention instead of by an owner reference, as clusterctl has them: Secrets by their name, bindings of ClusterResourceSets by
 * the Cluster that they name, Clusters by their ClusterClass. Pure.
 */
import { fieldAt } from "#kube";
import { ADDONS_GROUP, CORE_GROUP } from "./names.ts";
import type { ObjectOutline } from "./outline.ts";

export type NamedOwner = { readonly group: string; readonly kind: string; readonly namespace: string | undefined; readonly name: string };

const PURPOSES = ["kubeconfig", "ca", "etcd", "sa", "proxy", "apiserver-etcd-client"];

export function softOwnerOf(object: ObjectOutline): NamedOwner | undefined {
  const { apiVersion, kind, metadata } = object;
  const group = apiVersion.split("/")[0];
  const owner = (kind: string, name: unknown, namespace = metadata.namespace) =>
    typeof name === "string" && name !== "" ? { group: CORE_GROUP, kind, namespace, name } : undefined;
  if (apiVersion === "v1" && kind === "Secret") {
    return (metadata.ownerReferences ?? []).length > 0 ? undefined : owner("Cluster", clusterOfSecret(metadata.name));
  }
  if (group === ADDONS_GROUP && kind === "ClusterResourceSetBinding") return owner("Cluster", fieldAt(object, "spec", "clusterName"));
  if (group === CORE_GROUP && kind === "Cluster") return owner("ClusterClass", ...classOf(object));
  return undefined;
}

/** Name and namespace of the ClusterClass of a Cluster. */
function classOf(cluster: ObjectOutline): readonly [unknown, string | undefined] {
  const reference = fieldAt(cluster, "spec", "topology", "classRef");
  const namespace = fieldAt(reference, "namespace");
  const name = fieldAt(reference, "name") ?? fieldAt(cluster, "spec", "topology", "class");
  return [name, typeof namespace === "string" && namespace !== "" ? namespace : cluster.metadata.namespace];
}

function clusterOfSecret(name: string): string | undefined {
  const purpose = PURPOSES.find((one) => name.endsWith(`-${one}`));
  return purpose === undefined ? undefined : name.slice(0, -purpose.length - 1);
}
