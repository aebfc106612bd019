import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excluding } from "./field-filter.ts";
import {
  difference,
  EMPTY_SET,
  fieldSetOf,
  has,
  intersection,
  isEmpty,
  isSubset,
  leaves,
  pathsOf,
  recursiveDifference,
  setsEqual,
  sizeOf,
  union,
  type FieldSet,
} from "./field-set.ts";
import { decodeFields, encodeFields } from "./fields-v1.ts";
import { pathText, type FieldPath } from "./path-element.ts";

const element = fc.constantFrom("f:a", "f:b", "f:__proto__", 'k:{"name":"x"}', 'k:{"name":"y"}', "v:1", 'v:"1"', "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });
const textsOf = (set: FieldSet) => new Set(Array.from(pathsOf(set), pathText));
const texts = (list: readonly FieldPath[]) => new Set(list.map(pathText));

describe("field sets", () => {
  it("contain exactly the inserted paths", () => {
    fc.assert(
      fc.property(paths, path, (all, other) => {
        const set = fieldSetOf(...all);
        expect(textsOf(set)).toEqual(texts(all));
        expect(sizeOf(set)).toBe(texts(all).size);
        expect(has(set, other)).toBe(texts(all).has(pathText(other)));
        expect(isEmpty(set)).toBe(all.length === 0);
      }),
    );
    expect(has(fieldSetOf(["f:a"]), [])).toBe(false);
  });

  it("union, intersection and difference work as on sets of paths, and change no input", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [fieldSetOf(...left), fieldSetOf(...right)];
        const before = [encodeFields(a), encodeFields(b)];
        expect(textsOf(union(a, b))).toEqual(texts([...left, ...right]));
        expect(textsOf(intersection(a, b))).toEqual(texts(left.filter((at) => texts(right).has(pathText(at)))));
        expect(textsOf(difference(a, b))).toEqual(texts(left.filter((at) => !texts(right).has(pathText(at)))));
        expect(setsEqual(union(difference(a, b), intersection(a, b)), a)).toBe(true);
        expect(difference(a, b) === a).toBe(isEmpty(intersection(a, b)));
        expect(isSubset(a, b)).toBe(isEmpty(difference(a, b)));
        expect([encodeFields(a), encodeFields(b)]).toEqual(before);
      }),
    );
  });

  it("subtract recursively what is below a member", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const below = (at: FieldPath) => right.some((top) => at.length >= top.length && top.every((step, index) => step === at[index]));
        expect(textsOf(recursiveDifference(fieldSetOf(...left), fieldSetOf(...right)))).toEqual(texts(left.filter((at) => !below(at))));
      }),
    );
  });

  it("have leaves", () => {
    expect(textsOf(leaves(fieldSetOf(["f:a"], ["f:a", "f:b"], ["f:c"])))).toEqual(new Set([".a.b", ".c"]));
  });

  it("differ when one has more or other members", () => {
    expect(setsEqual(fieldSetOf(["f:a"]), fieldSetOf(["f:b"]))).toBe(false);
    expect(setsEqual(fieldSetOf(["f:a", "f:b"]), fieldSetOf(["f:a"], ["f:a", "f:b"]))).toBe(false);
    expect(setsEqual(fieldSetOf(["f:a"]), EMPTY_SET)).toBe(false);
    expect(setsEqual(fieldSetOf(["f:a", "f:b"]), fieldSetOf(["f:a", "f:c"]))).toBe(false);
  });
});

describe("FieldsV1", () => {
  it("round-trips", () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = fieldSetOf(...all);
        const read = decodeFields(JSON.parse(JSON.stringify(encodeFields(set))));
        expect(read.ok && setsEqual(read.value, set)).toBe(true);
      }),
    );
  });

  it("writes the text of a real server", () => {
    const set = fieldSetOf(["f:b"], ["f:a"], ["f:a", "v:10"], ["f:a", "v:9"], ["f:a", 'k:{"containerPort":80,"protocol":"TCP"}', "f:name"]);
    expect(JSON.stringify(encodeFields(set))).toBe(
      '{"f:a":{".":{},"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{"f:name":{}},"v:9":{},"v:10":{}},"f:b":{}}',
    );
  });

  it.each([
    { name: "absent is empty", json: undefined, want: [] },
    { name: "null below is a leaf", json: { "f:a": null }, want: [".a"] },
    { name: "unknown steps are skipped", json: { "f:a": { "x:b": {} }, "y:c": {} }, want: [".a"] },
    { name: "the root is never a member", json: { ".": {}, "f:a": {} }, want: [".a"] },
  ])("$name", ({ json, want }) => {
    const read = decodeFields(json);
    expect(read.ok && [...textsOf(read.value)]).toEqual(want);
  });

  it("rejects values that are not field sets, and too deep nesting", () => {
    let deep: object = {};
    for (let depth = 0; depth < 100_000; depth++) deep = { "f:a": deep };
    for (const json of [[], "x", { "f:a": 5 }, { nope: {} }, deep]) expect(decodeFields(json).ok).toBe(false);
  });
});

describe("filters", () => {
  const set = fieldSetOf(["f:spec", "f:a"], ["f:status"], ["f:status", "f:b"], ["f:metadata", "f:labels", "f:l"], ["f:metadata", "f:name"]);

  it.each([
    {
      name: "exclude fields with their nested fields",
      filter: excluding(fieldSetOf(["f:status"])),
      want: [".spec.a", ".metadata.labels.l", ".metadata.name"],
    },
  ])("$name", ({ filter, want }) => {
    expect(textsOf(filter(set))).toEqual(new Set(want));
  });
});
