import { describe, expect, it } from "vitest";
import { scanSource, withoutComments } from "./scan-source.ts";

const imports = (text: string) => scanSource("x.ts", text).imports.map(({ name }) => name);
const globals = (text: string) => scanSource("x.ts", text).globals.map(({ name }) => name);

describe("scanSource finds imports", () => {
  const rows: { name: string; given: string; want: string[] }[] = [
    { name: "import", given: `import { a } from "#a";`, want: ["#a"] },
    { name: "import for its effect", given: `import "./a.ts";`, want: ["./a.ts"] },
    { name: "import type", given: `import type { A } from "#a";`, want: ["#a"] },
    { name: "export from", given: `export { a } from "./a.ts"; export * from "./b.ts";`, want: ["./a.ts", "./b.ts"] },
    { name: "dynamic import", given: `const a = await import("#a");`, want: ["#a"] },
    { name: "import with a computed name", given: `const a = await import(name);`, want: ["(computed)"] },
    { name: "a type by import()", given: `type A = import("#a").A;`, want: ["#a"] },
    { name: "require", given: `const a = require("a");`, want: ["a"] },
    {
      name: "none in comments and strings",
      given: `// import "#a"\nconst a = 'import "#b"'; /* require("c") */ const t = \`import("#d")\`;`,
      want: [],
    },
    { name: "none in a plain export", given: `const a = 1;\nexport { a };`, want: [] },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(imports(given)).toEqual(want);
  });

  it("with their lines, also after characters of several bytes", () => {
    expect(scanSource("x.ts", `const µ = "日本𝒳";\n\nimport "#a";`).imports).toEqual([{ name: "#a", line: 3 }]);
  });
});

describe("scanSource finds globals", () => {
  const rows: { name: string; given: string; want: string[] }[] = [
    { name: "called", given: `setTimeout(f);`, want: ["setTimeout", "f"] },
    { name: "with their member", given: `process.env.HOME; Math.random();`, want: ["process.env", "Math.random"] },
    { name: "with a member in brackets", given: `process["exit"](1);`, want: ["process.exit"] },
    { name: "taken apart", given: `const { env } = process;`, want: ["process"] },
    { name: "inside a template", given: "`${Date.now()}`;", want: ["Date.now"] },
    { name: "behind a type assertion", given: `(Date as unknown); new Date();`, want: ["Date", "Date"] },
    { name: "in short form", given: `f({ fetch });`, want: ["f", "fetch"] },
    { name: "not as a type", given: `let a: Date; type P = typeof process; interface fetch { crypto: Date }`, want: [] },
    {
      name: "not as a name of something else",
      given: `f({ Date: 1 }); a.fetch; class A { crypto = 1; process() {} }`,
      want: ["f", "a.fetch"],
    },
    { name: "not in comments and strings", given: `/* Date */ "process.env"; // fetch`, want: [] },
    {
      name: "not where the file binds the name",
      given: `import { fetch } from "#a"; function f(process: X, { performance, ...crypto }: Y, [Date = 1]: Z) {} fetch(process.env, performance, crypto, Date);`,
      want: [],
    },
    {
      name: "not a caught error or a loop's variable",
      given: `try { } catch (console) { console; } for (const process of []) process;`,
      want: [],
    },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(globals(given)).toEqual(want);
  });
});

it("withoutComments keeps everything else where it was", () => {
  expect(withoutComments("x.ts", `a; /* x\ny */ b; // c\n"// d";`)).toBe(`a;     \n     b;     \n"// d";`);
});
