/** Property tests of the parsers, with random input. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { field, fieldAt, jsonEqual } from "#kube";
import { rawObjects, type RawObject } from "../../test/builders/valid-resources.ts";
import { latticeKinds, parseLatticeCluster, parseLatticeObject } from "./index.ts";

const anyJson = fc.jsonValue({ maxDepth: 5 });
const anyKey = fc.oneof(
  fc.string(),
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "name", "image", "type"),
);

/** A valid object with one random value in its spec replaced. */
const damaged = fc.tuple(fc.constantFrom(...rawObjects), anyKey, anyJson, fc.nat()).map(([object, key, value, choice]) => {
  const copy = JSON.parse(JSON.stringify(object)) as RawObject;
  const places = objectsIn(copy.spec);
  const place = places[choice % places.length] ?? {};
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
  return copy;
});

function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

describe("the parsers", () => {
  it("never throw, and never accept a name that is no string, on arbitrary JSON", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        for (const { parse } of latticeKinds) {
          const parsed = parse(value);
          if (parsed.ok) expect(typeof fieldAt(value, "metadata", "name")).toBe("string");
          else expect(parsed.error.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("never accept a name that is no string, in objects that are otherwise valid", () => {
    const noString = anyJson.filter((value) => typeof value !== "string");
    fc.assert(
      fc.property(fc.constantFrom(...rawObjects), noString, (object, name) => {
        expect(parseLatticeObject({ ...object, metadata: { ...object.metadata, name } }).ok).toBe(false);
      }),
    );
  });

  it("accept their own output and return it unchanged", () => {
    fc.assert(
      fc.property(damaged, (object) => {
        const once = parseLatticeObject(object);
        if (!once.ok) return;
        const twice = parseLatticeObject(once.value);
        expect(twice.ok && jsonEqual(twice.value, once.value)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("return a path and a message in every error", () => {
    fc.assert(
      fc.property(damaged, (object) => {
        const parsed = parseLatticeObject(object);
        if (parsed.ok) return;
        for (const { path, message } of parsed.error) {
          expect(path).toMatch(/^spec/);
          expect(message).not.toMatch(/Invalid input|undefined|\[object/);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("reject __proto__ everywhere, and change no prototype", () => {
    fc.assert(
      fc.property(fc.constantFrom(...rawObjects), fc.nat(), (object, choice) => {
        const copy = JSON.parse(JSON.stringify(object)) as RawObject;
        const places = objectsIn(copy.spec);
        Object.defineProperty(places[choice % places.length] ?? {}, "__proto__", { value: { polluted: true }, enumerable: true });
        expect(parseLatticeObject(copy).ok).toBe(false);
        expect(field({}, "polluted") ?? Reflect.get({}, "polluted")).toBeUndefined();
      }),
    );
  });

  it("accept the same cluster names as Kubernetes", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9-]{0,57}$/), (name) => {
        const given = { ...rawObjects[0], metadata: { name } };
        expect(parseLatticeCluster(given).ok).toBe(!name.endsWith("-"));
      }),
    );
  });
});
