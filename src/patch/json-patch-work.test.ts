/** The cost of one JSON patch is bounded, and the optimisations do not change results. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyJsonPatch, httpStatusOf, type Json } from "./index.ts";

const SHIFTED_LIMIT = 20_000_000;
const long = Array.from({ length: 600_000 }, (_, at) => at % 10);
/** A failed assertion would print the whole list. */
const errorOf = (result: ReturnType<typeof applyJsonPatch>) => (result.ok ? undefined : result.error);
const many = (operation: Json) => Array.from({ length: 10_000 }, () => operation);

describe("a patch that shifts the items of a long list too often is rejected", () => {
  test.each([
    { name: "insertions at the front", operation: { op: "add", path: "/list/0", value: 1 } },
    { name: "insertions behind the first item", operation: { op: "add", path: "/list/1", value: 1 } },
    { name: "insertions counted from the end", operation: { op: "add", path: "/list/-600000", value: 1 } },
    { name: "removals at the front", operation: { op: "remove", path: "/list/0" } },
    { name: "moves from the front to the end", operation: { op: "move", from: "/list/0", path: "/list/-" } },
    { name: "moves from the end to the front", operation: { op: "move", from: "/list/-1", path: "/list/0" } },
    { name: "copies to the front", operation: { op: "copy", from: "/list/5", path: "/list/0" } },
  ])("$name", ({ operation }) => {
    const error = errorOf(applyJsonPatch({ list: long }, many(operation)));
    const message = `The JSON patch shifts more than ${SHIFTED_LIMIT} list items; change long lists near their end, or replace the whole list`;
    expect(error).toEqual({ kind: "too-much-work", message });
    expect(error === undefined ? 0 : httpStatusOf(error)).toBe(413);
  });

  test("the limit applies to all lists and operations of the patch together", () => {
    const lists = { a: long, b: long, c: long };
    const operations = Array.from({ length: 36 }, (_, at) => ({ op: "add", path: `/${"abc"[at % 3] ?? ""}/0`, value: 1 }));
    expect(errorOf(applyJsonPatch(lists, operations))?.kind).toBe("too-much-work");
    expect(applyJsonPatch(lists, operations.slice(0, 33)).ok).toBe(true);
  });
});

test("10,000 operations near the end of a long list or at the front of a short one are accepted", () => {
  const appended = applyJsonPatch({ list: long }, many({ op: "add", path: "/list/-", value: 1 }));
  expect(appended.ok && (appended.value as { list: readonly Json[] }).list.length).toBe(610_000);
  const inserted = applyJsonPatch({ list: [1] }, many({ op: "add", path: "/list/0", value: 0 }).slice(0, 6_000));
  expect(inserted.ok && (inserted.value as { list: readonly Json[] }).list.length).toBe(6_001);
});

test("a pointer with a million names is rejected without being parsed", () => {
  let deep: Json = {};
  for (let level = 0; level < 990; level += 1) deep = { a: deep };
  const path = "/a".repeat(1_000_000);
  for (const op of ["add", "remove", "replace", "test"]) {
    expect(errorOf(applyJsonPatch(deep, [{ op, path, value: 1 }]))?.kind).toBe("missing-path");
  }
});

describe("operations that together make a document too deep are refused", () => {
  const nested = (levels: number): Json => {
    let value: Json = 1;
    for (let level = 0; level < levels; level += 1) value = { a: value };
    return value;
  };
  const at = (levels: number) => "/a".repeat(levels);
  const rows: { name: string; document: Json; operations: readonly Json[]; want: string | undefined }[] = [
    {
      name: "a value that fits is added",
      document: nested(400),
      operations: [{ op: "replace", path: at(400), value: nested(600) }],
      want: undefined,
    },
    {
      name: "one more level does not fit",
      document: nested(400),
      operations: [{ op: "replace", path: at(400), value: nested(601) }],
      want: "too-deep",
    },
    {
      name: "each fits, but not one in the other",
      document: {},
      operations: [
        { op: "add", path: "/a", value: nested(600) },
        { op: "add", path: at(601), value: nested(600) },
      ],
      want: "too-deep",
    },
    {
      name: "a copy of the document in itself",
      document: { a: nested(600), b: 1 },
      operations: [{ op: "copy", from: "/a", path: at(601) }],
      want: "too-deep",
    },
    {
      name: "values that are deep, but beside each other",
      document: {},
      operations: [
        { op: "add", path: "/a", value: nested(600) },
        { op: "add", path: "/b", value: nested(600) },
      ],
      want: undefined,
    },
  ];
  test.each(rows)("$name", ({ document, operations, want }) => {
    expect(errorOf(applyJsonPatch(document, operations))?.kind).toBe(want);
  });
});

