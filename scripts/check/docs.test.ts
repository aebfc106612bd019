import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { checkDocs } from "./docs.ts";
import { formatFinding } from "./finding.ts";

const folder = { "src/base/README.md": "# base\n", "src/base/index.ts": "export {};\n" };
const lines = (count: number) => "x\n".repeat(count);

describe("checkDocs", () => {
  const rows: { name: string; files: Record<string, string>; want: string[] }[] = [
    { name: "a folder with README and index passes", files: folder, want: [] },
    {
      name: "a folder without README and index is named",
      files: { "src/base/a.ts": "" },
      want: [
        "src/base/README.md  is missing; say in at most 30 lines what the folder is",
        "src/base/index.ts  is missing; it names what the folder exports",
      ],
    },
    { name: "a README of 30 lines passes", files: { ...folder, "src/base/README.md": lines(30) }, want: [] },
    {
      name: "a README of 31 lines is too long",
      files: { ...folder, "src/base/README.md": lines(31) },
      want: ["src/base/README.md  is longer than 30 lines"],
    },
    { name: "bin has no index", files: { "src/bin/README.md": "", "src/bin/lattice.ts": "" }, want: [] },
    {
      name: "a long file is pointed out",
      files: { "scripts/a.ts": lines(401) },
      want: ["warning: scripts/a.ts  has 401 lines; look again whether it is one thing"],
    },
    { name: "a file of 400 lines is not", files: { "scripts/a.ts": lines(400) }, want: [] },
    {
      name: "links to existing files pass",
      files: {
        "a.md": `[a](docs/b.md#part) [b](./docs/) [c](https://example.com/x) [d](#here) [e](/docs/b.md) ![f](docs/my%20pic.png "title")\n[g]: docs/b.md\n`,
        "docs/b.md": "[up](../a.md)",
        "docs/my pic.png": "",
      },
      want: [],
    },
    {
      name: "broken links are named with their line",
      files: { "docs/a.md": "text\n\n[a](b.md)\n[c]: ./d.md\n" },
      want: ["docs/a.md:3  links to b.md, which does not exist", "docs/a.md:4  links to ./d.md, which does not exist"],
    },
    { name: "links in code are examples", files: { "a.md": "```text\n[a](b.md)\n```\n`[c](d.md)`\n" }, want: [] },
    {
      name: "cited files and folders that exist pass",
      files: {
        ...folder,
        "src/base/a.ts": "/** See ./index.ts, README.md, src/base and base/index.ts (`src/NAME/*.ts`, dist/a.js, ADR 0001). */\n",
        "docs/adr/README.md": "[1](0001-a.md)",
        "docs/adr/0001-a.md": "",
        "CHANGELOG.md": "`src/gone.ts` was removed",
      },
      want: [],
    },
    {
      name: "cited files and folders that do not exist are named with their line",
      files: {
        ...folder,
        "docs/a.md": "text\n\nas `src/base/gone.ts` and NOTES.md have it\n\n```text\nsrc/base/example.ts\n```\n",
        "src/base/a.ts": 'const path = "src/x/y";\n// from ../other/list, ADR 0009\n\nconst b = 1; // GONE\n'.replace(
          "GONE",
          "gone.test.ts",
        ),
        "src/base/a.test.ts": 'test("as NAME 7 has it", () => {});\n'.replace("NAME", "DECISIONS"),
      },
      want: [
        "docs/a.md:3  cites src/base/gone.ts, which is not in the repository",
        "docs/a.md:3  cites NOTES.md, which is not in the repository",
        "src/base/a.test.ts:1  cites DECISIONS 7, which is not in the repository",
        "src/base/a.ts:2  cites ../other/list, which is not in the repository",
        "src/base/a.ts:2  cites ADR 0009, which is not in the repository",
        "src/base/a.ts:4  cites gone.test.ts, which is not in the repository",
      ],
    },
    {
      name: "an ADR that is not in the index is named",
      files: { "docs/adr/README.md": "[1](0001-a.md)", "docs/adr/0001-a.md": "", "docs/adr/0002-b.md": "" },
      want: ["docs/adr/0002-b.md  is not listed in docs/adr/README.md"],
    },
  ];
  const entry = (source: string, index = 'export { a, type B } from "./a.ts";\n') => ({
    "package.json": JSON.stringify({
      exports: { "./base": { types: "./dist/types/base/index.d.ts" }, "./package.json": "./package.json" },
      imports: { "#other": { source: "./src/other/index.ts" } },
    }),
    ...folder,
    "src/base/index.ts": index,
    "src/base/a.ts": source,
  });
  const documented = "/** B */\nexport type B = 1;\n/**\n * A.\n * @example a()\n */\nexport async function a() {}\n";
  const publicRows: { name: string; files: Record<string, string>; want: string[] }[] = [
    { name: "documented public exports pass", files: entry(documented), want: [] },
    {
      name: "a public type may go without an example, a function may not",
      files: entry("/** a */\nexport const a = 1;\n/** B */\nexport type B = 1;\n"),
      want: ["src/base/a.ts:2  a is public and its doc comment has no @example"],
    },
    {
      name: "a type in a public signature is exported, too",
      files: entry(
        `import type { C } from "#other";\n/**\n * A.\n * @example a()\n */\nexport function a(c: C, d: D): Promise<B> {\n  const hidden: Hidden = c;\n}\ntype D = 1;\ntype Hidden = 2;\n/** B */\nexport type B<T = 1> = { readonly c: C; readonly t: T };\n`,
      ),
      want: [
        "src/base/a.ts:6  a is public and its signature has C, which src/base/index.ts does not export",
        "src/base/a.ts:6  a is public and its signature has D, which src/base/index.ts does not export",
        "src/base/a.ts:12  B is public and its signature has C, which src/base/index.ts does not export",
      ],
    },
    {
      name: "private members of a public class are not part of its signature",
      files: entry(
        `/**\n * A.\n * @example new a()\n */\nexport class a {\n  readonly #c: C;\n  private d: C;\n  e(): C {}\n}\nexport type C = 1;\n/** B */\nexport type B = 1;\n`,
      ),
      want: ["src/base/a.ts:5  a is public and its signature has C, which src/base/index.ts does not export"],
    },
    {
      name: "the comment of something else does not count",
      files: entry(documented.replace("export type B", "const c = 1;\nexport type B")),
      want: ["src/base/a.ts:3  B is public and has no doc comment"],
    },
    {
      name: "an export is followed to another folder",
      files: {
        ...entry("", 'export { c } from "#other";\n'),
        "src/other/README.md": "",
        "src/other/index.ts": 'export { c } from "./c.ts";\n',
        "src/other/c.ts": "export class c {}\n",
      },
      want: ["src/other/c.ts:1  c is public and has no doc comment"],
    },
    {
      name: "an export without a declaration is named",
      files: entry("", 'export type { A as B } from "./a.ts";\n'),
      want: ["src/base/a.ts  does not declare A, which a public entry point exports"],
    },
  ];
  it.each([...rows, ...publicRows])("$name", async ({ files, want }) => {
    expect((await checkDocs(await fileTree(files))).map(formatFinding)).toEqual(want);
  });
});
