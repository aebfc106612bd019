import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk, ok } from "#base";
import { formatYaml, formatYamlDocuments, MAX_YAML_BYTES, parseYaml } from "./yaml.ts";

describe("parseYaml", () => {
  it.each([
    {
      name: "yes, on and y are booleans, as for kubectl",
      given: "a: yes\nb: on\nc: y\nd: off",
      want: { a: true, b: true, c: true, d: false },
    },
    { name: "0644 is octal, as for kubectl", given: "mode: 0644", want: { mode: 420 } },
    {
      name: "other integer forms",
      given: "a: 0x1F\nb: 0o17\nc: 0b11\nd: 1_000\ne: -7\nf: +5\ng: 0\nh: -0x10",
      want: { a: 31, b: 15, c: 3, d: 1000, e: -7, f: 5, g: 0, h: -16 },
    },
    { name: "times of day and dates are text", given: "a: 1:30\nb: 2026-01-01", want: { a: "1:30", b: "2026-01-01" } },
    { name: "quotes make text", given: "a: 'yes'\nb: \"0644\"", want: { a: "yes", b: "0644" } },
    { name: "keys become text", given: "8080: web", want: { "8080": "web" } },
    { name: "merge keys are plain keys", given: "<<: {a: 1}", want: { "<<": { a: 1 } } },
    {
      name: "quoted text that goes on too far left, as in Flagger's published CRDs",
      given: "a:\n  b: 'one\n  two\n\n  three'\n  c: \"four\\\n  five\n six\"\n",
      want: { a: { b: "one two\nthree", c: "fourfive six" } },
    },
    { name: "lists and maps that go on too far left", given: "a: [1,\n2\n]\nb: {\nc: 'd\ne'}\n", want: { a: [1, 2], b: { c: "d e" } } },
    { name: "floats and nulls", given: "a: 1.5\nb: ~\nc: 1e3", want: { a: 1.5, b: null, c: 1000 } },
  ])("$name", ({ given, want }) => {
    expect(expectOk(parseYaml(given))).toEqual([want]);
  });

  it("parses several documents and skips empty ones", () => {
    expect(expectOk(parseYaml("---\n---\na: 1\n---\nb: 2\n---\n"))).toEqual([{ a: 1 }, { b: 2 }]);
    expect(expectOk(parseYaml(""))).toEqual([]);
  });

  it.each([
    { name: "aliases", given: "a: &x [1]\nb: *x", want: { line: 2, message: expect.stringContaining("write the value out") as string } },
    { name: "tags", given: "a: !!js/function 'x'", want: { line: 1, message: expect.stringContaining("unknown scalar tag") as string } },
    {
      name: "integers that would be rounded",
      given: "a: 12345678901234567890",
      want: { message: expect.stringContaining("put it in quotes") as string },
    },
    { name: "infinity", given: "a: .inf", want: { message: expect.stringContaining("no form in JSON") as string } },
    { name: "duplicate keys", given: "a: 1\na: 2", want: { line: 2, message: "duplicated mapping key" } },
    { name: "a document that ends inside quotes", given: "a: 'b\n--- c'", want: { line: 2, column: 1 } },
    {
      name: "broken text after a line that is too far left, with its place",
      given: "a: 'b\nc'\nd: 'e\nf' g",
      want: { line: 4, column: 4 },
    },
    { name: "broken text, with its place", given: "a: [1,\nb", want: { line: 2, column: 2 } },
    { name: "deep nesting", given: "[".repeat(200), want: { message: expect.stringMatching(/deep|depth|nest/i) as string } },
    { name: "huge documents", given: " ".repeat(MAX_YAML_BYTES + 1), want: { message: "the document is larger than 10 MiB" } },
  ])("refuses $name", ({ given, want }) => {
    expect(parseYaml(given)).toMatchObject({ ok: false, error: { kind: "yaml", ...want } });
  });

  it("rejects text with too many lines that are indented too little, in bounded time", () => {
    const text = `a: '${"x\n".repeat(1_000)}${" ".repeat(1_000_000)}'\n`;
    expect(parseYaml(text)).toMatchObject({ ok: false, error: { message: "deficient indentation" } });
  });

  it("keeps a __proto__ key as a field and does not change a prototype", () => {
    const [document] = expectOk(parseYaml("__proto__: {polluted: true}"));
    expect(Object.keys(document as object)).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => typeof parseYaml(text).ok === "boolean"));
  });
});

describe("formatYaml", () => {
  it("formats numbers that are too large to be parsed, and quotes text that looks like one", () => {
    expect(formatYaml({ a: 2 ** 60, b: "9007199254740993" })).toBe("a: 1152921504606847000\nb: '9007199254740993'\n");
  });

  it("quotes text that kubectl would parse as another type", () => {
    expect(formatYaml({ a: "yes", b: "0644", on: 1, c: "1e3", d: "null", e: "09", f: "plain" })).toBe(
      "a: 'yes'\nb: '0644'\n'on': 1\nc: '1e3'\nd: 'null'\ne: '09'\nf: plain\n",
    );
  });

  it("omits undefined, at every depth", () => {
    expect(formatYaml({ a: undefined, b: [{ c: undefined, d: 1 }] })).toBe("b:\n  - d: 1\n");
  });

  it("is parsed to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        fc.pre(value !== null && !hasUnsafeInteger(value));
        expect(expectOk(parseYaml(formatYaml(value)))).toEqual([normalise(value)]);
      }),
    );
  });

  it("separates documents as kubectl expects them", () => {
    expect(formatYamlDocuments([{ a: 1 }, { b: 2 }])).toBe("---\na: 1\n---\nb: 2\n");
  });
});

function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeInteger);
}

/** -0 is formatted as 0. */
function normalise(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("the YAML 1.1 spellings of true and false", () => {
  const text = "variables: {NO: a, on: NO, y: 'yes', off: true}\n";

  it("are booleans by default, and text with the option yaml-1.2", () => {
    expect(parseYaml("a: {NO: a, b: NO}\n")).toEqual(ok([{ a: { false: "a", b: false } }]));
    expect(parseYaml(text, { booleans: "yaml-1.2" })).toEqual(ok([{ variables: { NO: "a", on: "NO", y: "yes", off: true } }]));
  });

  it("are quoted in output, as keys and as values, so that kubectl reads text", () => {
    const words = ["NO", "no", "on", "off", "y", "n", "yes", "True", "null", "~", "1e3", "0o7", "012", "0x1f", "1_000", ".5"];
    const written = formatYaml({ data: Object.fromEntries(words.map((word) => [word, word])) });
    expect(parseYaml(written)).toEqual(ok([{ data: Object.fromEntries(words.map((word) => [word, word])) }]));
    expect(written.match(/'[^']+': '[^']+'/g)).toHaveLength(words.length);
  });
});
