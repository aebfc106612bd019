import { describe, expect, it } from "vitest";
import { normalise } from "./normalise.ts";
import type { Structural } from "./structural.ts";

const schema = (): Structural => ({
  properties: {
    field: { type: "string" },
    list: { items: { properties: { field: { type: "string" } } } },
    map: { additionalProperties: { type: "string" } },
    free: { "x-kubernetes-preserve-unknown-fields": true },
  },
});

describe("normalise", () => {
  const rows: { name: string; given: unknown; want: unknown }[] = [
    { name: "drops null and undefined from known fields", given: { field: null, free: undefined }, want: {} },
    { name: "drops null from maps", given: { map: { a: null, b: "c" } }, want: { map: { b: "c" } } },
    { name: "keeps null in lists, where it is a mistake", given: { list: [null, { field: null }] }, want: { list: [null, {}] } },
    { name: "keeps null where any fields are kept", given: { free: { a: null } }, want: { free: { a: null } } },
    { name: "keeps unknown fields, so that they can be refused by name", given: { other: null }, want: { other: null } },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(normalise(given, schema)).toEqual({ ok: true, value: want });
  });

  it("copies a value without nulls, and does not create the schema", () => {
    const given = { field: "a", list: [{ field: "b" }, "c"], free: { constructor: 1 } };
    const result = normalise(given, () => {
      throw new Error("asked");
    });
    expect(result).toEqual({ ok: true, value: given });
    expect(result.ok && (result.value as typeof given).list).not.toBe(given.list);
  });

  it("does not change its input", () => {
    const given = { field: null, list: [{ field: null }] };
    normalise(given, schema);
    expect(given).toEqual({ field: null, list: [{ field: null }] });
  });

  it.each(['{"__proto__": 1}', '{"map": {"__proto__": "a"}}', '{"free": {"a": [{"__proto__": {"b": 1}}]}}'])("refuses %s", (text) => {
    const result = normalise(JSON.parse(text), schema);
    expect(result.ok ? [] : result.error.map(({ message }) => message)).toEqual(['the name "__proto__" is not accepted; use another']);
  });

  it("rejects deep nesting", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 200; level++) deep = [deep];
    expect(normalise({ free: deep }, schema)).toMatchObject({
      ok: false,
      error: [{ message: "must not be nested deeper than 100 levels" }],
    });
  });
});
