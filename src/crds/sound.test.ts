import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { rawObjects, type RawObject } from "../../test/builders/valid-resources.ts";
import { latticeKinds } from "./index.ts";
import { parseClosely } from "./kind.ts";
import { soundReader, UNSURE } from "./sound.ts";
import { toStructural, type Structural } from "./structural.ts";

const values: unknown[] = ["", "a", "A b", "-", "10s", "1Gi", "25%", "10.0.0.0/16", 0, 1, -1, 1.5, 65_536, 2 ** 60, true, [], ["a"], [1], ["a", "a"], {}, { a: "b" }, { a: 1 }, { name: "a" }, [{}], "x".repeat(254)]; // prettier-ignore
const names = ["a", "A", "name", "image", "type", "port", "namespace", "constructor", "toString", "min", "max", ""];

const change = fc.record({
  at: fc.array(fc.nat(20), { maxLength: 7 }),
  how: fc.constantFrom("set", "add", "remove"),
  value: fc.constantFrom(...values),
  name: fc.constantFrom(...names),
});

describe("the fast reader of a resource", () => {
  it("reads every valid resource, and returns the same value as zod", () => {
    for (const object of rawObjects) expect(both(object)).toBe("sound");
  });

  it("agrees with zod after random changes of a resource", () => {
    const met = { sound: 0, unsure: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...rawObjects), fc.array(change, { minLength: 1, maxLength: 2 }), (object, changes) => {
        const copy = structuredClone(object);
        for (const one of changes) apply(copy, one);
        met[both(copy)] += 1;
      }),
      { numRuns: 4_000 },
    );
    expect(met.sound).toBeGreaterThan(100);
    expect(met.unsure).toBeGreaterThan(100);
  });

  it("returns UNSURE for null, undefined and __proto__", () => {
    const [object] = rawObjects;
    const hostile = JSON.parse('{ "__proto__": { "polluted": true } }') as object;
    for (const spec of [null, undefined, { ...object?.spec, more: undefined }, hostile]) {
      expect(soundReader(schemaOf(object))({ ...object, spec })).toBe(UNSURE);
    }
  });
});

describe("the fast reader of a schema", () => {
  it.each([
    ["fields that the schema does not name", z.looseObject({ a: z.string() }), { a: "b", c: "d" }],
    ["a transformation", z.string().transform((text) => text.length), "four"],
    ["keys that are checked", z.record(z.string().regex(/^a/), z.string()), { a: "b" }],
    ["an optional default", z.string().default("a").optional(), undefined],
    ["a check that takes its time", z.string().refine(async () => Promise.resolve(true)), "a"],
  ])("leaves %s to zod", (_, schema, value) => {
    expect(soundReader(schema)(value)).toBe(UNSURE);
  });

  it("returns UNSURE for a sparse list and for a map with an undefined value", () => {
    expect(soundReader(z.array(z.unknown()))([undefined])).toBe(UNSURE);
    expect(soundReader(z.record(z.string(), z.unknown()))({ a: undefined })).toBe(UNSURE);
    expect(soundReader(z.strictObject({ a: z.unknown() }))({ a: undefined })).toBe(UNSURE);
  });

  it("creates a new default value for every read", () => {
    const read = soundReader(z.record(z.string(), z.string()).default({}));
    expect(read(undefined)).toEqual({});
    expect(read(undefined)).not.toBe(read(undefined));
  });
});

function schemaOf(object: RawObject | undefined): z.ZodType {
  const kind = latticeKinds.find((one) => one.kind === object?.kind);
  if (kind === undefined) throw new Error("no such kind");
  return kind.schema();
}

const structurals = new Map<z.ZodType, Structural>();

/** Reads with both readers and compares the results, including the order of fields, which is visible in printed output. */
function both(object: RawObject): "sound" | "unsure" {
  const schema = schemaOf(object);
  const structural = structurals.get(schema) ?? toStructural(schema);
  structurals.set(schema, structural);
  const closely = parseClosely(schema, () => structural, object);
  const quickly = soundReader(schema)(object);
  const found = quickly === UNSURE ? "unsure" : "sound";
  expect({ object, found }).toEqual({ object, found: closely.ok ? "sound" : "unsure" });
  if (closely.ok) expect(JSON.stringify(quickly)).toBe(JSON.stringify(closely.value));
  return found;
}

type Change = { readonly at: readonly number[]; readonly how: string; readonly value: unknown; readonly name: string };

/** Follows the steps as far as they exist, and changes the value there. */
function apply(object: RawObject, { at, how, value, name }: Change): void {
  let place = object as unknown as Record<string, unknown>;
  for (const step of [2, ...at]) {
    const keys = Object.keys(place).filter((key) => key !== "kind" && key !== "apiVersion");
    const next = place[keys[step % Math.max(1, keys.length)] ?? ""];
    if (typeof next !== "object" || next === null) break;
    place = next as Record<string, unknown>;
  }
  if (Array.isArray(place)) return void (how === "add" ? place.push(structuredClone(value)) : place.pop());
  const keys = Object.keys(place).filter((key) => key !== "kind" && key !== "apiVersion");
  const key = how === "add" ? name : (keys[(at[0] ?? 0) % Math.max(1, keys.length)] ?? name);
  if (how === "remove") delete place[key];
  else place[key] = structuredClone(value);
}
