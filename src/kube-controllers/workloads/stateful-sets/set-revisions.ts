/** The current and the update revision of a StatefulSet; creates a revision when the template is new. */
import { ok, type Result } from "#base";
import type { KubeClient, KubeError } from "#kube-client";
import { revisionHash } from "../revisions/hashes.ts";
import { byRevision, createRevision, newRevision, renumber, revisionData, sameData } from "../revisions/history.ts";
import { controllerRevisions, keyOf, statefulSets, type ControllerRevision, type Pod, type StatefulSet } from "#kube";
import { podRevision } from "./identity.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";

export type SetRevisions = { readonly current: ControllerRevision; readonly update: ControllerRevision; readonly collisions: number };

export async function syncRevisions(
  client: KubeClient,
  set: StatefulSet,
  known: readonly ControllerRevision[],
): Promise<Result<SetRevisions, KubeError>> {
  const sorted = known.toSorted(byRevision);
  const newest = sorted.at(-1);
  const number = (newest?.revision ?? 0) + 1;
  const draft = (collisions: number) => {
    const { template } = set.spec;
    const hash = revisionHash(revisionData(template), collisions);
    return newRevision({ owner: set, resource: statefulSets, template, revision: number, hash, label: HASH_LABEL });
  };
  const collisions = set.status?.collisionCount ?? 0;
  const wanted = draft(collisions);
  const equal = sorted.findLast((revision) => sameData(revision, wanted));
  const update = await ensure(client, { newest, equal, number, draft, collisions });
  if (!update.ok) return update;
  const current = sorted.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update.value.revision;
  return ok({ current, update: update.value.revision, collisions: update.value.collisions });
}

type Wanted = {
  readonly newest: ControllerRevision | undefined;
  readonly equal: ControllerRevision | undefined;
  readonly number: number;
  readonly draft: (collisions: number) => ControllerRevision;
  readonly collisions: number;
};

async function ensure(client: KubeClient, { newest, equal, number, draft, collisions }: Wanted): ReturnType<typeof createRevision> {
  if (equal === undefined) return createRevision(client, draft, collisions);
  // an earlier template: its revision becomes the newest again
  const revision = equal === newest ? ok(equal) : await renumber(client, equal, number);
  return revision.ok ? ok({ revision: revision.value, collisions }) : revision;
}

/** Removes the oldest revisions that no Pod uses and that are not the update revision. */
export async function truncateHistory(
  client: KubeClient,
  set: StatefulSet,
  { known, revisions, pods }: { known: readonly ControllerRevision[]; revisions: SetRevisions; pods: readonly Pod[] },
): Promise<Result<void, KubeError>> {
  const live = new Set([revisions.current.metadata.name, revisions.update.metadata.name, ...pods.map(podRevision)]);
  const history = known.toSorted(byRevision).filter(({ metadata }) => !live.has(metadata.name));
  const limit = set.spec.revisionHistoryLimit ?? 10;
  for (const revision of history.slice(0, Math.max(0, history.length - limit))) {
    const deleted = await client.delete(controllerRevisions, keyOf(revision));
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}
