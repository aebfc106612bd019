/** A small operator to be tested: for every Greeting a ConfigMap with its text, and a status that says so. */
import type { KubeClient, KubeObject, ObjectKey, Resource } from "@lattice-fleet/lattice/kube-server";

export type Greeting = KubeObject & { readonly spec: { readonly text: string }; readonly status?: { readonly ready?: boolean } };
export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export const greetings: Resource<Greeting> = {
  group: "example.com",
  version: "v1",
  kind: "Greeting",
  plural: "greetings",
  namespaced: true,
};
export const configMaps: Resource<ConfigMap> = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

const fieldManager = "greeter";

/** "again": something was in the way; the caller asks once more, later. */
export async function reconcile(client: KubeClient, key: ObjectKey): Promise<"done" | "again"> {
  const found = await client.get(greetings, key);
  if (!found.ok) return found.error.kind === "not-found" ? "done" : "again";
  const { apiVersion, kind, metadata, spec } = found.value;
  const { name, namespace = "default", uid = "" } = metadata;
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
  const configMap: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, ownerReferences },
    data: { text: spec.text },
  };
  const applied = await client.apply(configMaps, configMap, { fieldManager, force: true });
  if (!applied.ok) return "again";
  const ready = { apiVersion, kind, metadata: { name, namespace }, status: { ready: true } };
  const marked = await client.apply(greetings, ready, { fieldManager, subresource: "status" });
  return marked.ok ? "done" : "again";
}
