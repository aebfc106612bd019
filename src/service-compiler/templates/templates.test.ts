import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { err, ok, reveal } from "#base";
import { byteLength } from "./budget.ts";
import { fields, lookUp, scopeOf, type TemplateNamespace, type TemplateScope } from "./scope.ts";
import { literal, renderText } from "./render.ts";
import { hasPlaceholders, parseTemplate } from "./template.ts";
import { joined, plain, secret, type ExternalReference, type Value } from "./value.ts";

const metadata = fields(
  "metadata",
  new Map([
    ["name", "api"],
    ["labels.app.kubernetes.io/part-of", "shop"],
  ]),
  "",
);
const cluster = fields(
  "cluster",
  new Map([
    ["name", "east"],
    ["region", undefined],
  ]),
  "set it with --cluster-region",
);
const config = fields(
  "config",
  new Map([
    ["redis.host", "r"],
    ["level", "info"],
  ]),
  "",
);
const environment = fields("environment", new Map([["name", "prod"]]), "");
const outside: ExternalReference = { store: { kind: "SecretStore", name: "vault" }, key: "app", property: "key", refreshInterval: "1h" };
const resources: TemplateNamespace = ([name, output]) => {
  const value = new Map<string, Value>([
    ["db.host", plain("db.prod")],
    ["db.password", secret("hunter2")],
    ["out.key", { kind: "external", parts: [outside] }],
  ]).get(`${name}.${output}`);
  return value === undefined ? err({ message: "there is no such thing" }) : ok({ value, source: `output "${output}" of "${name}"` });
};
const freshScope = (): TemplateScope =>
  scopeOf([
    ["metadata", metadata],
    ["cluster", cluster],
    ["config", config],
    ["environment", environment],
    ["resources", resources],
  ]);
const scope = freshScope();

function textOf(template: string): string {
  const rendered = renderText(template, scope);
  if (!rendered.ok) return rendered.error.map(({ line, column, message }) => `${line}:${column} ${message}`).join("\n");
  const { value } = rendered.value;
  return value.kind === "plain" ? value.text : value.kind === "sensitive" ? `secret ${reveal(value.text)}` : JSON.stringify(value.parts);
}

describe("a template becomes", () => {
  const rows: readonly { name: string; given: string; want: string }[] = [
    { name: "itself without placeholders", given: "info", want: "info" },
    { name: "nothing when it is empty", given: "", want: "" },
    { name: "its value", given: "${metadata.name}", want: "api" },
    { name: "text and values in their order", given: "a ${metadata.name} b ${config.level} c", want: "a api b info c" },
    { name: "a value under a dotted key", given: "${config.redis.host}", want: "r" },
    { name: "the same under its longer name", given: "${service.config.redis.host}", want: "r" },
    { name: "the environment under its short name", given: "${env.name}", want: "prod" },
    { name: "a name with dots, behind backslashes", given: "${metadata.labels.app\\.kubernetes\\.io/part-of}", want: "shop" },
    { name: "a dollar and brace where it is escaped", given: "$${metadata.name}", want: "${metadata.name}" },
    { name: "an escape next to a value", given: "$${a}${metadata.name}", want: "${a}api" },
    { name: "a value right behind a lone dollar's escape", given: "$$${x}", want: "$${x}" },
    { name: "lone dollars and braces as they are", given: "$ $$ {x} }", want: "$ $$ {x} }" },
    {
      name: "sensitive when one part is",
      given: "postgres://${resources.db.host}:${resources.db.password}",
      want: "secret postgres://db.prod:hunter2",
    },
    { name: "a recipe when a part is outside", given: "k=${resources.out.key}", want: `["k=",${JSON.stringify(outside)}]` },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(textOf(given)).toBe(want));
});

