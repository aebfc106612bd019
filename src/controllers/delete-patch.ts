/** Deletes the ConfigMap with the patch of a Deployment. */
import { failed, settled, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import { configMaps, type KubeObject } from "#kube";

/** One that was stored again meanwhile is not deleted. */
export async function deletePatch(
  { metadata }: KubeObject,
  { client, signal }: Pick<Runtime, "client" | "signal">,
): Promise<ReconcileOutcome> {
  const { uid } = metadata;
  const deleted = await client.delete(configMaps, metadata, { signal, ...(uid === undefined ? {} : { preconditions: { uid } }) });
  return deleted.ok || deleted.error.kind === "not-found" ? settled : failed(deleted.error);
}
