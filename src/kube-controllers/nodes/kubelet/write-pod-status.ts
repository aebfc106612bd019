/** Writes the status of a Pod as a kubelet does: only what differs from the server's copy, and only to the Pod with this uid. */
import { jsonEqual, pods as podResource, type Json, type Pod, type PodCondition, type PodStatus } from "#kube";
import type { KubeClient } from "#kube-client";
import { done, passOf, type Pass } from "../../work.ts";

export type PodStatusChange = {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** The status on the server, as far as known. */
  readonly written: PodStatus;
};

/** `object`: the Pod as written; absent when nothing was. */
export async function writePodStatus(
  client: KubeClient,
  { pod, status, written }: PodStatusChange,
): Promise<{ readonly pass: Pass; readonly object?: Pod }> {
  if (isSame(status, written)) return { pass: done };
  const { namespace, name, uid = "" } = pod.metadata;
  const patch = { metadata: { uid }, status: patchOf(status, written) };
  const patched = await client.patch(podResource, { namespace, name }, { type: "strategic", patch }, { subresource: "status" });
  if (patched.ok) return { pass: done, object: patched.value };
  // deleted, or another Pod of this name
  const isGone = patched.error.kind === "not-found" || patched.error.kind === "conflict";
  return { pass: isGone ? done : passOf(patched) };
}

/** Timestamps of conditions do not count: they change only with the condition. */
function isSame(status: PodStatus, written: PodStatus): boolean {
  const { conditions = [], ...rest } = status;
  const before = written.conditions ?? [];
  const known = Object.fromEntries(Object.keys(rest).map((name) => [name, written[name as keyof PodStatus]]));
  return jsonEqual(rest, known) && conditions.every((condition) => sameCondition(condition, before));
}

function sameCondition({ type, status, reason, message }: PodCondition, before: readonly PodCondition[]): boolean {
  const known = before.find((condition) => condition.type === type);
  return known?.status === status && known.reason === reason && known.message === message;
}

/** A strategic merge keeps omitted fields: a reason that no longer holds must be removed explicitly. */
function patchOf(status: PodStatus, written: PodStatus): Json {
  const conditions = (status.conditions ?? []).map((condition) => {
    const known = written.conditions?.find(({ type }) => type === condition.type);
    const gone = (["reason", "message"] as const).filter((name) => known?.[name] !== undefined && condition[name] === undefined);
    return { ...condition, ...Object.fromEntries(gone.map((name) => [name, null])) };
  });
  return { ...status, conditions };
}
