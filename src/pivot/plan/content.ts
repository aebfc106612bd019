/**
 * What counts as the content of an object in a move, the copy that is created from it, and the hash that both sides must agree on. Pure.
 *
 * Not content: what the API server sets, uids of owners, and the pause, which the move itself changes. The status is compared apart: it is
 * an observation, which controllers write even while they are paused (condition Paused).
 */
import { sha256Hex } from "#base";
import { canonicalJson, field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "#kube";
import type { WholeNode } from "../graph/object-graph.ts";
import type { ObjectOutline } from "../graph/outline.ts";
import {
  COPY_ANNOTATION,
  CORE_GROUP,
  DELETE_FOR_MOVE_ANNOTATION,
  MOVE_MANAGER,
  PAUSED_ANNOTATION,
  RESUMED_ANNOTATION,
} from "../graph/names.ts";

export type PausedBy = "spec" | "annotation";

/** How an object is paused; undefined for kinds that are paused by their Cluster. */
export function pausedBy({ apiVersion, kind }: Pick<ObjectOutline, "apiVersion" | "kind">): PausedBy | undefined {
  if (apiVersion.split("/")[0] !== CORE_GROUP) return undefined;
  return kind === "Cluster" ? "spec" : kind === "ClusterClass" ? "annotation" : undefined;
}

export function isPaused(object: ObjectOutline): boolean {
  const by = pausedBy(object);
  if (by === "spec") return fieldAt(object, "spec", "paused") === true;
  return by === "annotation" && Object.hasOwn(object.metadata.annotations ?? {}, PAUSED_ANNOTATION);
}

/** A merge patch. */
export function pausePatch(by: PausedBy, paused: boolean): JsonObject {
  return by === "spec"
    ? { spec: { paused: paused ? true : null } }
    : { metadata: { annotations: { [PAUSED_ANNOTATION]: paused ? "" : null } } };
}

/** The fields that both sides must have: of metadata only what people and controllers write. */
export function contentOf(object: KubeObject, hasStatus: boolean): JsonObject {
  const { apiVersion, kind, metadata, ...body } = object as KubeObject & JsonObject;
  const { status, ...rest } = body;
  const { labels, finalizers, ownerReferences = [] } = metadata;
  const by = pausedBy(object);
  const hidden = [COPY_ANNOTATION, ...NOT_MOVED, ...(by === "annotation" ? [PAUSED_ANNOTATION] : [])];
  const owners = ownerReferences.map(({ uid: _uid, ...owner }) => owner);
  return compact({
    apiVersion,
    kind,
    metadata: compact({
      labels,
      finalizers,
      annotations: without(metadata.annotations, hidden),
      owners,
    }),
    ...rest,
    ...(by === "spec" ? { spec: without(rest["spec"], ["paused"]) } : {}),
    ...(hasStatus ? {} : { status }),
  });
}

/** Annotations that an object loses when it is moved. */
const NOT_MOVED = [DELETE_FOR_MOVE_ANNOTATION, RESUMED_ANNOTATION];

/** Undefined and empty parts are left out: servers drop them. */
function compact(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const isThere = (value: Json | undefined) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isThere(value)));
}

