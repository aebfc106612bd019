/** Events are stored as core/v1; events.k8s.io/v1 has other names for the same fields. */
import { expectOk } from "#base";
import type { KubeObject } from "#kube";
import { readGoValue } from "../codec/go-json.ts";
import { goTypeOf } from "../codec/go-types.ts";
import { asJson, type Draft } from "../draft.ts";

const NAMES = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
] as const;

const TO_NEW = new Map<string, string>(NAMES);
const TO_CORE = new Map<string, string>(NAMES.map(([core, other]) => [other, core]));

export function eventFromCore(stored: KubeObject): KubeObject {
  return rename(stored, TO_NEW, "events.k8s.io/v1");
}

export function eventToCore(object: KubeObject): KubeObject {
  return rename(object, TO_CORE, "v1");
}

function rename(object: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const renamed: Draft = {};
  for (const [name, value] of Object.entries(asJson(object))) renamed[names.get(name) ?? name] = value;
  const type = goTypeOf(apiVersion === "v1" ? "io.k8s.api.core.v1.Event" : "io.k8s.api.events.v1.Event");
  // both forms were checked when they came in; going through the type puts fields in order and writes what is always there
  return expectOk(readGoValue(type, { ...renamed, apiVersion })).value as unknown as KubeObject;
}
