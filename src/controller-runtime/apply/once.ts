/**
 * Fields that are written when an object is created and belong to other clients from then on: an autoscaler sets replicas, Flagger
 * rewrites a Service.
 *
 * They are created together with the object, since some objects are invalid without them. Then a second field manager applies them
 * unchanged, and the first stops applying them. After a crash in between the next pass sees that the first still owns them. The second
 * never applies again, so that the client that changes them owns them.
 */
import { field, fieldAt, isJsonObject, keyOf, type JsonObject, type KubeObject } from "#kube";
import { ownedFieldsOf } from "../identity.ts";

/** The field manager of fields that were written once. */
export const ONCE_FIELD_MANAGER = "lattice-once";

/** `once` names fields by section: `{ spec: { replicas: 2 } }`. */
export type WantedOnce = { readonly object: KubeObject; readonly once: JsonObject };
export type WantedObject = KubeObject | WantedOnce;

export function objectOf(wanted: WantedObject): KubeObject {
  return "once" in wanted ? wanted.object : wanted;
}

export function onceOf(wanted: WantedObject): JsonObject | undefined {
  return "once" in wanted ? wanted.once : undefined;
}

/** The object as it is created. */
export function withOnce(object: KubeObject, once: JsonObject): KubeObject {
  const sections = Object.entries(once).map(([section, fields]) => {
    const own = field(object, section);
    return [section, { ...(isJsonObject(fields) ? fields : {}), ...(isJsonObject(own) ? own : {}) }] as const;
  });
  return { ...object, ...Object.fromEntries(sections) };
}

/** Whether our own field manager still owns one of them. */
export function holdsOnce(live: KubeObject, once: JsonObject): boolean {
  const owned = ownedFieldsOf(live);
  return pathsOf(once).some(([section, name]) => fieldAt(owned, `f:${section}`, `f:${name}`) !== undefined);
}

/** The fields that the second manager applies, with their current values. */
export function handOverOf(live: KubeObject, once: JsonObject): KubeObject {
  const sections: Record<string, Record<string, unknown>> = {};
  for (const [section, name] of pathsOf(once)) {
    const value = fieldAt(live, section, name);
    if (value !== undefined) sections[section] = { ...sections[section], [name]: value };
  }
  return { apiVersion: live.apiVersion, kind: live.kind, metadata: keyOf(live) as KubeObject["metadata"], ...sections };
}

function pathsOf(once: JsonObject): readonly (readonly [section: string, name: string])[] {
  return Object.entries(once).flatMap(([section, fields]) =>
    isJsonObject(fields) ? Object.keys(fields).map((name) => [section, name] as const) : [],
  );
}
