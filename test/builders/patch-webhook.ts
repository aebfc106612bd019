/**
 * The admission webhook of patch mode as an interceptor: every write of a Deployment gets the answer of the real review with the patch of its ConfigMap, as
 * in a cluster; a dry run only when it is a patch of one of the kinds that the controller sends. A write that is refused with the patch has no effect,
 * and its client gets the error.
 */
import { expectOk, type FakeClock } from "#base";
import type { Action, ActionAnswer, EmbeddedCluster, Interception } from "#embedded-cluster";
import { resources } from "#embedded-cluster";
import { reviewDeployments } from "#http";
import { fieldAt, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { applyJsonPatch, applyMergePatch } from "#patch";
import { jsonPatchBetween, parseWorkloadPatch, type WorkloadPatch } from "#workload-patch";

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
    const isOwn = action.user.name === WEBHOOK_USER.name || action.subresource !== undefined;
    if (isOwn || !isUp()) return next();
    const { namespace = "", name = "", dryRun, fieldManager = "" } = action;
    const key = { namespace, name };
    const found = await client.get<KubeObject>(resources.deployments, key);
    const old = found.ok ? whole(found.value) : undefined;
    const patch = await patchOf(namespace, name);
    const reviewed = (object: KubeObject): KubeObject => {
      const request = { ...key, object, dryRun, fieldManager, ...(old === undefined ? {} : { old }) };
      const operation = old === undefined ? "CREATE" : "UPDATE";
      const answer = reviewDeployments({ find: () => patch, clock: cluster.clock })({ operation, ...request });
      return expectOk(applyJsonPatch(object as unknown as Json, [...(answer?.patch ?? [])])) as unknown as KubeObject;
    };
    const asked = old === undefined ? undefined : afterPatch(old, action);
    if (asked !== undefined && old !== undefined) {
      // as in an API server, nothing is stored or validated before the webhook has answered
      const operations = jsonPatchBetween(old, reviewed(asked)) as readonly JsonObject[];
      const tried = await client.patch(resources.deployments, key, { type: "json", operations }, { dryRun: true });
      if (!tried.ok) return failure(tried.error);
      if (dryRun) return { kind: "json", code: 200, body: tried.value as unknown as Json, warnings: [] };
    }
    const answer = await next();
    if (dryRun || answer.kind !== "json" || answer.code >= 300) return answer;
    const object = whole(answer.body as unknown as KubeObject);
    const patched = reviewed(object);
    if (jsonEqual(patched, object)) return answer;
    const written = await client.update<KubeObject>(resources.deployments, patched);
    if (written.ok) return { ...answer, body: written.value as unknown as Json } satisfies ActionAnswer;
    if (written.error.kind === "conflict") return answer;
    if (old === undefined) expectOk(await client.delete(resources.deployments, key));
    else {
      const { resourceVersion: _, ...metadata } = old.metadata;
      expectOk(await client.update<KubeObject>(resources.deployments, { ...old, metadata }));
    }
    return failure(written.error);
  });
}

/** The Deployment after a JSON patch or a merge patch; undefined: another write, or one that fails. */
function afterPatch(old: KubeObject, { patchType, body = null }: Action): KubeObject | undefined {
  const before = old as unknown as Json;
  if (patchType !== "json" && patchType !== "merge") return undefined;
  const after = patchType === "json" ? applyJsonPatch(before, body) : applyMergePatch(before, body);
  return after.ok ? (after.value as KubeObject) : undefined;
}

function whole(deployment: KubeObject): KubeObject {
  return { ...deployment, apiVersion: "apps/v1", kind: "Deployment" };
}

function failure(error: KubeError): ActionAnswer {
  const { status = { kind: "Status", status: "Failure", code: 500, message: error.message } } = error;
  return { kind: "json", code: status.code ?? 500, body: status as unknown as Json, warnings: [] };
}
