/**
 * The Service of a deleted service in patch mode, when a Canary uses it: Flagger has pointed it at its copy, which serves the traffic. It is given to the
 * Canary, as if Flagger had created it. Deleted, it would be missing until Flagger looks again, and get another address then.
 */
import { ok, type Result } from "#base";
import { APPLIED_ANNOTATION, FIELD_MANAGER, isOwnedBy, OWNER_ANNOTATION, OWNER_LABEL, ownerKeyOf, type Runtime } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { canaries, isBeingDeleted, services } from "#kube";
import type { KubeError } from "#kube-client";
import { CONTROLLER_NAME } from "../owned-kinds.ts";
import { canariesOfService } from "./patch-service.ts";

/** `namespace`: in which the service runs. */
export async function handOverService(
  service: LatticeService,
  namespace: string,
  { client, cache, signal }: Pick<Runtime, "client" | "cache" | "signal">,
): Promise<Result<void, KubeError>> {
  const key = { namespace, name: service.metadata.name };
  const found = cache.get(services, key);
  if (service.spec.workloadRef === undefined || found === undefined) return ok(undefined);
  if (!isOwnedBy(found, { controller: CONTROLLER_NAME, object: service })) return ok(undefined);
  const canary = canariesOfService(key, cache).find((one) => !isBeingDeleted(one) && ownerKeyOf(one, CONTROLLER_NAME) === undefined);
  if (canary === undefined) return ok(undefined);
  const { name, uid } = canary.metadata;
  const apiVersion = `${canaries.group}/${canaries.version}`;
  const metadata = {
    resourceVersion: found.metadata.resourceVersion,
    labels: { [OWNER_LABEL]: null },
    annotations: { [OWNER_ANNOTATION]: null, [APPLIED_ANNOTATION]: null },
    ownerReferences: [{ apiVersion, kind: canaries.kind, name, uid, controller: true }],
  };
  const written = await client.patch(services, key, { type: "merge", patch: { metadata } }, { fieldManager: FIELD_MANAGER, signal });
  return written.ok || written.error.kind === "not-found" ? ok(undefined) : written;
}
