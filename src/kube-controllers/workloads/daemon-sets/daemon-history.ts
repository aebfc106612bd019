/** The ControllerRevisions of a DaemonSet: the current one and the old ones. */
import { ok, type Result } from "#base";
import {
  controllerRevisions,
  daemonSets,
  jsonEqual,
  keyOf,
  pods as podResource,
  type ControllerRevision,
  type DaemonSet,
  type Pod,
} from "#kube";
import { failure, type KubeClient, type KubeError } from "#kube-client";
import { templateHash } from "../revisions/hashes.ts";
import { byRevision, newRevision, renumber, revisionData } from "../revisions/history.ts";
import { HASH_LABEL } from "./daemon-pods.ts";

export type DaemonHistory = { readonly current: ControllerRevision; readonly old: readonly ControllerRevision[]; readonly hash: string };

export async function syncHistory(
  client: KubeClient,
  set: DaemonSet,
  { known, pods }: { known: readonly ControllerRevision[]; pods: readonly Pod[] },
): Promise<Result<DaemonHistory, KubeError>> {
  const data = revisionData(set.spec.template);
  const same = known.filter((revision) => jsonEqual(revision.data, data)).toSorted(byRevision);
  const old = known.filter((revision) => !same.includes(revision));
  const number = Math.max(0, ...old.map(({ revision }) => revision)) + 1;
  const kept = same.at(-1);
  const current =
    kept === undefined ? await snapshot(client, set, number) : await keepOne(client, { kept, others: same.slice(0, -1), pods, number });
  return current.ok ? ok({ current: current.value, old, hash: hashOf(current.value) }) : current;
}

function hashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.[HASH_LABEL] ?? metadata.name;
}

async function snapshot(client: KubeClient, set: DaemonSet, revision: number): Promise<Result<ControllerRevision, KubeError>> {
  const { template } = set.spec;
  const hash = templateHash(template, set.status?.collisionCount);
  const wanted = newRevision({ owner: set, resource: daemonSets, template, revision, hash, label: HASH_LABEL });
  const created = await client.create(controllerRevisions, wanted);
  if (created.ok || created.error.kind !== "already-exists") return created;
  const there = await client.get(controllerRevisions, keyOf(wanted));
  if (!there.ok || jsonEqual(there.value.data, wanted.data)) return there;
  const status = { ...(set.status ?? NO_STATUS), collisionCount: (set.status?.collisionCount ?? 0) + 1 };
  const counted = await client.update(daemonSets, { ...set, status }, { subresource: "status" });
  return counted.ok ? failure("conflict", `another revision is called ${wanted.metadata.name}`) : counted;
}

const NO_STATUS = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };

/** Merges two revisions with the same template; Pods of the other are relabelled before it is deleted. */
async function keepOne(
  client: KubeClient,
  { kept, others, pods, number }: { kept: ControllerRevision; others: readonly ControllerRevision[]; pods: readonly Pod[]; number: number },
): Promise<Result<ControllerRevision, KubeError>> {
  for (const pod of others.length === 0 ? [] : pods.filter(({ metadata }) => metadata.labels?.[HASH_LABEL] !== hashOf(kept))) {
    const patch = { metadata: { labels: { [HASH_LABEL]: hashOf(kept) } } };
    const patched = await client.patch(podResource, keyOf(pod), { type: "merge", patch });
    if (!patched.ok) return patched;
  }
  for (const other of others) {
    const deleted = await client.delete(controllerRevisions, keyOf(other));
    if (!deleted.ok) return deleted;
  }
  return kept.revision < number ? renumber(client, kept, number) : ok(kept);
}

/** Removes the oldest revisions beyond the limit that no Pod uses. */
export async function truncateHistory(
  client: KubeClient,
  set: DaemonSet,
  old: readonly ControllerRevision[],
  pods: readonly Pod[],
): Promise<Result<void, KubeError>> {
  const excess = old.length - (set.spec.revisionHistoryLimit ?? 10);
  if (excess <= 0) return ok(undefined);
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[HASH_LABEL] ?? ""));
  for (const revision of old
    .toSorted(byRevision)
    .filter((one) => !live.has(hashOf(one)))
    .slice(0, excess)) {
    const deleted = await client.delete(controllerRevisions, keyOf(revision));
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}
