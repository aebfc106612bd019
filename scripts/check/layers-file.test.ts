import { describe, expect, it } from "vitest";
import { parseLayers } from "./layers-file.ts";

const parse = (layers: unknown) => parseLayers(JSON.stringify({ $comment: "x", layers }));

describe("parseLayers", () => {
  it("reads what each folder may do", () => {
    expect(
      parse({
        base: { may: [], node: ["node:crypto"], order: ["a", "b"] },
        kube: { what: "objects", may: ["base"], pure: true, why: { base: "Result" } },
      }),
    ).toEqual({
      ok: true,
      value: new Map([
        ["base", { may: [], pure: false, node: ["node:crypto"], what: "", order: ["a", "b"] }],
        ["kube", { may: ["base"], pure: true, node: undefined, what: "objects", order: undefined }],
      ]),
    });
  });

  const rows: { name: string; given: unknown; want: string }[] = [
    {
      name: "a misspelt key",
      given: { kube: { may: [], pur: true } },
      want: `kube: unknown key "pur"; known are what, may, pure, node, why, order`,
    },
    {
      name: "a circle",
      given: { a: { may: ["b"] }, b: { may: ["a"] } },
      want: "a may import b, which does not stand above it in layers.json",
    },
    { name: "itself", given: { a: { may: ["a"] } }, want: "a may import a, which does not stand above it in layers.json" },
  ];
  it.each(rows)("refuses $name", ({ given, want }) => {
    expect(parse(given)).toEqual({ ok: false, error: [want] });
  });
});
