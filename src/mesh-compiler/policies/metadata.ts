/** Labels of the objects that the mesh compiler creates. */
import type { ObjectMeta } from "#kube";

export function meshMetadata(namespace: string, name: string, service = name, labels: Readonly<Record<string, string>> = {}): ObjectMeta {
  return { name, namespace, labels: { "app.kubernetes.io/name": service, "app.kubernetes.io/managed-by": "lattice", ...labels } };
}
