/** Texts and their YAML, as a real kube-apiserver 1.36.3 wrote them. */
import { expect, test } from "vitest";
import { parseYaml } from "#kube";
import fc from "fast-check";
import { formatGoYaml } from "./go-yaml.ts";

const TEXTS: readonly { readonly given: string; readonly want: string }[] = [
  { given: "plain", want: "plain" },
  { given: "true", want: '"true"' },
  { given: "y", want: '"y"' },
  { given: "", want: '""' },
  { given: "~", want: '"~"' },
  { given: "1.5", want: '"1.5"' },
  { given: "1e3", want: '"1e3"' },
  { given: "0x1f", want: '"0x1f"' },
  { given: "2020-01-01", want: '"2020-01-01"' },
  { given: "=", want: "=" },
  { given: "x: y", want: "'x: y'" },
  { given: " lead", want: "' lead'" },
  { given: "- x", want: "'- x'" },
  { given: "it's", want: "it's" },
  { given: "a # b", want: "'a # b'" },
  { given: "{a}", want: "'{a}'" },
  { given: "!x", want: "'!x'" },
  { given: "@x", want: "'@x'" },
  { given: "%x", want: "'%x'" },
  { given: "'x", want: "'''x'" },
  { given: "tab\there", want: '"tab\\there"' },
  { given: 'quote " and \\ back', want: 'quote " and \\ back' },
  { given: "ünï", want: "ünï" },
  { given: "\u0001", want: '"\\x01"' },
  { given: "line\nline2\n", want: "|\n  line\n  line2" },
  { given: "a\nb", want: "|-\n  a\n  b" },
  { given: "a\n\n", want: "|+\n  a\n" },
  { given: " a\nb", want: "|2-\n   a\n  b" },
  { given: "a \nb", want: '"a \\nb"' },
];

test.each(TEXTS)("the text $given is written $want", ({ given, want }) => {
  expect(formatGoYaml({ k: given })).toBe(`k: ${want}\n`);
});

test("keys are sorted by Go's rules, quoted where they must be", () => {
  expect(formatGoYaml({ b: 1, a10: 1, a2: 1, y: 1, ".": 1, "k:{}": 1, "": 1 })).toBe('"": 1\n.: 1\na2: 1\na10: 1\nb: 1\nk:{}: 1\n"y": 1\n');
});

test("lists are not indented, empty ones are on the line of their key", () => {
  const value = { list: [{ a: 1, b: [1, [2]] }, "x"], none: [], nothing: {}, nil: null, absent: undefined };
  expect(formatGoYaml(value)).toBe("list:\n- a: 1\n  b:\n  - 1\n  - - 2\n- x\nnil: null\nnone: []\nnothing: {}\n");
});

test("a long line is broken at the first space after column 80", () => {
  const text = "very long text ".repeat(8).trim();
  expect(formatGoYaml({ metadata: { p: text } })).toBe(
    "metadata:\n  p: very long text very long text very long text very long text very long text very\n    long text very long text very long text\n",
  );
});

test("written YAML parses to the same value", () => {
  const leaf = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean(), fc.constant(null));
  const value = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(fc.string({ maxLength: 6 }), tie("tree"), { maxKeys: 3 }),
    ),
  })).tree;
  fc.assert(
    fc.property(value, (given) => {
      const read = parseYaml(formatGoYaml({ given }));
      expect(read.ok ? read.value[0] : read.error).toEqual({ given: JSON.parse(JSON.stringify(given)) as unknown });
    }),
  );
});
