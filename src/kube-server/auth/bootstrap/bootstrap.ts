/**
 * What a cluster holds before anybody asks it for anything: the default Roles and bindings, two PriorityClasses, the `kubernetes` Service.
 *
 * Written straight into the store: they are this program's own, were checked when they were recorded, and a server starts in milliseconds.
 * A store that was opened again gets back what is missing, as a real server mends its defaults at every start.
 */
import { timestamp, type Clock } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { newUid } from "../../rest/core.ts";
import { withMetadata } from "../../rest/object-meta.ts";
import type { TypeRegistry } from "../../rest/type-registry.ts";
import type { Store } from "../../store/port.ts";
import { mended } from "./mend.ts";
import { OTHER_DEFAULTS } from "./other-defaults.ts";
import { rbacDefaults, type DefaultObject } from "./rbac-defaults.ts";

export type BootstrapContext = {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly clock: Clock;
  readonly random: () => number;
};

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

/** Only kinds that this server knows: tests have servers with three. */
export function ensureBootstrapObjects(context: BootstrapContext): void {
  const now = timestamp(context.clock);
  if (context.types.find(RBAC.group, RBAC.version, "clusterroles") !== undefined) {
    for (const wanted of rbacDefaults()) ensure(context, wanted, { apiVersion: `${RBAC.group}/${RBAC.version}`, now });
  }
  for (const { apiVersion, generation, plural, group, version, ...wanted } of OTHER_DEFAULTS) {
    if (context.types.find(group, version, plural) !== undefined) ensure(context, wanted, { apiVersion, now, generation });
  }
}

type Head = { readonly apiVersion: string; readonly now: string; readonly generation?: number | undefined };

function ensure({ store, random }: BootstrapContext, wanted: DefaultObject, head: Head): void {
  const { collection, key } = wanted;
  const known = store.get(collection, key);
  const next = known === undefined ? newObject(wanted, head, newUid(random)) : mended(known.object, wanted);
  if (next === undefined) return;
  const object = (revision: number) => withMetadata(next, { resourceVersion: String(revision) });
  store.write({ collection, key, expected: known?.revision, object });
}

function newObject(wanted: DefaultObject, { apiVersion, now, generation }: Head, uid: string): KubeObject {
  const { kind, name, namespace, labels, annotations, content, owned } = wanted;
  const managed = { manager: "kube-apiserver", operation: "Update", apiVersion, time: now, fieldsType: "FieldsV1", fieldsV1: owned };
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
      managedFields: [managed],
    },
    ...content,
  };
  return object as unknown as KubeObject;
}
