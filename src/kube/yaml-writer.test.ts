import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dumpYaml, formatYaml } from "./yaml.ts";
import { writePlainYaml } from "./yaml-writer.ts";

const NEVER = () => {
  throw new Error("asked for a scalar");
};

describe("writePlainYaml", () => {
  const object = {
    apiVersion: "v1",
    metadata: { name: "a-b", labels: { "app.kubernetes.io/name": "a" }, finalizers: [] },
    data: { "a.yaml": "x: 1\n\n  y: 2\n", b: "no end\nof line", c: "https://a.b/c", d: "two parts" },
    spec: {
      cpu: "500m",
      memory: "1.5Gi",
      replicas: -3,
      enabled: true,
      none: null,
      empty: {},
      ports: ["80", "*", "10.0.0.0/8", ""],
      args: ["--port=80", ["nested", { a: 1, b: [2] }]],
    },
  };

  it("formats an object as js-yaml does, without calling it", () => {
    expect(writePlainYaml(object, NEVER)).toBe(dumpYaml(object));
  });

  const strange: { name: string; given: unknown }[] = [
    { name: "a text alone", given: "a" },
    { name: "nothing", given: undefined },
    { name: "an empty map", given: { a: undefined } },
    { name: "lines that begin with a space", given: { a: " b\nc" } },
    { name: "lines that end with two line breaks", given: { a: "b\n\n" } },
    { name: "a name with a line break", given: { "a\nb": 1 } },
    { name: "a very long name", given: { ["a".repeat(2_000)]: 1 } },
    { name: "a function", given: { a: () => {} } },
  ];
  it.each(strange)("leaves $name to js-yaml", ({ given }) => {
    expect(writePlainYaml(given, () => "x")).toBeUndefined();
  });

  const scalars = [
    "",
    "on",
    "Yes",
    "NULL",
    "~",
    "0644",
    "1e3",
    "1.5",
    "-1",
    "- a",
    "-",
    "--",
    "---",
    "...",
    "#a",
    "a #b",
    "a: b",
    "a:",
    ":a",
    "a:b",
  ];
  const more = [
    "=",
    "a=",
    "<<",
    "!a",
    "&a",
    "*a",
    "@a",
    "`a",
    "'a",
    '"a',
    "a'b",
    "{a}",
    "[a]",
    "a, b",
    "a\tb",
    "a\u00a0b",
    "\u2028",
    "é",
    "😀",
    "100m",
    "8080",
    "0",
    "9".repeat(400),
    "10.0.0.1",
    "10.0.0.0/8",
    "1.2.3",
    "*",
    "**",
    "1Gi",
  ];
  it.each([
    ...scalars,
    ...more,
    " a",
    "a ",
    "a  b",
    "a :b",
    "/a",
    "_",
    "__proto__",
    "\r",
    "a\rb\nc",
    "a\n",
    "\n",
    "\n\n",
    "a\n b\n",
    "a\n\nb",
  ])("writes %j as a name and as a value as js-yaml does", (text) => {
    const given = { [text]: text, list: [text, [text], { a: text }], last: text };
    expect(formatYaml(given)).toBe(dumpYaml(given));
  });

  it("formats any JSON as js-yaml does", () => {
    const word = fc.string({ unit: fc.constantFrom(..."aZ019-_./:;=#, '\"{}[]\n\t@%é~yn".split("")), maxLength: 6 });
    const leaf = fc.oneof(word, fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("tree"), { maxLength: 4 }), fc.dictionary(word, tie("tree"), { maxKeys: 4 })),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(formatYaml(value)).toBe(dumpYaml(value));
      }),
      { numRuns: 300 },
    );
  });
});
