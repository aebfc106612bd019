import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldOrder, parseStrictJson } from "./strict-json.ts";

const duplicates: readonly { name: string; given: string; want: readonly string[] }[] = [
  { name: "a field given twice is named with its path", given: '{"a":{"b":1,"b":2}}', want: ['duplicate field "a.b"'] },
  { name: "three times is one finding", given: '{"a":1,"a":2,"a":3}', want: ['duplicate field "a"'] },
  { name: "elements of lists have an index", given: '{"l":[{},{"x":1,"x":1}]}', want: ['duplicate field "l[1].x"'] },
  { name: "lists in lists too", given: '[[{"x":1,"x":1}]]', want: ['duplicate field "[0][0].x"'] },
  { name: "escaped names are the same name", given: String.raw`{"a\"b":1,"a\u0022b":2}`, want: ['duplicate field "a"b"'] },
  { name: "the same name in two objects is fine", given: '{"a":{"x":1},"b":{"x":1}}', want: [] },
  { name: "text that looks like JSON is text", given: String.raw`{"a":"{\"x\":1,\"x\":2}"}`, want: [] },
];

test.each(duplicates)("$name", ({ given, want }) => {
  const read = parseStrictJson(given);
  expect(read.ok && read.value.duplicates).toEqual(want);
});

test("duplicates are not reported unless requested", () => {
  expect(parseStrictJson('{"a":1,"a":2}', false)).toEqual({ ok: true, value: { value: { a: 2 }, duplicates: [] } });
});

test("any JSON comes back as JSON.parse reads it, without duplicates", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseStrictJson(text)).toEqual({ ok: true, value: { value: JSON.parse(text), duplicates: [] } });
    }),
  );
});

const wrong: readonly { name: string; given: string; want: string }[] = [
  { name: "nothing", given: "", want: "unexpected end of JSON input" },
  { name: "an open object", given: '{"a":1', want: "unexpected end of JSON input" },
  { name: "an open string", given: '{"a', want: "unexpected end of JSON input" },
  { name: "YAML", given: "spec:\n  a: 1", want: "invalid character 's' looking for beginning of value" },
  { name: "a name without quotes", given: "{a:1}", want: "invalid character 'a' looking for beginning of object key string" },
  { name: "a trailing comma", given: '{"a":1,}', want: "invalid character '}' looking for beginning of object key string" },
  { name: "no colon", given: '{"a" 1}', want: "invalid character '1' after object key" },
  { name: "no comma in an object", given: '{"a":1 "b":2}', want: "invalid character '\"' after object key:value pair" },
  { name: "no comma in a list", given: "[1 2]", want: "invalid character '2' after array element" },
  { name: "an empty list element", given: "[1,,2]", want: "invalid character ',' looking for beginning of value" },
  { name: "text after the value", given: '{"a":1}x', want: "invalid character 'x' after top-level value" },
  { name: "a line break in a string", given: '"a\nb"', want: "invalid character '\\n' in string literal" },
  { name: "an unknown escape", given: String.raw`"\x"`, want: "invalid character 'x' in string escape code" },
  { name: "a broken escape", given: String.raw`"\u12g4"`, want: "invalid character 'g' in \\u hexadecimal character escape" },
  { name: "half a literal", given: "trux", want: "invalid character 'x' in literal true (expecting 'e')" },
  { name: "a lone minus", given: "-a", want: "invalid character 'a' in numeric literal" },
  { name: "a dot at the end", given: "[1.]", want: "invalid character ']' after decimal point in numeric literal" },
  { name: "an empty exponent", given: "[1e]", want: "invalid character ']' in exponent of numeric literal" },
  { name: "an apostrophe", given: "'a'", want: String.raw`invalid character '\'' looking for beginning of value` },
];

test.each(wrong)("Go's message for $name", ({ given, want }) => {
  expect(parseStrictJson(given)).toEqual({ ok: false, error: want });
});

test("every text that is not JSON has an error message", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[{}[\]",:0-9a-e\\ .-]{0,12}$/), (text) => {
      const read = parseStrictJson(text);
      if (!read.ok) expect(read.error).toMatch(/^(unexpected end|invalid character)/);
    }),
  );
});

test("fields are numbered in the order of the text", () => {
  expect([...fieldOrder('{"b":{"c":1},"a":[{"d":1}]}').keys()]).toEqual(["b", "b.c", "a", "a[0].d"]);
});
