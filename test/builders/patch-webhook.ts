/**
 * The admission webhook of patch mode as an interceptor: every write of a Deployment gets the patch of its ConfigMap, as in a cluster. A dry run is
 * not changed.
 */
import { expectOk, timestamp } from "#base";
import type { ActionAnswer, EmbeddedCluster, Interception } from "#embedded-cluster";
import { resources } from "#embedded-cluster";
import { fieldAt, type Json, type KubeObject } from "#kube";
import { applyWorkloadPatch, parseWorkloadPatch, type WorkloadPatch } from "#workload-patch";
import type { FakeClock } from "#base";

const HOME = "lattice-system";
const WEBHOOK_USER = { name: "webhook", groups: ["system:masters"] };

/** `isUp`: false, and writes are not changed. */
export function patchWebhook(cluster: EmbeddedCluster<FakeClock>, isUp: () => boolean = () => true): Interception {
  const client = cluster.clientFor(WEBHOOK_USER);
  const patchOf = async (namespace: string, name: string): Promise<WorkloadPatch | undefined> => {
    const { items } = expectOk(
      await client.list(resources.configmaps, { namespace: HOME, labelSelector: "lattice.dev/workload-patch=true" }),
    );
    const texts = items.map((one) => fieldAt(one, "data", "patch.json"));
    const patches = texts.filter((text) => typeof text === "string").map((text) => expectOk(parseWorkloadPatch(text)));
    return patches.find(({ target }) => target.namespace === namespace && target.name === name);
  };
  return cluster.intercept({ verb: ["create", "update", "patch", "apply"], resource: "deployments" }, async (action, next) => {
    const isOwn = action.user.name === WEBHOOK_USER.name || action.subresource !== undefined || action.dryRun;
    const { namespace = "", name = "" } = action;
    const before = isOwn ? undefined : await client.get(resources.deployments, { namespace, name });
    const answer = await next();
    if (isOwn || !isUp() || answer.kind !== "json" || answer.code >= 300) return answer;
    const patch = await patchOf(namespace, name);
    if (patch === undefined) return answer;
    const stored = answer.body as unknown as KubeObject;
    const previous = before?.ok === true ? { previous: { ...before.value, apiVersion: "apps/v1", kind: "Deployment" } } : {};
    const applied = applyWorkloadPatch(stored, patch, { at: timestamp(cluster.clock), manager: action.fieldManager, ...previous });
    if (!applied.ok || !applied.value.changed) return answer;
    const written = await client.update<KubeObject>(resources.deployments, applied.value.deployment);
    return written.ok ? ({ ...answer, body: written.value as unknown as Json } satisfies ActionAnswer) : answer;
  });
}
