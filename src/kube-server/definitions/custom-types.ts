/**
 * The API server's handling of CustomResourceDefinitions: it accepts their names at once, serves their resources while they exist, and deletes
 * the objects of a deleted definition.
 *
 * It watches the store and not the requests: a definition that was read from disk, patched, or released by its last finalizer gets the same
 * treatment. Writes made here carry the field manager `kube-apiserver`, as those of the controllers inside a real server do.
 */
import { timestamp } from "#base";
import { fieldAt, jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { trackUpdate } from "../apply/index.ts";
import {
  customResourceTypes,
  establish,
  isEstablished,
  readDefinition,
  type Definition,
  type PublishedKind,
  type WebhookOf,
} from "../custom-resources/index.ts";
import type { ResourceType } from "../resource-type.ts";
import type { Core } from "../protocol/core.ts";
import { asJsonObject, asObject, managedKind } from "../protocol/managed-kinds.ts";
import { withMetadata } from "../protocol/object-meta.ts";
import { DefinitionSweeper } from "./sweep-definition.ts";
import { VersionCaches } from "./version-caches.ts";
import type { Stored } from "../store/index.ts";

/** What the type of a custom resource has in addition to other types. */
export type CustomType = ResourceType & {
  /** `subresources.scale` of its version: the paths of the replica counts. */
  readonly scale?: JsonObject | undefined;
  /** The source of its OpenAPI schemas. */
  readonly published?: PublishedKind | undefined;
  /** Sent with every response to a request for a deprecated version. */
  readonly deprecationWarning?: string | undefined;
};

const DEFINITIONS = { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" } as const;

export function followDefinitions(core: Core, webhookOf?: WebhookOf): { readonly end: () => void } {
  const type = core.types.find(DEFINITIONS.group, DEFINITIONS.version, DEFINITIONS.plural);
  if (type === undefined) return { end: () => {} };
  const sweeper = new DefinitionSweeper(core, type);
  const caches = new VersionCaches(core.store);
  const following = { core, type, sweeper, caches, webhookOf };
  const handle = (stored: Stored) => handleDefinition(following, stored);
  // what the pass over the list writes is seen by the watch: names are accepted first, and served after that
  const from = core.store.revision;
  const listed = core.store.list(type.collection);
  for (const stored of listed.ok ? listed.value.items : []) handle(stored);
  const watching = core.store.watch({
    collection: type.collection,
    from,
    onEvent: ({ type: change, key, object, revision }) => {
      if (change !== "DELETED") return handle({ key, object, revision });
      sweeper.stopWaiting(instancesOf(object));
      withdraw(following, object);
    },
  });
  const end = () => {
    sweeper.close();
    caches.close();
    if (watching.ok) watching.value.end();
  };
  return { end };
}

type Following = {
  readonly core: Core;
  readonly type: ResourceType;
  readonly sweeper: DefinitionSweeper;
  readonly caches: VersionCaches;
  readonly webhookOf: WebhookOf | undefined;
};

function handleDefinition(following: Following, stored: Stored): void {
  const { core, type, sweeper, caches, webhookOf } = following;
  const { object } = stored;
  if (!DefinitionSweeper.isDue(object)) acceptNames(core, type, stored);
  else {
    sweeper.sweep(stored, instancesOf(object));
    if (core.store.get(type.collection, stored.key) === undefined) return withdraw(following, object);
  }
  const { group, plural } = namesOf(object);
  const types = isEstablished(asJsonObject(object)) ? customResourceTypes(object, { webhookOf, clock: core.clock }) : [];
  core.types.setCustom(group, plural, types);
  caches.follow(instancesOf(object), types);
}

function instancesOf(definition: KubeObject): string {
  const { group, plural } = namesOf(definition);
  return `${group}/${plural}`;
}

function namesOf(definition: KubeObject): { readonly group: string; readonly plural: string } {
  const group = fieldAt(definition, "spec", "group");
  const plural = fieldAt(definition, "spec", "names", "plural");
  return { group: typeof group === "string" ? group : "", plural: typeof plural === "string" ? plural : "" };
}

/** The names of a deleted definition become free for a definition that waits for them. */
function withdraw({ core, type, caches }: Following, definition: KubeObject): void {
  const { group, plural } = namesOf(definition);
  core.types.setCustom(group, plural, []);
  caches.follow(instancesOf(definition), []);
  const listed = core.store.list(type.collection);
  for (const stored of listed.ok ? listed.value.items : []) acceptNames(core, type, stored);
}

/** Name conflicts are checked again after every change of a definition; the status is written only when it changed. */
function acceptNames(core: Core, type: ResourceType, stored: Stored): void {
  const before = asJsonObject(stored.object);
  const now = timestamp(core.clock);
  const next = establish(before, definitionsIn(core, type), now);
  if (jsonEqual(next, before)) return;
  const tracked = trackUpdate({ ...managedKind(core.types, type, "status"), manager: "kube-apiserver", now, old: before, next });
  replace(core, type, stored, asObject(tracked.ok ? tracked.value : next));
}

function definitionsIn(core: Core, type: ResourceType): readonly Definition[] {
  const listed = core.store.list(type.collection);
  return listed.ok ? listed.value.items.map(({ object }) => readDefinition(asJsonObject(object))) : [];
}

function replace(core: Core, type: ResourceType, stored: Stored, next: KubeObject): void {
  const object = (revision: number) => withMetadata(next, { resourceVersion: String(revision) });
  core.store.write({ collection: type.collection, key: stored.key, expected: stored.revision, object });
}
