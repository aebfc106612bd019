/** Columns and cells; the results of each path were recorded from kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { Json, KubeObject } from "#kube";
import { parseJsonPath } from "./json-path.ts";
import { tablePrinter } from "./table.ts";

const NOW = Date.UTC(2020, 0, 1, 1);
const OBJECT = {
  apiVersion: "widgets.lattice.test/v1",
  kind: "Widget",
  metadata: { name: "x", creationTimestamp: "2020-01-01T00:00:00Z", labels: { "a/b": "2" } },
  spec: {
    s: "str",
    i: 5,
    f: 2.5,
    b: true,
    list: ["x", "y", "z", "w"],
    m: { a: 1, "a.b": 2 },
    nul: null,
    objs: [{ k: 1 }, { k: 2 }, { k: 3 }],
    big: 1e21,
    e: "",
    empty: [],
    mixed: [{ k: "a" }, { k: 2.5 }, { k: true }, { k: null }],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True", n: 1, ok: true },
      { type: "Other", status: "False", n: 2, ok: false },
    ],
  },
} as unknown as KubeObject;

const TYPES = ["string", "integer", "number", "boolean", "date", "other"];

function cellsOf(jsonPath: string): readonly Json[] {
  const columns = TYPES.map((type) => ({ name: type, type, format: "", description: "", priority: 0, jsonPath }));
  return tablePrinter(columns).cells(OBJECT, NOW).slice(1);
}

describe("a cell has a value of its type:", () => {
  test.each([
    { name: "a text", given: ".spec.s", want: ["str", null, null, null, "<invalid>", null] },
    { name: "an integer", given: ".spec.i", want: ["5", 5, 5, null, null, null] },
    { name: "a fraction", given: ".spec.f", want: ["2.5", 2, 2.5, null, null, null] },
    { name: "a boolean", given: ".spec.b", want: ["true", null, null, true, null, null] },
    { name: "null", given: ".spec.nul", want: ["<no value>", null, null, null, null, null] },
    { name: "nothing", given: ".spec.gone", want: [null, null, null, null, null, null] },
    { name: "a list", given: ".spec.list", want: ['["x","y","z","w"]', null, null, null, null, null] },
    { name: "a map", given: ".spec.m", want: ['{"a":1,"a.b":2}', null, null, null, null, null] },
    { name: "a number beyond 64 bits", given: ".spec.big", want: ["1e+21", -(2 ** 63), 1e21, null, null, null] },
    { name: "an empty text", given: ".spec.e", want: ["", null, null, null, "<unknown>", null] },
    { name: "a time", given: ".metadata.creationTimestamp", want: ["2020-01-01T00:00:00Z", null, null, null, "60m", null] },
  ])("$name", ({ given, want }) => {
    expect(cellsOf(given)).toEqual(want);
  });
});

describe("a path finds", () => {
  test.each([
    { given: ".spec.list[0]", want: ["x"] },
    { given: ".spec.list[-1]", want: ["w"] },
    { given: ".spec.list[*]", want: ["x", "y", "z", "w"] },
    { given: ".spec.list[1:3]", want: ["y", "z"] },
    { given: ".spec.list[:-1]", want: ["x", "y", "z"] },
    { given: ".spec.list[-2:]", want: ["z", "w"] },
    { given: ".spec.list[::2]", want: ["x", "z"] },
    { given: ".spec.list[::0]", want: [] },
    { given: ".spec.list[]", want: ["x"] },
    { given: ".spec.list[9]", want: [] },
    { given: ".spec.list[0:9]", want: [] },
    { given: ".spec.list[2:1]", want: [] },
    { given: ".spec.list[0,2]", want: ["x", "z"] },
    { given: ".spec.list[0,9]", want: [] },
    { given: ".spec.empty[*]", want: [] },
    { given: ".spec[*]", want: [] },
    { given: ".spec.nul[0]", want: [] },
    { given: ".spec.nul.x", want: [] },
    { given: ".spec.m.*", want: [1, 2] },
    { given: ".spec.m['a']", want: [1] },
    { given: ".spec.m['a','a']", want: [1, 1] },
    { given: ".spec.m['a.b']", want: [] },
    { given: ".spec.m['a\\.b']", want: [2] },
    { given: ".spec.m.a\\.b", want: [2] },
    { given: ".metadata.labels['a/b']", want: ["2"] },
    { given: "$.spec.s ", want: ["str"] },
    { given: ".", want: [] },
    { given: ".spec..k", want: [1, 2, 3, "a", 2.5, true, null] },
    { given: ".status.conditions..[0]", want: [] },
    { given: '.status.conditions[?(@.type=="Ready")].status', want: ["True"] },
    { given: ".status.conditions[?( @.type == 'Ready' )].status", want: ["True"] },
    { given: '.status.conditions[?(@.type!="Ready")].type', want: ["Other"] },
    { given: ".status.conditions[?(@.n>1)].type", want: ["Other"] },
    { given: ".status.conditions[?(@.n)].type", want: ["Ready", "Other"] },
    { given: ".status.conditions[?(@.gone)].type", want: [] },
    { given: ".status.conditions[?(@.gone==1)].type", want: [] },
    { given: ".status.conditions[?(@.ok==true)].type", want: ["Ready"] },
    { given: ".status.conditions[?(@.ok<true)].type", want: [] },
    { given: ".status.conditions[?(@.n=!2)].type", want: [] },
    { given: ".spec.objs[?(@.k<2)].k", want: [1] },
    { given: ".spec.objs[?(@.k<=2)].k", want: [1, 2] },
    { given: ".spec.objs[?(@.k>=2)].k", want: [2, 3] },
    { given: ".spec.objs[?(1<2)].k", want: [1, 2, 3] },
    { given: '.spec.objs[?(@.k=="2")].k', want: [] },
    { given: ".spec.mixed[?(@.k==2.5)].k", want: [] },
    { given: ".spec[?(@.x)]", want: [] },
    { given: ".spec.objs[?(@.k[0]==1)].k", want: [] },
  ])("$want with $given", ({ given, want }) => {
    const path = parseJsonPath(given);
    expect(path.ok ? path.value(OBJECT as unknown as Json) : path).toEqual(want);
  });

  test.each(['.spec.m["a"]', ".spec.list[", ".spec.list[a]", ".spec.list[0,a]", ".a{", ".a[?(a==1)]", ".a[?(@.a==b)]", ".a['b[']"])(
    "nothing with %s, which is no path",
    (given) => {
      expect(parseJsonPath(given).ok).toBe(false);
    },
  );
});

describe("the columns of a table", () => {
  const column = { name: "Size", type: "integer", format: "int32", description: "How big.", priority: 1, jsonPath: ".spec.i" };
  test("are those of the CRD after the name", () => {
    const { columns } = tablePrinter([column, { ...column, name: "Plain", description: "" }]);
    expect(columns.map(({ name, type, format, priority }) => [name, type, format, priority])).toEqual([
      ["Name", "string", "name", 0],
      ["Size", "integer", "int32", 1],
      ["Plain", "integer", "int32", 1],
    ]);
    expect(columns.slice(1).map(({ description }) => description)).toEqual([
      "How big.",
      "Custom resource definition column (in JSONPath format): .spec.i",
    ]);
  });
  test("are name and age when the CRD declares none", () => {
    const printer = tablePrinter([]);
    expect(printer.columns.map(({ name }) => name)).toEqual(["Name", "Age"]);
    expect(printer.cells(OBJECT, NOW)).toEqual(["x", "60m"]);
  });
  test("end at an invalid path", () => {
    expect(tablePrinter([column, { ...column, jsonPath: '.a["b"]' }, column]).columns).toHaveLength(2);
  });
});

describe("a path that multiplies its results", () => {
  const column = (jsonPath: string) => ({ name: jsonPath, type: "string", format: "", description: "", priority: 0, jsonPath });
  const nested = Array.from({ length: 60 }).reduce<Json>((below) => ({ a: below }), "bottom");
  const object = {
    ...OBJECT,
    spec: { first: "1", nested, wide: Array.from({ length: 60_000 }, () => ({ a: [1] })) },
  } as unknown as KubeObject;

  test.each([
    "..a..a..a..a..a..a..a",
    ".spec.wide[*].*.*.*",
    ".spec.wide[*]['a','a','a']",
    ".spec.wide[?(@..a)]",
    ".spec.wide[?(@.a[0]==1)]",
    ".spec.wide[0:60000]",
    ".spec.wide.*",
    `.spec${"@".repeat(60_000)}`,
  ])("%s finds nothing, and the other columns have values", (path) => {
    const { cells } = tablePrinter([column(".spec.first"), column(path), column(".spec.first")]);
    expect(cells(object, NOW)).toEqual(["x", "1", null, "1"]);
  });

  test("a row contains a bounded number of whole objects", () => {
    const large = { ...OBJECT, spec: { text: "x".repeat(100_000) } } as unknown as KubeObject;
    const { cells } = tablePrinter(Array.from({ length: 1_000 }, () => column(".spec")));
    expect(cells(large, NOW).filter((cell) => cell !== null).length).toBeLessThan(30);
  });
});
