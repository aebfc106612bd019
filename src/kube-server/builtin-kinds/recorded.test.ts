/**
 * What a real kube-apiserver 1.36.3 answered to objects and to broken copies of them (dryRun), replayed: the whole way from a body to a
 * stored object, or to the causes of a refusal. generated/recorded-*.json holds bodies and answers; a case changes one place in a body.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { builtinTypes } from "./builtin-types.ts";

type Want = {
  readonly error?: string;
  readonly causes?: readonly (readonly string[])[];
  readonly object?: JsonObject;
  readonly warnings?: readonly string[];
};
type Case = { readonly name: string; readonly path?: readonly (string | number)[]; readonly value?: Json; readonly want: Want };
type Creates = {
  readonly samples: readonly { readonly type: string; readonly body: JsonObject }[];
  readonly cases: readonly (Case & { readonly sample: number })[];
};
type Updates = readonly {
  readonly type: string;
  readonly subresource?: string;
  readonly body: JsonObject;
  readonly previous: KubeObject;
  readonly cases: readonly Case[];
}[];

const UID = "11111111-2222-3333-4444-555555555555";
const types = builtinTypes();

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`generated/${name}.json`, import.meta.url), "utf8"));
}

function typeOf(key: string): ResourceType {
  const type = types.get(key);
  if (type === undefined) throw new Error(`no type ${key}`);
  return type;
}

/** The body with one place changed; without a value that place is taken out. */
function bodyOf(body: JsonObject, { path = [], value }: Case): Json {
  const copy = JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
  const last = path.at(-1);
  if (last === undefined) return copy as Json;
  const parent = path.slice(0, -1).reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], copy) as
    | Record<string, unknown>
    | unknown[];
  if (value !== undefined) Reflect.set(parent, last, value);
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(parent, last);
  return copy as Json;
}

type Answer = {
  readonly error?: string;
  readonly causes?: string[][];
  readonly object?: KubeObject;
  readonly warnings?: readonly string[];
};

function created(type: ResourceType, body: Json): Answer {
  const decoded = type.decode(body);
  if (!decoded.ok) return { error: decoded.error };
  const { object: sent, findings } = decoded.value;
  const metadata = { ...sent.metadata, ...namespaceOf(type), uid: UID, creationTimestamp: "2024-01-01T00:00:00Z" };
  const object = admitted(type, type.prepareForCreate(type.applyDefaults({ ...sent, metadata })));
  const causes = type.validate(object, undefined, undefined);
  if (causes.length > 0) return { causes: causes.map(({ field, reason, detail }) => [field, reason, detail]) };
  const warnings = [...new Set([...findings, ...type.warnings(object, undefined)])].toSorted();
  return { object: type.fromStorage(type.toStorage(object)), warnings };
}

/** Admission gave every recorded Pod an account. */
function admitted(type: ResourceType, object: KubeObject): KubeObject {
  const { spec } = object as KubeObject & { readonly spec?: JsonObject };
  if (type.resource.kind !== "Pod" || typeof spec !== "object") return object;
  return { ...object, spec: { serviceAccountName: "default", ...spec } } as KubeObject;
}

function updated(type: ResourceType, body: Json, previous: KubeObject, subresource: string | undefined): Answer {
  const decoded = type.decode(body);
  if (!decoded.ok) return { error: decoded.error };
  const sent = decoded.value.object;
  const metadata = { ...sent.metadata, ...namespaceOf(type), resourceVersion: previous.metadata.resourceVersion ?? "" };
  const object = type.prepareForUpdate(type.applyDefaults({ ...sent, metadata }), previous, subresource);
  const causes = type.validate(object, previous, subresource);
  if (causes.length > 0) return { causes: causes.map(({ field, reason, detail }) => [field, reason, detail]) };
  return { object: type.fromStorage(type.toStorage(object)) };
}

function namespaceOf(type: ResourceType): { namespace?: string } {
  return type.resource.namespaced ? { namespace: "default" } : {};
}

const ADMITTED = /^node\.kubernetes\.io\/(not-ready|unreachable)$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Without what only a running server adds: identity, times, addresses, and what admission puts into Pods. */
function comparable(key: string, object: unknown): Record<string, unknown> {
  const copy = JSON.parse(JSON.stringify(object).replaceAll(UUID, "UID")) as Record<string, Record<string, unknown>>;
  for (const name of ["uid", "creationTimestamp", "managedFields", "namespace", "resourceVersion", "generation"])
    delete copy["metadata"]?.[name];
  const spec = copy["spec"] ?? {};
  if (key === "v1/pods") {
    for (const name of ["serviceAccountName", "serviceAccount", "priority", "preemptionPolicy"]) delete spec[name];
    const kept = ((spec["tolerations"] ?? []) as { key?: string }[]).filter(({ key: name = "" }) => !ADMITTED.test(name));
    if (kept.length > 0) spec["tolerations"] = kept;
    else delete spec["tolerations"];
  }
  if (key === "v1/services") {
    for (const name of ["clusterIP", "clusterIPs"]) if (!JSON.stringify(spec[name] ?? "").includes("None")) delete spec[name];
    for (const port of (spec["ports"] ?? []) as Record<string, unknown>[]) delete port["nodePort"];
  }
  if (/persistentvolume|storageclasses/.test(key)) delete copy["metadata"]?.["finalizers"];
  const status = copy["status"] ?? {};
  for (const condition of (status["conditions"] ?? []) as Record<string, unknown>[]) condition["lastTransitionTime"] = "T";
  if (status["lastPhaseTransitionTime"] !== undefined) status["lastPhaseTransitionTime"] = "T";
  return copy;
}

function check(key: string, answer: Answer, want: Want): void {
  if (want.error !== undefined) expect(answer.error).toBe(want.error);
  if (want.causes !== undefined)
    expect(JSON.stringify(answer.causes).replaceAll(UUID, "UID")).toBe(JSON.stringify(want.causes).replaceAll(UUID, "UID"));
  if (want.object !== undefined) {
    const [mine, real] = [comparable(key, answer.object), comparable(key, want.object)];
    if (!jsonEqual(mine, real)) expect(mine).toEqual(real);
  }
  if (want.warnings !== undefined) expect(answer.warnings).toEqual(want.warnings);
}

describe("creating, as a real server does", () => {
  const { samples, cases } = read("recorded-creates") as Creates;
  it.each(cases.map((row) => ({ ...row, type: samples[row.sample]?.type ?? "" })))("$type $name", (row) => {
    check(row.type, created(typeOf(row.type), bodyOf(samples[row.sample]?.body ?? {}, row)), row.want);
  });
});

describe("updating, as a real server does", () => {
  const rows = (read("recorded-updates") as Updates).flatMap(({ cases, ...group }) => cases.map((row) => ({ ...group, ...row })));
  it.each(rows)("$type $subresource $name", ({ type, body, previous, subresource, ...row }) => {
    check(type, updated(typeOf(type), bodyOf(body, row), previous, subresource), row.want);
  });
});
