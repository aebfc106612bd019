/**
 * The initial objects of a cluster: the default Roles and bindings, two PriorityClasses, the `kubernetes` Service, APIServices, flow control,
 * and the range of Services.
 *
 * Written directly into the store without validation, because they are constant and a server must start in milliseconds. Missing objects of a
 * reopened store are restored, as a real server does at every start.
 */
import { timestamp, type Clock } from "#base";
import { fieldAt, type JsonObject, type KubeObject } from "#kube";
import { newUid } from "../../protocol/core.ts";
import { withMetadata } from "../../protocol/object-meta.ts";
import type { TypeRegistry } from "../../protocol/type-registry.ts";
import { mended } from "./mend.ts";
import type { StatusOwner } from "./other-default.ts";
import { otherDefaults } from "./other-defaults.ts";
import { rbacDefaults, type DefaultObject } from "./rbac-defaults.ts";
import type { Store } from "../../store/index.ts";

export type BootstrapContext = {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly clock: Clock;
  readonly random: () => number;
};

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

/** Only kinds that this server serves: some tests have servers with three kinds. */
export function ensureBootstrapObjects(context: BootstrapContext): void {
  const now = timestamp(context.clock);
  if (context.types.find(RBAC.group, RBAC.version, "clusterroles") !== undefined) {
    for (const wanted of rbacDefaults()) ensure(context, wanted, { apiVersion: `${RBAC.group}/${RBAC.version}`, now });
  }
  for (const { apiVersion, generation, manager, status, plural, group, version, ...wanted } of otherDefaults()) {
    if (context.types.find(group, version, plural) !== undefined) ensure(context, wanted, { apiVersion, now, generation, manager, status });
  }
}

type Head = {
  readonly apiVersion: string;
  readonly now: string;
  readonly generation?: number | undefined;
  readonly manager?: string | undefined;
  readonly status?: StatusOwner | undefined;
};

function ensure({ store, random }: BootstrapContext, wanted: DefaultObject, head: Head): void {
  const { collection, key } = wanted;
  const known = store.get(collection, key);
  const next = known === undefined ? newObject(wanted, head, newUid(random)) : mended(known.object, wanted);
  if (next === undefined) return;
  const object = (revision: number) => withMetadata(next, { resourceVersion: String(revision) });
  store.write({ collection, key, expected: known?.revision, object });
}

function newObject(wanted: DefaultObject, head: Head, uid: string): KubeObject {
  const { kind, name, namespace, labels, annotations, content } = wanted;
  const { apiVersion, now, generation } = head;
  const object: JsonObject = {
    kind,
    apiVersion,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion: "",
      ...(generation === undefined ? {} : { generation }),
      creationTimestamp: now,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      managedFields: ownersOf(wanted, head),
    },
    ...dated(content, now),
  };
  return object as unknown as KubeObject;
}

function dated(content: JsonObject, now: string): JsonObject {
  const conditions = fieldAt(content, "status", "conditions");
  if (!Array.isArray(conditions)) return content;
  return { ...content, status: { conditions: conditions.map((condition) => ({ ...(condition as JsonObject), lastTransitionTime: now })) } };
}

function ownersOf({ owned }: DefaultObject, { apiVersion, now, manager = "kube-apiserver", status }: Head): readonly JsonObject[] {
  const entry = (operation: string, fieldsV1: JsonObject) => ({ operation, apiVersion, time: now, fieldsType: "FieldsV1", fieldsV1 });
  const own = { manager, ...entry("Update", owned) };
  if (status === undefined) return [own];
  const fields = { ".": {}, ...Object.fromEntries(status.fields.map((name) => [`f:${name}`, {}])) };
  const applied = { "f:status": { "f:conditions": { [`k:{"type":"${status.type}"}`]: fields } } };
  return [{ manager: status.manager, ...entry("Apply", applied), subresource: "status" }, own];
}
