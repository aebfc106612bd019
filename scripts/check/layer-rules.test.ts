import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { layerProblems } from "./layer-rules.ts";
import { parseLayers } from "./layers-file.ts";
import { scanSource } from "./scan-source.ts";

const layers = expectOk(
  parseLayers(
    JSON.stringify({
      layers: {
        base: { may: [], node: ["node:crypto"] },
        kube: { may: ["base"], pure: true },
        pki: { may: ["base"] },
        controllers: { may: ["base", "kube", "pki"] },
        bin: { may: ["controllers"] },
      },
    }),
  ),
);
const packages = { shipped: new Set(["zod", "@scope/lib"]), all: new Set(["zod", "@scope/lib", "vitest"]) };

function problems(path: string, text: string): readonly string[] {
  return layerProblems(path, scanSource(path, text), layers, packages).map(({ message }) => message);
}

type Row = { name: string; path: string; given: string; want: string[] };

describe("source may", () => {
  const rows: Omit<Row, "want">[] = [
    { name: "import its own files", path: "src/kube/a/b.ts", given: `import "../c.ts"; export * from "./d.ts";` },
    { name: "import an allowed folder", path: "src/kube/a.ts", given: `import { ok } from "#base";` },
    { name: "import packages that are shipped", path: "src/kube/a.ts", given: `import "zod/v4"; import "@scope/lib/deep";` },
    { name: "import Node's modules where it is not pure", path: "src/pki/a.ts", given: `import "node:tls";` },
    { name: "import the one module it was given", path: "src/base/a.ts", given: `import "node:crypto";` },
    { name: "use clocks where it is not pure", path: "src/base/a.ts", given: `Date.now(); setTimeout(f); process.platform;` },
    { name: "use everything in bin", path: "src/bin/a.ts", given: `process.exit(Number(process.env.X)); console.log(process.argv);` },
    {
      name: "name globals in comments, texts and types",
      path: "src/kube/a.ts",
      given: `// Date.now()\nconst a = "process.env"; let b: Date;`,
    },
  ];
  it.each(rows)("$name", ({ path, given }) => {
    expect(problems(path, given)).toEqual([]);
  });
});

describe("source may not", () => {
  const rows: Row[] = [
    {
      name: "reach into another folder",
      path: "src/kube/a.ts",
      given: `import "../base/x.ts";`,
      want: ["imports src/base/x.ts; import another folder as #base"],
    },
    {
      name: "import a folder above its rank",
      path: "src/kube/a.ts",
      given: `import type { A } from "#controllers";`,
      want: ["kube may not import controllers (layers.json)"],
    },
    {
      name: "import an unknown folder",
      path: "src/kube/a.ts",
      given: `import "#nowhere";`,
      want: ["kube may not import nowhere (layers.json)"],
    },
    {
      name: "import itself by its alias",
      path: "src/kube/a.ts",
      given: `import "#kube";`,
      want: ["kube imports itself by #kube; inside a folder import the file"],
    },
    {
      name: "import tests",
      path: "src/kube/a.ts",
      given: `import "../../test/builders/x.ts";`,
      want: ["imports test/builders/x.ts, which is outside src"],
    },
    {
      name: "import scripts",
      path: "src/pki/a.ts",
      given: `import "../../scripts/x.ts";`,
      want: ["imports scripts/x.ts, which is outside src"],
    },
    {
      name: "import tools",
      path: "src/pki/a.ts",
      given: `import "vitest";`,
      want: ["imports vitest, which is not in package.json's dependencies"],
    },
    {
      name: "compute an import",
      path: "src/pki/a.ts",
      given: `await import(x);`,
      want: ["imports a computed name; write it as text, so that it can be checked"],
    },
    { name: "leave node: out", path: "src/pki/a.ts", given: `import "fs";`, want: [`imports "fs"; write "node:fs"`] },
    { name: "use Node where it is pure", path: "src/kube/a.ts", given: `import "node:fs";`, want: ["kube is pure and imports node:fs"] },
    {
      name: "use more of Node than it was given",
      path: "src/base/a.ts",
      given: `import "node:fs";`,
      want: ["base may not import node:fs (layers.json)"],
    },
    {
      name: "import process",
      path: "src/pki/a.ts",
      given: `import { env } from "node:process";`,
      want: ["imports node:process; only src/bin may"],
    },
    ...[
      "setTimeout(f)",
      "setInterval(f)",
      "Date.now()",
      "new Date()",
      "fetch(a)",
      "process.platform",
      "performance.now()",
      "Math.random()",
      "crypto.subtle",
      "globalThis.x",
    ].map((given) => ({
      name: `${given} where it is pure`,
      path: "src/kube/a.ts",
      given,
      want: [`kube is pure and uses ${given.replace(/^new |\(.*$/g, "")}`],
    })),
    ...["process.exit(1)", "process.env.X", "process.argv", "console.log(1)", "globalThis.console.log(1)"].map((given) => ({
      name: `${given} outside bin`,
      path: "src/controllers/a.ts",
      given,
      want: [`uses ${/^\w+\.\w+/.exec(given)?.[0]}; only src/bin may`],
    })),
    {
      name: "take process apart outside bin",
      path: "src/pki/a.ts",
      given: `const { env } = process;`,
      want: ["uses process; only src/bin may"],
    },
  ];
  it.each(rows)("$name", ({ path, given, want }) => {
    expect(problems(path, given)).toEqual(want);
  });
});

describe("tests, benches and scripts", () => {
  const rows: Row[] = [
    {
      name: "a test imports any folder by its alias",
      path: "src/kube/a.test.ts",
      given: `import "#controllers"; import "#kube"; import "vitest";`,
      want: [],
    },
    { name: "a test uses time and Node", path: "src/kube/a.test.ts", given: `import "node:fs"; Date.now(); process.env.X;`, want: [] },
    { name: "a test uses builders", path: "src/kube/a.test.ts", given: `import "../../test/builders/x.ts";`, want: [] },
    { name: "test support uses builders", path: "src/kube/a.test-support.ts", given: `import "../../test/builders/x.ts";`, want: [] },
    {
      name: "a test may not reach into another folder",
      path: "src/kube/a.test.ts",
      given: `import "../base/x.ts";`,
      want: ["imports src/base/x.ts; import another folder as #base"],
    },
    {
      name: "a test may not import scripts",
      path: "src/kube/a.test.ts",
      given: `import "../../scripts/x.ts";`,
      want: ["imports scripts/x.ts, which is outside src"],
    },
    {
      name: "test/ may not reach into src",
      path: "test/stories/a.test.ts",
      given: `import "../../src/base/x.ts";`,
      want: ["imports src/base/x.ts; import another folder as #base"],
    },
    {
      name: "scripts import scripts and computed names",
      path: "scripts/a.ts",
      given: `import "./b.ts"; import "../test/builders/x.ts"; await import(x);`,
      want: [],
    },
    {
      name: "scripts import only declared packages",
      path: "scripts/a.ts",
      given: `import "left-pad";`,
      want: ["imports left-pad, which is not in package.json"],
    },
  ];
  it.each(rows)("$name", ({ path, given, want }) => {
    expect(problems(path, given)).toEqual(want);
  });
});
