/**
 * No step of a write changes its input. Objects share parts with stored ones, so such a change would change the history. All inputs are frozen
 * here, so that a change throws.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { shareWith } from "../share-json.ts";
import { builtinTypes } from "./builtin-types.ts";

type Creates = { readonly samples: readonly { readonly type: string; readonly body: JsonObject }[] };
type Updates = readonly {
  readonly type: string;
  readonly subresource?: string;
  readonly body: JsonObject;
  readonly previous: KubeObject;
}[];

const types = builtinTypes();

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`generated/${name}.json`, import.meta.url), "utf8"));
}

function typeOf(key: string): ResourceType {
  const type = types.get(key);
  if (type === undefined) throw new Error(`no type ${key}`);
  return type;
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

function decoded(type: ResourceType, body: Json, like?: KubeObject): KubeObject {
  const read = type.decode(frozen(body), like);
  if (!read.ok) throw new Error(read.error);
  return frozen(read.value.object);
}

/** Stored, as far as the kind is asked. */
function stored(type: ResourceType, body: Json): KubeObject {
  const sent = decoded(type, body);
  const metadata = { ...sent.metadata, uid: "u", creationTimestamp: "2024-01-01T00:00:00Z" };
  const defaulted = frozen(type.applyDefaults(frozen({ ...sent, metadata })));
  const object = frozen(type.prepareForCreate(defaulted));
  type.validate(object, undefined, undefined);
  type.warnings(object, undefined);
  return frozen(type.toStorage(object));
}

/** The same with one of its texts changed, in a tree of its own. */
function* changes(value: Json): Generator<Json> {
  if (typeof value === "string") yield `${value}x`;
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly Json[]).entries())
      for (const other of changes(item)) yield value.map((kept: Json, at) => (at === index ? other : kept));
  } else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) for (const other of changes(item ?? null)) yield { ...value, [name]: other };
  }
}

const { samples } = read("recorded-creates") as Creates;

describe("a new object", () => {
  it.each(samples.map(({ type, body }, index) => ({ type, body, index })))(
    "$type $index goes its way and nothing is changed on it",
    (row) => {
      expect(stored(typeOf(row.type), row.body).kind).toBe(typeOf(row.type).resource.kind);
    },
  );
});

describe("an object that replaces another", () => {
  it.each((read("recorded-updates") as Updates).map((row, index) => ({ ...row, index })))(
    "$type $index goes its way and nothing is changed on either",
    ({ type: key, body, previous, subresource }) => {
      const type = typeOf(key);
      const next = frozen(type.applyDefaults(decoded(type, body)));
      const prepared = frozen(type.prepareForUpdate(next, frozen(previous), subresource));
      type.validate(prepared, previous, subresource);
      expect(type.warnings(prepared, previous)).toBeInstanceOf(Array);
    },
  );

  it.each(samples.map(({ type, body }, index) => ({ type, body, index })))(
    "$type $index is read as if nothing were known of what was there before",
    ({ type: key, body }) => {
      const type = typeOf(key);
      const old = frozen(type.fromStorage(stored(type, body)));
      for (const changed of [...changes(old as unknown as Json)].slice(0, 60)) {
        const shared = shareWith(old as unknown as Json, changed);
        const [alone, beside] = [type.decode(changed), type.decode(shared, old)];
        expect(beside.ok).toBe(alone.ok);
        if (!alone.ok || !beside.ok) continue;
        expect(beside.value).toEqual(alone.value);
        expect(type.applyDefaults(beside.value.object, old)).toEqual(type.applyDefaults(alone.value.object));
      }
    },
  );

  it("keeps the parts that did not change: not equal ones, the same ones", () => {
    const type = typeOf("apps/v1/deployments");
    const body = samples.find(({ type: key }) => key === "apps/v1/deployments")?.body ?? {};
    const old = stored(type, body);
    const sent = JSON.parse(JSON.stringify(old)) as JsonObject;
    const next = shareWith(old as unknown as Json, { ...sent, metadata: { ...(sent["metadata"] as JsonObject), labels: { a: "b" } } });
    const read = type.decode(next, old);
    const object = read.ok ? type.applyDefaults(read.value.object, old) : old;
    expect((object as unknown as JsonObject)["spec"]).toBe((old as unknown as JsonObject)["spec"]);
    expect(object.metadata.labels).toEqual({ a: "b" });
  });
});
