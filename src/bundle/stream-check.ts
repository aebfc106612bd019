/** What `kubectl apply` would refuse in a stream of objects: the same object twice, a namespace that does not exist, a missing one. */
import { describeObject, type KubeObject } from "#kube";

const EXISTING_NAMESPACES = ["kube-system", "default"];
/** Kinds without a namespace would be applied to `default`, which is never intended. */
const NAMESPACED = new Set(
  "ConfigMap Secret Service ServiceAccount Deployment DaemonSet StatefulSet Job Role RoleBinding Provider".split(" "),
);

/** The first fault as a sentence. */
export function streamFault(objects: readonly KubeObject[]): string | undefined {
  const present = new Set<string>();
  for (const object of objects) {
    const id = identityOf(object);
    if (present.has(id)) return `${describeObject(object)} is there twice`;
    present.add(id);
    if (NAMESPACED.has(object.kind) && object.metadata.namespace === undefined) return `${describeObject(object)} has no namespace`;
  }
  return undefined;
}

/** The same, and every namespace must be part of the stream or exist in every cluster. */
export function completeStreamFault(objects: readonly KubeObject[]): string | undefined {
  const fault = streamFault(objects);
  if (fault !== undefined) return fault;
  const namespaces = new Set(EXISTING_NAMESPACES);
  for (const { kind, apiVersion, metadata } of objects) if (kind === "Namespace" && apiVersion === "v1") namespaces.add(metadata.name);
  const homeless = objects.find(({ metadata: { namespace } }) => namespace !== undefined && !namespaces.has(namespace));
  return homeless === undefined
    ? undefined
    : `${describeObject(homeless)}: namespace ${homeless.metadata.namespace ?? ""} is not part of the manifests`;
}

/** Versions of one group are one object. */
function identityOf({ apiVersion, kind, metadata: { namespace = "", name } }: KubeObject): string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return [group, kind, namespace, name].join("\n");
}