/** A deep copy without shared parts. */
const clone = (value: Json) => JSON.parse(JSON.stringify(value)) as Json;

/** A simple reference implementation that copies the document for every operation. */
function applyReference(document: Json, operations: readonly Operation[]): Json | undefined {
  let result = clone(document);
  for (const { op, path, from, value } of operations) {
    const copy = { root: clone(result) };
    if (op === "test") {
      if (JSON.stringify(at(copy.root, path)) !== JSON.stringify(value)) return undefined;
      continue;
    }
    const source = op === "move" || op === "copy" ? at(copy.root, from) : value;
    if (source === undefined && op !== "remove") return undefined;
    if (op === "move" && path.startsWith(`${from}/`)) return undefined;
    const taken = clone(source ?? null);
    if ((op === "remove" && !take(copy.root, path)) || (op === "move" && !take(copy.root, from))) return undefined;
    if (op !== "remove" && !put(copy.root, path, taken, op === "replace")) return undefined;
    result = copy.root;
  }
  return result;
}

const PATHS = ["/0", "/1", "/2", "/0/0", "/1/0", "/0/1", "/1/1", "/2/0", "/0/0/0", "/1/0/1"];
type Operation = { readonly op: string; readonly path: string; readonly from: string; readonly value: Json };

function at(root: Json, path: string): Json | undefined {
  return path
    .split("/")
    .slice(1)
    .reduce<Json | undefined>((value, name) => (Array.isArray(value) ? (value as readonly Json[])[Number(name)] : undefined), root);
}

function listAt(root: Json, path: string): { readonly list: Json[]; readonly index: number } | undefined {
  const cut = path.lastIndexOf("/");
  const list = cut === 0 ? root : at(root, path.slice(0, cut));
  return Array.isArray(list) ? { list: list as Json[], index: Number(path.slice(cut + 1)) } : undefined;
}

function take(root: Json, path: string): boolean {
  const place = listAt(root, path);
  return place !== undefined && place.index < place.list.length && place.list.splice(place.index, 1).length === 1;
}

function put(root: Json, path: string, value: Json, replaces: boolean): boolean {
  const place = listAt(root, path);
  if (place === undefined || place.index > place.list.length - (replaces ? 1 : 0)) return false;
  place.list.splice(place.index, replaces ? 1 : 0, value);
  return true;
}

test("results equal those of the reference implementation, and inputs are not changed", () => {
  const leaf = fc.constantFrom<Json>(1, "x", true, [1], [[], 2], []);
  const documents = fc.array(fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })), { minLength: 1, maxLength: 4 });
  const paths = fc.constantFrom(...PATHS);
  const op = fc.constantFrom("add", "remove", "replace", "move", "copy", "test");
  const operations = fc.array(fc.record({ op, path: paths, from: paths, value: leaf }), { maxLength: 12 });
  fc.assert(
    fc.property(documents, operations, (document, patch) => {
      const before = JSON.stringify([document, patch]);
      const want = applyReference(document, patch);
      const result = applyJsonPatch(document, patch, { dialect: "rfc6902" });
      if (want === undefined) expect(result.ok).toBe(false);
      else expect(result).toEqual({ ok: true, value: want });
      expect(JSON.stringify([document, patch])).toBe(before);
    }),
    { numRuns: 5_000, seed: 11 },
  );
});
