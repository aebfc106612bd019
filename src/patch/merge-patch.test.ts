import { describe, expect, test } from "vitest";
import { applyMergePatch, createMergePatch, createThreeWayMergePatch, fieldUnchanged, mergePatchesConflict } from "./index.ts";

describe("applyMergePatch", () => {
  test.each([
    { name: "null deletes", given: { a: 1, b: 2 }, patch: { a: null }, want: { b: 2 } },
    { name: "objects merge", given: { a: { b: 1 } }, patch: { a: { c: 2 } }, want: { a: { b: 1, c: 2 } } },
    { name: "lists replace", given: { a: [1, 2] }, patch: { a: [3] }, want: { a: [3] } },
    { name: "nulls in a new object are dropped", given: {}, patch: { a: { b: null, c: 1 } }, want: { a: { c: 1 } } },
    { name: "a scalar gives way to an object", given: { a: 1 }, patch: { a: { b: null, c: 1 } }, want: { a: { c: 1 } } },
    {
      name: "nulls in objects of a new list are dropped, as in Kubernetes",
      given: {},
      patch: { a: [{ b: null }, null] },
      want: { a: [{}, null] },
    },
    { name: "a list patch replaces everything", given: { a: 1 }, patch: [{ b: null }], want: [{ b: null }] },
  ])("$name", ({ given, patch, want }) => {
    expect(applyMergePatch(given, patch)).toEqual({ ok: true, value: want });
  });

  test("the RFC dialect does not change objects in lists", () => {
    expect(applyMergePatch({}, { a: [{ b: null }] }, { dialect: "rfc7396" })).toEqual({ ok: true, value: { a: [{ b: null }] } });
    expect(applyMergePatch({}, 1, { dialect: "rfc7396" })).toEqual({ ok: true, value: 1 });
  });

  test("the Kubernetes dialect requires an object or a list, and a document", () => {
    expect(applyMergePatch({}, 1)).toMatchObject({ ok: false, error: { message: "Invalid JSON Patch" } });
    expect(applyMergePatch(null, {})).toMatchObject({ ok: false, error: { message: "Invalid JSON Document" } });
  });
});

describe("creating merge patches", () => {
  test.each([
    { name: "says what changed", before: { a: 1, b: 2 }, after: { a: 1, b: 3 }, want: { b: 3 } },
    { name: "deletes with null", before: { a: 1 }, after: {}, want: { a: null } },
    { name: "goes into objects", before: { a: { b: 1, c: 1 } }, after: { a: { b: 2, c: 1 } }, want: { a: { b: 2 } } },
    { name: "replaces lists", before: { a: [1] }, after: { a: [1, 2] }, want: { a: [1, 2] } },
    { name: "is empty for equal documents", before: { a: [{ b: 1 }] }, after: { a: [{ b: 1 }] }, want: {} },
    { name: "takes nothing for an empty document", before: undefined, after: { a: 1 }, want: { a: 1 } },
  ])("two-way: $name", ({ before, after, want }) => {
    expect(createMergePatch(before, after)).toEqual({ ok: true, value: want });
  });

  test("a merge patch can only be created between objects", () => {
    expect(createMergePatch([1], {})).toMatchObject({ ok: false, error: { kind: "bad-json" } });
    expect(createThreeWayMergePatch({ original: 1, modified: {}, current: {} }).ok).toBe(false);
    expect(createThreeWayMergePatch({ original: {}, modified: {}, current: 1 }).ok).toBe(false);
  });

  test("three-way: keeps fields of other writers, deletes previously applied fields", () => {
    const patch = createThreeWayMergePatch({
      original: { a: 1, b: { c: 1 } },
      modified: { b: { d: 2 }, e: {} },
      current: { a: 1, b: { c: 1 }, z: 9 },
    });
    expect(patch).toEqual({ ok: true, value: { a: null, b: { c: null, d: 2 }, e: {} } });
  });

  test("three-way: a precondition can reject the patch", () => {
    const documents = { original: { kind: "A" }, modified: { kind: "B" }, current: { kind: "A" } };
    expect(createThreeWayMergePatch(documents, { preconditions: [fieldUnchanged("kind")] })).toEqual({
      ok: false,
      error: { kind: "precondition-failed", message: "precondition failed for: map[kind:B]" },
    });
  });
});

describe("mergePatchesConflict", () => {
  test.each([
    { name: "different values of one field", a: { x: 1 }, b: { x: 2 }, want: true },
    { name: "different fields", a: { x: 1 }, b: { y: 2 }, want: false },
    { name: "equal lists", a: { x: [1, { y: 1 }] }, b: { x: [1, { y: 1 }] }, want: false },
    { name: "lists of different length", a: { x: [1] }, b: { x: [1, 2] }, want: true },
    { name: "a list and an object", a: { x: [1] }, b: { x: {} }, want: true },
    { name: "an object and null", a: { x: {} }, b: { x: null }, want: true },
  ])("$name: $want", ({ a, b, want }) => {
    expect(mergePatchesConflict(a, b)).toBe(want);
  });
});
