import { describe, expect, test } from "vitest";
import { applyJsonPatch, httpStatusOf, type Json } from "./index.ts";

type Row = { readonly name: string; readonly given: Json; readonly operations: Json; readonly want: Json };

const works: readonly Row[] = [
  { name: "add sets a field", given: {}, operations: [{ op: "add", path: "/a", value: 1 }], want: { a: 1 } },
  { name: "add inserts into a list", given: { a: [1, 3] }, operations: [{ op: "add", path: "/a/1", value: 2 }], want: { a: [1, 2, 3] } },
  { name: "add with - appends", given: { a: [1] }, operations: [{ op: "add", path: "/a/-", value: 2 }], want: { a: [1, 2] } },
  {
    name: "add at index -1 appends, as in Kubernetes",
    given: { a: [1] },
    operations: [{ op: "add", path: "/a/-1", value: 2 }],
    want: { a: [1, 2] },
  },
  { name: "remove takes a field out", given: { a: 1, b: 2 }, operations: [{ op: "remove", path: "/a" }], want: { b: 2 } },
  { name: "remove at -1 takes the last element", given: { a: [1, 2] }, operations: [{ op: "remove", path: "/a/-1" }], want: { a: [1] } },
  {
    name: "replace of a missing field adds it, as in Kubernetes",
    given: {},
    operations: [{ op: "replace", path: "/a", value: 1 }],
    want: { a: 1 },
  },
  { name: "replace of everything", given: { a: 1 }, operations: [{ op: "replace", path: "", value: { b: 1 } }], want: { b: 1 } },
  { name: "replace in a list", given: [1, 2], operations: [{ op: "replace", path: "/0", value: 9 }], want: [9, 2] },
  {
    name: "move takes a value elsewhere",
    given: { a: { b: 1 } },
    operations: [{ op: "move", from: "/a/b", path: "/c" }],
    want: { a: {}, c: 1 },
  },
  { name: "copy leaves the source", given: { a: [1] }, operations: [{ op: "copy", from: "/a", path: "/b" }], want: { a: [1], b: [1] } },
  {
    name: "copy from a missing field copies null, as in Kubernetes",
    given: {},
    operations: [{ op: "copy", from: "/a", path: "/b" }],
    want: { b: null },
  },
  {
    name: "test compares deeply",
    given: { a: { b: [1] } },
    operations: [{ op: "test", path: "/a", value: { b: [1] } }],
    want: { a: { b: [1] } },
  },
  { name: "test of everything", given: { a: 1 }, operations: [{ op: "test", path: "", value: { a: 1 } }], want: { a: 1 } },
  {
    name: "test for null passes on a missing field, as in Kubernetes",
    given: {},
    operations: [{ op: "test", path: "/a", value: null }],
    want: {},
  },
  {
    name: "~1 is a slash and ~0 a tilde",
    given: { "a/b": { "~1": 1 } },
    operations: [{ op: "remove", path: "/a~1b/~01" }],
    want: { "a/b": {} },
  },
  {
    name: "what stands before the first slash is ignored, as in Kubernetes",
    given: { a: 1 },
    operations: [{ op: "remove", path: "x/a" }],
    want: {},
  },
];

