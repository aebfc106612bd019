/**
 * Restores a Deployment without the webhook. The write makes Lattice the manager of the restored fields, and the next server-side apply of their owner
 * would have a conflict; so a second write gives managedFields back as they were.
 */
import { ok } from "#base";
import { FIELD_MANAGER, type Runtime } from "#controller-runtime";
import { deployments, field, type Deployment, type Json, type ObjectKey } from "#kube";
import type { ClientResult } from "#kube-client";
import { jsonPatchBetween, revertWorkloadPatch } from "#workload-patch";

export async function revertDirectly(key: ObjectKey, { client, signal }: Pick<Runtime, "client" | "signal">): ClientResult<Deployment> {
  const found = await client.get(deployments, key, { signal });
  if (!found.ok) return found;
  const before: Deployment = { ...found.value, apiVersion: "apps/v1", kind: "Deployment" };
  const { deployment } = revertWorkloadPatch(before);
  const operations = [isVersion(before), ...(jsonPatchBetween(before, deployment) as readonly Json[])];
  const written = await client.patch<Deployment>(deployments, key, { type: "json", operations }, { fieldManager: FIELD_MANAGER, signal });
  if (!written.ok) return written;
  const after = written.value;
  const managedFields = [...managersOf(before, isOfSpec), ...managersOf(after, isOfStatus)];
  const patch = { metadata: { resourceVersion: after.metadata.resourceVersion ?? "", managedFields } };
  const returned = await client.patch<Deployment>(deployments, key, { type: "merge", patch }, { fieldManager: FIELD_MANAGER, signal });
  // the fields are restored in any case; without this write their owner may have to force a conflict once
  return returned.ok ? returned : ok(after);
}

function isVersion({ metadata: { resourceVersion = "" } }: Deployment): Json {
  return { op: "test", path: "/metadata/resourceVersion", value: resourceVersion };
}

function managersOf({ metadata: { managedFields = [] } }: Deployment, selects: (entry: Json) => boolean): readonly Json[] {
  return (managedFields as readonly Json[]).filter((entry) => selects(entry) && field(entry, "manager") !== FIELD_MANAGER);
}

function isOfSpec(entry: Json): boolean {
  return field(entry, "subresource") !== "status";
}

/** The controller manager may have written the status in between. */
function isOfStatus(entry: Json): boolean {
  return field(entry, "subresource") === "status";
}