function without(value: unknown, names: readonly string[]): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value).filter(([name]) => !names.includes(name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

export function hashOf(content: Json): string {
  return sha256Hex(canonicalJson(content));
}

/**
 * The part of `value` that `shape` has. A target with newer definitions and webhooks adds defaults to a copy; what the original has must be
 * there all the same.
 */
export function projectOnto(value: Json | undefined, shape: Json | undefined): Json | undefined {
  if (isJsonObject(value) && isJsonObject(shape)) {
    const names = Object.keys(shape).filter((name) => Object.hasOwn(value, name));
    return Object.fromEntries(names.map((name) => [name, projectOnto(value[name], shape[name]) as Json]));
  }
  if (!Array.isArray(value) || !Array.isArray(shape) || value.length !== shape.length) return value;
  return value.map((item, at) => projectOnto(item as Json, shape[at] as Json) as Json);
}

/** Whether the copy has everything that the original has. */
export function hasContent(copy: KubeObject, original: KubeObject, hasStatus: boolean): boolean {
  const wanted = contentOf(original, hasStatus);
  return canonicalJson(projectOnto(contentOf(copy, hasStatus), wanted)) === canonicalJson(wanted);
}

/** Whether the copy has the status of the original, apart from the condition Paused and generations. */
export function hasStatusOf(copy: KubeObject, original: KubeObject): boolean {
  const wanted = comparable(field(original, "status"));
  return canonicalJson(projectOnto(comparable(field(copy, "status")), wanted) ?? null) === canonicalJson(wanted ?? null);
}

function comparable(status: Json | undefined): Json | undefined {
  if (!isJsonObject(status)) return undefined;
  const rest = without(status, ["observedGeneration", "conditions"]) ?? {};
  const conditions = field(status, "conditions");
  const shown = (Array.isArray(conditions) ? conditions : [])
    .filter((one) => field(one, "type") !== "Paused")
    .map((one) => without(one, ["observedGeneration"]) as Json);
  return { ...rest, ...(shown.length === 0 ? {} : { conditions: shown }) };
}

/** The object to create: paused, owned by the copies of its owners, and marked as incomplete. `uids`: those of copies, by original. */
export function copyOf({ object, kind: { hasStatus }, kept }: WholeNode, uids: ReadonlyMap<string, string>): KubeObject {
  const { metadata, ...body } = object as KubeObject & JsonObject;
  const { status, ...rest } = body;
  // what stays at the source has two owners in any case, and is not paused there either
  const by = kept === undefined ? pausedBy(object) : undefined;
  const annotations = {
    ...(without(metadata.annotations, NOT_MOVED) as Record<string, string> | undefined),
    ...(by === "annotation" ? { [PAUSED_ANNOTATION]: "" } : {}),
    [COPY_ANNOTATION]: metadata.uid ?? "",
  };
  const ownerReferences = (metadata.ownerReferences ?? []).map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? owner.uid }));
  const { name, namespace, labels, finalizers } = metadata;
  const copied: ObjectMeta = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(finalizers === undefined ? {} : { finalizers }),
    annotations,
    ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
  };
  const spec = by === "spec" ? { spec: { ...(isJsonObject(rest["spec"]) ? rest["spec"] : {}), paused: true } } : {};
  return { ...rest, ...spec, ...(hasStatus || status === undefined ? {} : { status }), metadata: copied };
}

/** The status for a copy: generations count from anew on every server, so what was observed is translated. */
export function statusFor(original: KubeObject, generation: number): Json | undefined {
  const status = field(original, "status");
  if (!isJsonObject(status) || Object.keys(status).length === 0) return undefined;
  // the pause was a change of the spec, too, which paused controllers do not observe
  const own = (original.metadata.generation ?? 0) - (pausedBy(original) === "spec" ? 1 : 0);
  const translated = (value: JsonObject): JsonObject => {
    const observed = field(value, "observedGeneration");
    if (typeof observed !== "number") return value;
    return { ...value, observedGeneration: observed >= own ? generation : Math.max(0, generation - 1) };
  };
  const conditions = field(status, "conditions");
  const shown = Array.isArray(conditions)
    ? { conditions: conditions.map((one) => (isJsonObject(one) ? translated(one) : one) as Json) }
    : {};
  return { ...translated(status), ...shown };
}

/** The last write of a copy: field managers of the original, no mark. */
export function completionPatch(original: KubeObject): JsonObject {
  const entries = (original.metadata.managedFields ?? []).filter((entry) => field(entry, "manager") !== MOVE_MANAGER);
  return { metadata: { managedFields: entries as Json[], annotations: { [COPY_ANNOTATION]: null } } };
}
