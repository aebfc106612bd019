/** `kubectl apply` in its two forms, without kubectl: server-side apply, and the three-way patch from the last applied configuration. */
import { expectOk, type Result } from "#base";
import { keyOf, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { builtinSchema, createThreeWayMergePatch, createThreeWayStrategicPatch } from "#patch";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

export type Apply = (client: KubeClient, resource: Resource, object: KubeObject) => Promise<Result<KubeObject, KubeError>>;

/** `kubectl apply --server-side`: a conflict is an error. */
export const applyServerSide: Apply = (client, resource, object) => client.apply<KubeObject>(resource, object, { fieldManager: "kubectl" });

/** `kubectl apply`. */
export const applyClientSide: Apply = async (client, resource, object) => {
  const annotations = { ...object.metadata.annotations, [LAST_APPLIED]: JSON.stringify(object) };
  const modified = { ...object, metadata: { ...object.metadata, annotations } };
  const current = await client.get<KubeObject>(resource, keyOf(object));
  const manager = { fieldManager: "kubectl-client-side-apply" };
  if (!current.ok) return client.create<KubeObject>(resource, modified, manager);
  const before = current.value.metadata.annotations?.[LAST_APPLIED];
  const original = before === undefined ? {} : (JSON.parse(before) as JsonObject);
  const ways = { original, modified: modified as unknown as JsonObject, current: current.value as unknown as JsonObject };
  const schema = builtinSchema({ group: resource.group, version: resource.version, kind: resource.kind });
  const patch = expectOk(
    schema === undefined ? createThreeWayMergePatch(ways) : createThreeWayStrategicPatch(ways, schema, { overwrite: true }),
  );
  return client.patch<KubeObject>(resource, keyOf(object), { type: schema === undefined ? "merge" : "strategic", patch }, manager);
};
