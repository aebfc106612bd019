/**
 * What the API server itself does with CustomResourceDefinitions: it accepts their names at once, serves their resources while they are
 * there, and sweeps the objects of one that goes.
 *
 * It follows the store, not the requests: a definition that was read from disk, patched, or deleted by its last finalizer is treated alike.
 * Writes made here carry the manager `kube-apiserver`, as the controllers inside a real server do.
 */
import { timestamp } from "#base";
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { trackUpdate } from "../apply/index.ts";
import type { ResourceType } from "../resource-type.ts";
import type { Stored } from "../store/port.ts";
import type { Core } from "./core.ts";
import { asJsonObject, asObject, managedKind } from "./managed-kinds.ts";
import { finalizersOf, metaText, withMetadata } from "./object-meta.ts";

/** What a custom kind says of itself beyond what all kinds do. */
export type CustomType = ResourceType & {
  /** `subresources.scale` of its version: where the replicas are. */
  readonly scale?: JsonObject | undefined;
  /** The schema it publishes. */
  readonly openApi?: JsonObject | undefined;
  /** Said to whoever uses a version that is on its way out. */
  readonly deprecationWarning?: string | undefined;
};

/** Turns a definition into the types of its served versions; what custom resources are is not known here. */
export type CustomTypesOf = (definition: KubeObject) => readonly CustomType[];

export const DEFINITIONS = { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" } as const;
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

export function followDefinitions(core: Core, typesOf: CustomTypesOf): { readonly end: () => void } {
  const type = core.types.find(DEFINITIONS.group, DEFINITIONS.version, DEFINITIONS.plural);
  if (type === undefined) return { end: () => {} };
  const listed = core.store.list(type.collection);
  const follow = (stored: Stored) => treat(core, { type, stored, typesOf });
  for (const stored of listed.ok ? listed.value.items : []) follow(stored);
  const watching = core.store.watch({
    collection: type.collection,
    from: core.store.revision,
    onEvent: ({ type: change, key, object, revision }) => {
      if (change === "DELETED") forget(core, object);
      else follow({ key, object, revision });
    },
  });
  return watching.ok ? watching.value : { end: () => {} };
}

type Followed = { readonly type: ResourceType; readonly stored: Stored; readonly typesOf: CustomTypesOf };

function treat(core: Core, followed: Followed): void {
  const { object } = followed.stored;
  if (metaText(object, "deletionTimestamp") !== "" && finalizersOf(object).includes(CLEANUP_FINALIZER)) return sweep(core, followed);
  if (!isEstablished(object)) return establish(core, followed);
  const { group, plural } = namesOf(object);
  core.types.setCustom(group, plural, followed.typesOf(object));
}

function namesOf(definition: KubeObject): { readonly group: string; readonly plural: string } {
  const group = fieldAt(definition, "spec", "group");
  const plural = fieldAt(definition, "spec", "names", "plural");
  return { group: typeof group === "string" ? group : "", plural: typeof plural === "string" ? plural : "" };
}

function forget(core: Core, definition: KubeObject): void {
  const { group, plural } = namesOf(definition);
  core.types.setCustom(group, plural, []);
}

/** Established, and for the names it has now. */
function isEstablished(definition: KubeObject): boolean {
  const conditions = fieldAt(definition, "status", "conditions");
  const established = Array.isArray(conditions) && conditions.some((one) => field(one, "type") === "Established" && field(one, "status") === "True");
  return established && jsonEqual(fieldAt(definition, "status", "acceptedNames"), fieldAt(definition, "spec", "names"));
}

const CONDITIONS = [
  { type: "NamesAccepted", reason: "NoConflicts", message: "no conflicts found" },
  { type: "Established", reason: "InitialNamesAccepted", message: "the initial names have been accepted" },
] as const;

function establish(core: Core, { type, stored }: Followed): void {
  const before = asJsonObject(stored.object);
  const known = fieldAt(before, "status", "conditions");
  const kept = Array.isArray(known) ? known : [];
  const now = timestamp(core.clock);
  const added = CONDITIONS.filter((condition) => !kept.some((one) => field(one, "type") === condition.type)).map(({ type: name, reason, message }) => ({
    type: name,
    status: "True",
    lastTransitionTime: now,
    reason,
    message,
  }));
  const status = field(before, "status");
  const next: JsonObject = {
    ...before,
    status: { ...(isJsonObject(status) ? status : {}), conditions: [...kept, ...added], acceptedNames: fieldAt(before, "spec", "names") ?? {} },
  };
  const tracked = trackUpdate({ ...managedKind(core.types, type, "status"), manager: "kube-apiserver", now, old: before, next });
  replace(core, type, stored, asObject(tracked.ok ? tracked.value : next));
}

/** Its objects go without ceremony: whoever deletes a definition deletes what it defines. */
function sweep(core: Core, { type, stored }: Followed): void {
  const { group, plural } = namesOf(stored.object);
  const collection = `${group}/${plural}`;
  const listed = core.store.list(collection);
  for (const { key, revision } of listed.ok ? listed.value.items : []) core.store.write({ collection, key, expected: revision, object: undefined });
  const left = finalizersOf(stored.object).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
  if (left.length === 0) core.store.write({ collection: type.collection, key: stored.key, expected: stored.revision, object: undefined });
  else replace(core, type, stored, withMetadata(stored.object, { finalizers: left as Json }));
}

function replace(core: Core, type: ResourceType, stored: Stored, next: KubeObject): void {
  const object = (revision: number) => withMetadata(next, { resourceVersion: String(revision) });
  core.store.write({ collection: type.collection, key: stored.key, expected: stored.revision, object });
}
