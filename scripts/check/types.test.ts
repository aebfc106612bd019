/** `ts` blocks of documents are checked with the tree. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { projectRoot } from "../process/project.ts";
import { formatFinding } from "./finding.ts";
import { checkTypes } from "./types.ts";

const fence = "```";
const block = (code: string, marks = "") => `${fence}ts${marks}\n${code}\n${fence}\n`;

const ROWS: { name: string; document: string; want: string[] }[] = [
  {
    name: "a block may use the package by its name, a folder by its alias, and `await`",
    document: block(
      `import { one } from "@x/y/lib";\nimport { one as same } from "#lib";\nconst two: number = (await Promise.resolve(one)) + same;`,
    ),
    want: [],
  },
  {
    name: "a mistake is named with its line in the document",
    document: `# Title\n\n${block(`import { one } from "@x/y/lib";\n\nconst text: string = one;`)}`,
    want: ["docs/a.md:6  TS2322: Type 'number' is not assignable to type 'string'."],
  },
  {
    name: "an export that does not exist is named",
    document: block(`import { two } from "@x/y/lib";`),
    want: ["docs/a.md:2  TS2305: Module '\"@x/y/lib\"' has no exported member 'two'."],
  },
  {
    name: "a block that is continued gives its names to the next one",
    document: `${block("const a = 1;")}text\n${block("export const b: string = a;", " continued")}`,
    want: ["docs/a.md:6  TS2322: Type 'number' is not assignable to type 'string'."],
  },
  {
    name: "a block does not see the names of others",
    document: block("const a = 1;") + block("a;"),
    want: ["docs/a.md:5  TS2304: Cannot find name 'a'."],
  },
  { name: "relative imports begin at the folder that is given", document: block(`import { one } from "./lib.ts";`, " in=src"), want: [] },
];

it.each(ROWS)("$name", async ({ document, want }) => {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    types: [],
    noUnusedLocals: true,
    allowImportingTsExtensions: true,
  };
  const root = await fileTree({
    "tsconfig.json": JSON.stringify({ compilerOptions, include: ["src"] }),
    "package.json": JSON.stringify({
      name: "@x/y",
      type: "module",
      exports: { "./lib": { source: "./src/lib.ts" }, "./package.json": "./package.json" },
      imports: { "#lib": { source: "./src/lib.ts" } },
    }),
    "src/lib.ts": "export const one: number = 1;\n",
    "docs/a.md": document,
  });
  await symlink(join(projectRoot, "node_modules"), join(root, "node_modules"));
  expect((await checkTypes(root)).map(formatFinding)).toEqual(want);
});