describe("a template is refused, with the position and the remedy", () => {
  const rows: readonly { name: string; given: string; want: string }[] = [
    { name: "no end", given: "a\nbc${x", want: "2:3 '${' has no '}'; close it, or write '$${' for a literal '${'" },
    { name: "nothing inside", given: "${}", want: "1:1 '${}' names nothing; write what to fill in, such as ${metadata.name}" },
    { name: "one in another", given: "${a${b}}", want: "1:1 '${a${b}' has a '${' inside; a placeholder cannot contain another" },
    { name: "a space", given: "${ metadata.name }", want: "1:1 '${ metadata.name }' has a space inside; write the path without spaces" },
    { name: "an empty name", given: "${metadata..name}", want: "1:1 '${metadata..name}' has an empty name between its dots" },
    {
      name: "an unknown namespace",
      given: "${metadat.name}",
      want: `1:1 \${metadat.name}: 'metadat' is not a template namespace; did you mean "metadata"?; there are metadata, cluster, config, environment, resources`,
    },
    { name: "an unknown name", given: "${metadata.nam}", want: `1:1 \${metadata.nam}: metadata has no 'nam'; did you mean "name"?` },
    { name: "only a namespace", given: "${cluster}", want: "1:1 ${cluster}: 'cluster' names a template namespace without a value in it" },
    {
      name: "a name without a value",
      given: "${cluster.region}",
      want: "1:1 ${cluster.region}: cluster.region is not set; set it with --cluster-region",
    },
    {
      name: "all at once",
      given: "${}\n${metadata.nam} ${x",
      want: "1:1 '${}' names nothing; write what to fill in, such as ${metadata.name}\n2:17 '${' has no '}'; close it, or write '$${' for a literal '${'",
    },
    {
      name: "a value from outside with one from a Secret",
      given: "${resources.db.password}${resources.out.key}",
      want: "1:1 this mixes a value of External Secrets with one from a Secret; give each a variable or file of its own",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(textOf(given)).toBe(want));

  test("a placeholder that is too long", () => {
    expect(textOf(`\${${"a".repeat(2_000)}}`)).toBe("1:1 a placeholder of 2000 characters is too long; is a '}' missing before it?");
  });
});

test("each value has its origin", () => {
  const rendered = renderText("${resources.db.host} ${resources.db.password}", scope);
  expect(rendered.ok && rendered.value.origins).toEqual([
    { placeholder: "resources.db.host", source: 'output "host" of "db"', sensitive: false },
    { placeholder: "resources.db.password", source: 'output "password" of "db"', sensitive: true },
  ]);
  expect(literal("${x}")).toEqual({ value: plain("${x}"), origins: [] });
});

test("names of JavaScript's built-in properties are unknown names", () => {
  for (const path of [["__proto__", "x"], ["metadata", "constructor"], ["toString"]]) expect(lookUp(scope, path).ok).toBe(false);
});

test("a template of a single placeholder keeps the kind of its value", () => {
  const one = secret("x");
  expect(joined([one])).toBe(one);
  expect(joined([])).toEqual(plain(""));
});

test("ten thousand placeholders are filled in, and one more is refused", () => {
  const many = renderText("${metadata.name},".repeat(10_000), freshScope());
  expect(many.ok && many.value.value).toEqual(plain("api,".repeat(10_000)));
  const more = "the templates of the service up to this one have more than 10000 placeholders together; use fewer";
  for (const count of [10_001, 50_000])
    expect(renderText("${metadata.name},".repeat(count), freshScope())).toEqual(
      err([{ message: more, line: 1, column: 1, exceeded: true }]),
    );
});

test("at most ten mistakes of one template are listed, in its syntax or in its names", () => {
  for (const mistake of ["${metadata.nam}\n", "${a..b}\n"]) {
    const wrong = renderText(mistake.repeat(10_000), freshScope());
    expect(!wrong.ok && wrong.error.map(({ line, column }) => [line, column])).toEqual(Array.from({ length: 10 }, (_, at) => [at + 1, 1]));
  }
});

test("after a budget was exceeded nothing more is looked up", () => {
  const looked: string[] = [];
  const values: TemplateNamespace = ([name = ""]) => {
    looked.push(name);
    return ok({ value: plain("x".repeat(600_000)), source: name });
  };
  const small = scopeOf([["values", values]]);
  expect(renderText("${values.a}${values.b}${values.c}", small)).toMatchObject({ ok: false, error: [{ exceeded: true }] });
  expect(renderText("${values.d}", small)).toMatchObject({ ok: false, error: [{ repeated: true }] });
  expect(looked).toEqual(["a", "b"]);
});

test("references to external stores count too: they can double like texts", () => {
  const parts = Array.from({ length: 2_000 }, () => outside);
  const many = scopeOf([["many", () => ok({ value: { kind: "external", parts }, source: "many" })]]);
  expect(renderText("${many.a}", many).ok).toBe(true);
  expect(renderText("${many.a}${many.a}", many)).toMatchObject({ ok: false, error: [{ exceeded: true }] });
});

test.each([
  { text: "abc", bytes: 3 },
  { text: "é", bytes: 2 },
  { text: "漢", bytes: 3 },
  { text: "😀", bytes: 4 },
])("$text has $bytes bytes", ({ text, bytes }) => expect(byteLength(text)).toBe(bytes));

test("escaped text is rendered unchanged", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("$", "{", "}", "a", "\n") })), (text) => {
      // a function: in a replacement text "$$" means "$"
      const escaped = text.replaceAll("${", () => "$${");
      const rendered = renderText(escaped, scope);
      expect(rendered).toEqual(ok({ value: plain(text), origins: [] }));
    }),
  );
});

test("no text makes the parser throw, and what has no '${' is one part", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("$", "{", "}", ".", "a", "\\", "\n") }), (text) => {
      const parsed = parseTemplate(text);
      if (!hasPlaceholders(text)) expect(parsed).toEqual(ok(text === "" ? [] : [text]));
      else expect(typeof parsed.ok).toBe("boolean");
    }),
  );
});
