/**
 * The annotations with the history of a Deployment: each ReplicaSet has its revision, its earlier ones, and the size of the
 * Deployment when it was last scaled. All functions return their argument when nothing changes.
 */
import type { Deployment, ReplicaSet } from "#kube";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { maxSurge } from "./limits.ts";

export const REVISION = "deployment.kubernetes.io/revision";
const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";
export const ROLLBACK_TO = "deprecated.deployment.rollback.to";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_HISTORY_CHARS = 2_000;

/** About one object only: never copied between a Deployment and its ReplicaSets. */
const OWN = new Set([LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, ROLLBACK_TO]);

type Annotations = Readonly<Record<string, string>>;

export function annotationOf(object: { readonly metadata: { readonly annotations?: Annotations } }, name: string): string | undefined {
  const { annotations } = object.metadata;
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}

/** 0 without one; undefined when it is not a number. */
export function revisionOf(set: ReplicaSet): bigint | undefined {
  return parseRevision(annotationOf(set, REVISION) ?? "0");
}

const MAX_INT64 = 2n ** 63n - 1n;

/** Revisions have 64 bits: a Deployment continues from the revision of an adopted ReplicaSet. */
export function parseRevision(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[0-9]{1,19}$/.test(text)) return undefined;
  const revision = BigInt(text);
  return revision <= MAX_INT64 ? revision : undefined;
}

export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.map((set) => revisionOf(set) ?? 0n).reduce((max, revision) => (revision > max ? revision : max), 0n);
}

/** The one before the newest; 0 if there is none. */
export function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.flatMap((set) => revisionOf(set) ?? []).toSorted((a, b) => compareRevisions(b, a));
  return revisions[1] ?? 0n;
}

export function compareRevisions(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

export function sizeAnnotations(deployment: Deployment): Annotations {
  const desired = replicasOf(deployment);
  return { [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(desired + maxSurge(deployment)) };
}

/** The annotations of the newest ReplicaSet. `current` is undefined for one that is not created yet. */
export function newSetAnnotations(deployment: Deployment, current: Annotations | undefined, revision: bigint): Annotations {
  const copied = { ...current, ...copyable(deployment.metadata.annotations) };
  const known = current !== undefined && Object.hasOwn(current, REVISION) ? current[REVISION] : undefined;
  const knownRevision = known === undefined || known === "" ? 0n : parseRevision(known);
  if (knownRevision === undefined) return copied;
  const moved = knownRevision < revision ? { [REVISION]: String(revision), ...history(current, known) } : {};
  return { ...copied, ...moved, ...(current === undefined ? sizeAnnotations(deployment) : {}) };
}

/** Old revisions are kept as a list; the oldest are dropped when it is too long. */
function history(current: Annotations | undefined, known: string | undefined): Annotations {
  if (known === undefined) return {};
  const before = current !== undefined && Object.hasOwn(current, REVISION_HISTORY) ? (current[REVISION_HISTORY] ?? "") : "";
  const all = before === "" ? [known] : [...before.split(","), known];
  while (all.length > 1 && all.join(",").length > MAX_HISTORY_CHARS) all.shift();
  return { [REVISION_HISTORY]: all.join(",") };
}

function copyable(annotations: Annotations | undefined): Annotations {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([name]) => !OWN.has(name)));
}

/** For a rollback: annotations about the Deployment itself stay, the others become those of the ReplicaSet. */
export function rolledBackAnnotations(deployment: Deployment, set: ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => OWN.has(name) && name !== ROLLBACK_TO);
  return { ...Object.fromEntries(own), ...copyable(set.metadata.annotations) };
}