describe("applyJsonPatch", () => {
  test.each(works)("$name", ({ given, operations, want }) => {
    expect(applyJsonPatch(given, operations)).toEqual({ ok: true, value: want });
  });

  test.each([
    {
      name: "remove of a missing field",
      operations: [{ op: "remove", path: "/x" }],
      want: "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    },
    {
      name: "a path through nothing",
      operations: [{ op: "add", path: "/x/y", value: 1 }],
      want: 'add operation does not apply: doc is missing path: "/x/y": missing value',
    },
    {
      name: "a pointer without a slash",
      operations: [{ op: "add", path: "a", value: 1 }],
      want: 'add operation does not apply: doc is missing path: "a": missing value',
    },
    {
      name: "an index beyond the list",
      operations: [{ op: "add", path: "/list/9", value: 1 }],
      want: "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    },
    {
      name: "an index that is none",
      operations: [{ op: "add", path: "/list/x", value: 1 }],
      want: "error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
    },
    {
      name: "replace beyond the list",
      operations: [{ op: "replace", path: "/list/9", value: 1 }],
      want: "replace operation does not apply: doc is missing key: /list/9: missing value",
    },
    {
      name: "replace of everything with a scalar",
      operations: [{ op: "replace", path: "", value: 1 }],
      want: "replace operation value must be object or array: %!w(<nil>)",
    },
    { name: "a test that fails", operations: [{ op: "test", path: "/a", value: 2 }], want: "testing value /a failed: test failed" },
    {
      name: "a test without its path",
      operations: [{ op: "test", path: "/x/y", value: 2 }],
      want: "test operation does not apply: is missing path: /x/y: missing value",
    },
    {
      name: "a test beyond the list",
      operations: [{ op: "test", path: "/list/9", value: 2 }],
      want: "error in test for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    },
    {
      name: "move of a missing field",
      operations: [{ op: "move", from: "/x", path: "/y" }],
      want: "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
    },
    {
      name: "move without from",
      operations: [{ op: "move", path: "/y" }],
      want: "move operation failed to decode from: operation, missing from field: missing value",
    },
    {
      name: "copy without from",
      operations: [{ op: "copy", path: "/y" }],
      want: "copy operation failed to decode from: operation, missing from field: missing value",
    },
    { name: "an operation without a path", operations: [{ op: "add" }], want: "add operation failed to decode path: missing value" },
    { name: "an unknown operation", operations: [{ op: "swap", path: "/a" }], want: "Unexpected kind: swap" },
    { name: "no operation", operations: [{ path: "/a" }], want: "Unexpected kind: unknown" },
  ])("refuses $name with Kubernetes' message and 422", ({ operations, want }) => {
    const result = applyJsonPatch({ a: 1, list: [1] }, operations);
    expect(result).toMatchObject({ ok: false, error: { message: want } });
    if (!result.ok) expect(httpStatusOf(result.error)).toBe(422);
  });

  test("more than 10,000 operations are a 413", () => {
    const result = applyJsonPatch(
      {},
      Array.from({ length: 10_001 }, () => ({ op: "test", path: "", value: {} })),
    );
    expect(result).toEqual({
      ok: false,
      error: { kind: "too-many-operations", message: "The allowed maximum operations in a JSON patch is 10000, got 10001" },
    });
    if (!result.ok) expect(httpStatusOf(result.error)).toBe(413);
  });

  test.each([{ operations: {} }, { operations: [1] }])(
    "what is not a list of operations is a bad document: $operations",
    ({ operations }) => {
      expect(applyJsonPatch({}, operations)).toMatchObject({ ok: false, error: { kind: "bad-json" } });
    },
  );

  test.each([
    { name: "replace of a missing field", operations: [{ op: "replace", path: "/x", value: 1 }] },
    { name: "copy of a missing field", operations: [{ op: "copy", from: "/x", path: "/y" }] },
    { name: "test for null of a missing field", operations: [{ op: "test", path: "/x", value: null }] },
    { name: "a negative index", operations: [{ op: "add", path: "/list/-1", value: 1 }] },
    { name: "moving into itself", operations: [{ op: "move", from: "/list", path: "/list/0" }] },
  ])("the RFC refuses $name", ({ operations }) => {
    expect(applyJsonPatch({ list: [1] }, operations, { dialect: "rfc6902" }).ok).toBe(false);
  });

  test("in the RFC dialect, add and copy accept the path of the whole document", () => {
    const options = { dialect: "rfc6902" } as const;
    expect(applyJsonPatch({ a: 1 }, [{ op: "add", path: "", value: [1] }], options)).toEqual({ ok: true, value: [1] });
    expect(applyJsonPatch({ a: 1 }, [{ op: "copy", from: "", path: "/b" }], options)).toEqual({ ok: true, value: { a: 1, b: { a: 1 } } });
  });

  test("the document and the values of the patch are not changed", () => {
    const given = { list: [1, { deep: [1] }], map: { a: 1 } };
    const operations = [
      { op: "add", path: "/new", value: { inner: [1] } },
      { op: "add", path: "/new/inner/-", value: 2 },
      { op: "remove", path: "/map/a" },
      { op: "add", path: "/list/1/deep/0", value: 0 },
      { op: "move", from: "/list/0", path: "/map/b" },
    ];
    const before = JSON.stringify([given, operations]);
    const want = { list: [{ deep: [0, 1] }], map: { b: 1 }, new: { inner: [1, 2] } };
    expect(applyJsonPatch(given, operations)).toEqual({ ok: true, value: want });
    expect(JSON.stringify([given, operations])).toBe(before);
  });

  test("a copy shares no parts with its source or an earlier copy", () => {
    const operations = [
      { op: "add", path: "/a/x", value: 1 },
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/a/y", value: 2 },
      { op: "add", path: "/b/z", value: 3 },
    ];
    expect(applyJsonPatch({ a: {} }, operations)).toEqual({ ok: true, value: { a: { x: 1, y: 2 }, b: { x: 1, z: 3 } } });
  });

  test("all copies together are limited to three megabytes", () => {
    const doubled = Array.from({ length: 30 }, (_, at) => ({ op: "copy", from: "/a", path: `/a/${at}` }));
    const result = applyJsonPatch({ a: { text: "x".repeat(100) } }, doubled);
    expect(result).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/^Unable to complete the copy, .* limit 3145728$/) },
    });
    expect(
      applyJsonPatch(
        { a: "x".repeat(2_000_000) },
        doubled.slice(0, 2).map((operation, at) => ({ ...operation, path: `/b${at}` })),
        { dialect: "rfc6902" },
      ).ok,
    ).toBe(true);
  });
});
