/**
 * Fields that are written when an object is created and belong to other clients from then on: an autoscaler counts replicas, Flagger
 * rewrites a Service.
 *
 * They are made together with the object, since some objects are refused without them. Then a second field manager takes them
 * over as they are, and the first lets go. A crash in between is seen by the next pass: the first still holds them. The second
 * never applies again, so that the client that changes them owns them.
 */
import { field, fieldAt, isJsonObject, keyOf, type JsonObject, type KubeObject } from "#kube";
import { ownedFieldsOf } from "../identity.ts";

/** Holds fields that were written once. */
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

/** As it is when it is made. */
export function withOnce(object: KubeObject, once: JsonObject): KubeObject {
  const sections = Object.entries(once).map(([section, fields]) => {
    const own = field(object, section);
    return [section, { ...(isJsonObject(fields) ? fields : {}), ...(isJsonObject(own) ? own : {}) }] as const;
  });
  return { ...object, ...Object.fromEntries(sections) };
}

/** Whether our own field manager still holds one of them. */
export function holdsOnce(live: KubeObject, once: JsonObject): boolean {
  const owned = ownedFieldsOf(live);
  return pathsOf(once).some(([section, name]) => fieldAt(owned, `f:${section}`, `f:${name}`) !== undefined);
}

/** What the second manager takes over: the fields as they are now, whatever they were when they were written. */
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
