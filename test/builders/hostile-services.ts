/**
 * Hostile LatticeServices as text, and the expected result of each: it compiles, or is rejected with this message. The same rows
 * run through `lattice compile` and through the controller.
 */

export type HostileService = {
  readonly name: string;
  readonly given: string;
  /** The data of the ConfigMap of its variables, or a part of the error. */
  readonly want: { readonly compiles: Readonly<Record<string, string>> } | { readonly refused: string };
  /** The schema in the cluster rejects it before compilation; the command line has only the parser. */
  readonly notYaml?: true;
};

const head = (name = "api") => `apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: ${name}, namespace: shop}\n`;
const withVariables = (variables: string) => `${head()}spec: {containers: {main: {image: "a:1", variables: ${variables}}}}\n`;

const PLACEHOLDERS = 10_000;
const bomb = [
  "x0: &x0 [a, a, a, a, a, a, a, a, a, a]",
  ...Array.from({ length: 12 }, (_, at) => `x${at + 1}: &x${at + 1} [${Array.from({ length: 10 }, () => `*x${at}`).join(", ")}]`),
].join("\n");

export const hostileServices: readonly HostileService[] = [
  {
    name: "names of Object.prototype as variables",
    given: withVariables("{constructor: a, toString: b, hasOwnProperty: c}"),
    want: { compiles: { constructor: "a", toString: "b", hasOwnProperty: "c" } },
  },
  { name: "__proto__ as a variable", given: withVariables('{"__proto__": x}'), want: { refused: "__proto__" } },
  {
    name: "__proto__ as a container",
    given: `${head()}spec: {containers: {__proto__: {image: "a:1"}}}\n`,
    want: { refused: "containers" },
  },
  {
    name: "__proto__ as a resource",
    given: `${head()}spec: {containers: {main: {image: "a:1"}}, resources: {__proto__: {type: redis}}}\n`,
    want: { refused: "__proto__" },
  },
  {
    name: "__proto__ as a param",
    given: `${head()}spec: {containers: {main: {image: "a:1"}}, resources: {r: {type: redis, params: {__proto__: {polluted: "1"}}}}}\n`,
    want: { refused: "__proto__" },
  },
  {
    name: "__proto__ as a port",
    given: `${head()}spec: {containers: {main: {image: "a:1"}}, service: {ports: {__proto__: {port: 80}}}}\n`,
    want: { refused: "__proto__" },
  },
  {
    name: "__proto__ in a template",
    given: withVariables('{A: "${resources.__proto__.polluted}", B: "${__proto__.x}", C: "${config.constructor.name}"}'),
    want: { refused: "__proto__" },
  },
  { name: "a variable of ten megabytes", given: withVariables(`{A: "${"x".repeat(10_000_000)}"}`), want: { refused: "A" } },
  {
    name: "variables of a megabyte each, which no ConfigMap holds",
    given: withVariables(`{A: "${"x".repeat(900_000)}", B: "${"y".repeat(400_000)}"}`),
    want: { refused: "the ConfigMap for it would hold 1300000 bytes, and may hold 1048576" },
  },
  {
    name: "ten thousand placeholders in one variable",
    given: withVariables(`{A: "${"${metadata.name}".repeat(PLACEHOLDERS)}"}`),
    want: { compiles: { A: "api".repeat(PLACEHOLDERS) } },
  },
  {
    name: "ten thousand unclosed placeholders",
    given: withVariables(`{A: "${"${".repeat(PLACEHOLDERS)}"}`),
    want: { refused: "variable 'A'" },
  },
  {
    name: "ten thousand escapes",
    given: withVariables(`{A: "${"$${".repeat(PLACEHOLDERS)}"}`),
    want: { compiles: { A: "${".repeat(PLACEHOLDERS) } },
  },
  {
    name: "YAML with exponentially nested aliases",
    given: `${withVariables("{A: b}")}${bomb}\n`,
    want: { refused: "aliases are not accepted" },
    notYaml: true,
  },
  {
    name: "deeply nested YAML",
    given: `${withVariables("{A: b}")}x: ${"[".repeat(5_000)}\n`,
    want: { refused: "nest" },
    notYaml: true,
  },
  { name: "a name in unicode", given: `${head('"ünï"')}spec: {containers: {main: {image: "a:1"}}}\n`, want: { refused: "metadata.name" } },
  {
    name: "a name with a Cyrillic letter that looks Latin",
    given: `${head('"аpi"')}spec: {containers: {main: {image: "a:1"}}}\n`,
    want: { refused: "metadata.name" },
  },
  { name: "a container in unicode", given: `${head()}spec: {containers: {"ünï": {image: "a:1"}}}\n`, want: { refused: "containers" } },
  { name: "a variable in unicode", given: withVariables('{"ÜNÏ": x}'), want: { refused: "variables" } },
  {
    name: "values in unicode, and values that look like YAML",
    given: withVariables('{A: "ünï ☃ 漢字 😀", B: "on", C: "0x10", D: "- a"}'),
    want: { compiles: { A: "ünï ☃ 漢字 😀", B: "on", C: "0x10", D: "- a" } },
  },
  {
    name: "terminal commands in a template",
    given: withVariables('{A: "${resources.\\e[2J.x}"}'),
    want: { refused: "is not declared" },
  },
];
