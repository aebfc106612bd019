/**
 * ControllerRevisions: the earlier templates of a StatefulSet or DaemonSet. `kubectl rollout history` and `undo` read them.
 *
 * The data is a strategic merge patch that replaces the template, because `kubectl rollout undo` sends it.
 */
import { ok, type Result } from "#base";
import {
  controllerRevisions,
  fieldAt,
  isJsonObject,
  jsonEqual,
  keyOf,
  type ControllerRevision,
  type Json,
  type KubeObject,
  type PodTemplate,
  type Resource,
} from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { controllerReference } from "../pods/owners.ts";
import { timeOf } from "../pods/pod-state.ts";

/** With sorted keys: clients compare the bytes, as Go's own controllers write them. */
export function revisionData(template: PodTemplate): Json {
  return sortedKeys({ spec: { template: { ...template, $patch: "replace" } } });
}

function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, field === undefined ? undefined : sortedKeys(field)]));
}

/** The template of a revision; undefined when it contains something else. */
export function templateIn({ data }: ControllerRevision): PodTemplate | undefined {
  const template = fieldAt(data, "spec", "template");
  if (!isJsonObject(template)) return undefined;
  const { $patch: _directive, ...rest } = template;
  return rest as unknown as PodTemplate;
}

export type RevisionDraft = {
  readonly owner: KubeObject;
  readonly resource: Resource;
  readonly template: PodTemplate;
  readonly revision: number;
  /** Part of the name and of the label. */
  readonly hash: string;
  readonly label: string;
};

export function newRevision({ owner, resource, template, revision, hash, label }: RevisionDraft): ControllerRevision {
  const { name, namespace = "", annotations } = owner.metadata;
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${name.slice(0, 223)}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [label]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(owner, resource)],
    },
    data: revisionData(template),
    revision,
  };
}

export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  const order = a.revision - b.revision || timeOf(a.metadata.creationTimestamp) - timeOf(b.metadata.creationTimestamp);
  return order || (a.metadata.name < b.metadata.name ? -1 : 1);
}

export function sameData(a: ControllerRevision, b: ControllerRevision): boolean {
  return jsonEqual(a.data, b.data);
}

/** Creates it; on a name collision, `collision` creates it again with a higher count. */
export async function createRevision(
  client: KubeClient,
  draft: (collisions: number) => ControllerRevision,
  collisions: number,
): Promise<Result<{ readonly revision: ControllerRevision; readonly collisions: number }, KubeError>> {
  for (let count = collisions; ; count += 1) {
    const wanted = draft(count);
    const created = await client.create(controllerRevisions, wanted);
    if (created.ok) return ok({ revision: created.value, collisions: count });
    if (created.error.kind !== "already-exists") return created;
    const there = await client.get(controllerRevisions, keyOf(wanted));
    if (!there.ok) return there;
    if (sameData(there.value, wanted)) return ok({ revision: there.value, collisions: count });
  }
}

/** A template that is used again becomes the newest revision. */
export async function renumber(
  client: KubeClient,
  revision: ControllerRevision,
  number: number,
): Promise<Result<ControllerRevision, KubeError>> {
  return revision.revision === number ? ok(revision) : client.update(controllerRevisions, { ...revision, revision: number });
}
