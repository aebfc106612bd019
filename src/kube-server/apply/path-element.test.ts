import { describe, expect, it } from "vitest";
import { ok } from "#base";
import { goCompareText, goJsonText, goNumberText, goPlainText, goQuote, goSourceText, goTypeText, type Json } from "#kube";
import { compareValues, keyElement, parsePathElement, pathText, sortElements, storedPathText, valueElement } from "./path-element.ts";

describe("path elements", () => {
  it.each([
    { name: "keys are sorted and values written as JSON", text: 'k:{"protocol":"TCP", "port":80}', want: 'k:{"port":80,"protocol":"TCP"}' },
    { name: "values escape HTML characters", text: 'v:"a<b>&c"', want: 'v:"a\\u003cb\\u003e\\u0026c"' },
    { name: "field names are not escaped", text: "f:a<b/c:d", want: "f:a<b/c:d" },
    { name: "an empty name is a name", text: "f:", want: "f:" },
    { name: "numbers have no trailing zeros", text: "v:1.0", want: "v:1" },
    { name: "indexes", text: "i:+07", want: "i:7" },
    { name: "unknown kinds of path elements are skipped", text: "x:1", want: undefined },
  ])("reads $text: $name", ({ text, want }) => {
    expect(parsePathElement(text)).toEqual(ok(want));
  });

  it.each(["", "f", "fx", "k:[1]", "k:{", "v:", "v:{", "i:x", "i:1.5"])("%j is an error", (text) => {
    expect(parsePathElement(text).ok).toBe(false);
  });

  it("sort as the Go library sorts: fields, keys, values, indexes; numbers as numbers", () => {
    const sorted = [
      "f:a",
      "f:b",
      'k:{"a":1}',
      'k:{"a":1,"b":1}',
      'k:{"a":2}',
      'k:{"b":0}',
      "v:1.5",
      "v:2",
      "v:10",
      'v:"1"',
      "v:false",
      "v:true",
      "v:[1]",
      "v:[1,2]",
      'v:{"a":1}',
      "v:null",
      "i:2",
      "i:10",
    ];
    expect(sortElements(sorted.toReversed())).toEqual(sorted);
    expect(compareValues({ a: 1 }, { a: 1 })).toBe(0);
  });

  it("are printed in a readable form", () => {
    const key = keyElement([
      ["n", 1.5],
      ["t", 'a"b'],
    ]);
    expect(pathText(["f:spec", key, valueElement("x"), valueElement(null), valueElement(true), "i:3"])).toBe(
      '.spec[n=1.5,t="a\\"b"][="x"][=null][=true][3]',
    );
    expect(pathText([valueElement(1_000_000)])).toBe("[=1000000]");
    expect(storedPathText([valueElement(1_000_000)])).toBe("[=1e+06]");
    expect(pathText([valueElement([1, "a"]), valueElement({ a: 1 })])).toBe('[=[1,"a"]][=a=1]');
  });
});

describe("Go's texts", () => {
  it.each([
    { given: 80, want: "80" },
    { given: 1e20, want: "1e+20" },
    { given: 1_000_000, want: "1000000" },
    { given: 1_234_567.5, want: "1.2345675e+06" },
    { given: 123_456.5, want: "123456.5" },
    { given: 0.0001, want: "0.0001" },
    { given: 0.000_01, want: "1e-05" },
  ])("prints $given as $want", ({ given, want }) => {
    expect(goNumberText(given)).toBe(want);
  });

  it("quotes special characters", () => {
    expect(goQuote('a\u00a0b\x7f\u200bc é😀\x01\n\\"')).toBe('"a\\u00a0b\\x7f\\u200bc é😀\\x01\\n\\\\\\""');
    expect(goQuote("\u{e0001}")).toBe('"\\U000e0001"');
  });

  it.each<{ name: string; value: Json; plain: string; source: string; type: string }>([
    { name: "text", value: "x", plain: "x", source: '"x"', type: "string" },
    { name: "whole numbers", value: 1, plain: "1", source: "1", type: "int64" },
    { name: "numbers", value: 1.5, plain: "1.5", source: "1.5", type: "float64" },
    { name: "booleans", value: true, plain: "true", source: "true", type: "bool" },
    { name: "nothing", value: null, plain: "<nil>", source: "interface {}(nil)", type: "<nil>" },
    { name: "lists", value: ["x", null], plain: "[x <nil>]", source: '[]interface {}{"x", interface {}(nil)}', type: "[]interface {}" },
    {
      name: "maps",
      value: { b: 1, a: 2 },
      plain: "map[a:2 b:1]",
      source: 'map[string]interface {}{"a":2, "b":1}',
      type: "map[string]interface {}",
    },
  ])("prints $name", ({ value, plain, source, type }) => {
    expect([goPlainText(value), goSourceText(value), goTypeText(value)]).toEqual([plain, source, type]);
  });

  it.each<{ value: Json | undefined; want: string }>([
    { value: "\b\f\n\u2028\\", want: '"\\u0008\\u000c\\n\\u2028\\\\"' },
    { value: 1e-7, want: "1e-07" },
    { value: 1e21, want: "1e+21" },
    { value: 2 ** 60, want: "1152921504606846976" },
    { value: { b: [true, null], a: -0 }, want: '{"a":0,"b":[true,null]}' },
    { value: undefined, want: "null" },
  ])("writes JSON as $want", ({ value, want }) => {
    expect(goJsonText(value)).toBe(want);
  });

  it("compares by UTF-8 bytes", () => {
    expect(["b", "a", "ab", "\uffee", "😀"].toSorted(goCompareText)).toEqual(["a", "ab", "b", "\uffee", "😀"]);
    expect(goCompareText("😀", "😁")).toBeLessThan(0);
  });
});
