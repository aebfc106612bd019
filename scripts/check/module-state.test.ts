import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { checkModuleState } from "./module-state.ts";

const names = async (files: Record<string, string>) =>
  (await checkModuleState(await fileTree(files), [])).map(({ file, line, message }) => `${file}:${line} ${message.split(":")[0]}`);

describe("checkModuleState refuses", () => {
  const rows: { name: string; text: string }[] = [
    { name: "a Map that starts empty", text: "const known = new Map<string, number>();" },
    { name: "an exported one", text: "export const known = new Map<string, number>();" },
    { name: "a WeakMap", text: "const known = new WeakMap<object, number>();" },
    { name: "a Set", text: "const known = new Set<string>();" },
    { name: "a list", text: "const known: string[] = [];" },
    { name: "an object as a map", text: "const known: Record<string, number> = {};" },
    { name: "a variable", text: "let known: string | undefined;" },
    { name: "variables from a pattern", text: "let [known] = [1];" },
    { name: "a constant that the file fills", text: `const KNOWN = new Map([["a", 1]]);\nexport const add = () => KNOWN.set("b", 2);` },
    { name: "a cast collection", text: "const known = new Map() as Map<string, number>;" },
  ];
  it.each(rows)("$name", async ({ text }) => {
    expect(await names({ "src/kube/a.ts": `\n${text}\n` })).toEqual([expect.stringMatching(/^src\/kube\/a\.ts:2 /)]);
  });

  it("an exception that is no longer needed", async () => {
    const root = await fileTree({ "src/kube/a.ts": "const a = 1;" });
    expect(await checkModuleState(root, [{ file: "src/kube/a.ts", name: "known", why: "was needed" }])).toMatchObject([
      { file: "src/kube/a.ts" },
    ]);
  });
});

describe("checkModuleState allows", () => {
  const rows: { name: string; files: Record<string, string> }[] = [
    { name: "constant collections", files: { "src/kube/a.ts": `const KINDS = new Set(["Pod"]);\nconst kinds = new Map([["a", 1]]);` } },
    {
      name: "empty constants that are typed read-only",
      files: { "src/kube/a.ts": "const none: ReadonlyMap<string, number> = new Map();" },
    },
    {
      name: "empty constants in capitals",
      files: { "src/kube/a.ts": "export const NO_AMOUNTS: Amounts = new Map();\nconst NONE: readonly number[] = [];" },
    },
    {
      name: "Maps of functions and classes",
      files: { "src/kube/a.ts": "export function f() {\n  const seen = new Set();\n  let n = 0;\n  return [seen, n];\n}" },
    },
    {
      name: "memos",
      files: { "src/kube/a.ts": `import { memoize } from "#base";\nexport const f = memoize({ limit: 1 }, (key: string) => key);` },
    },
    {
      name: "tests, scripts and the program",
      files: { "src/a/a.test.ts": "let a = 1;", "scripts/a.ts": "let a = 1;", "src/bin/a.ts": "let a = 1;" },
    },
  ];
  it.each(rows)("$name", async ({ files }) => {
    expect(await names(files)).toEqual([]);
  });

  it("named exceptions", async () => {
    const root = await fileTree({ "src/kube/a.ts": "const known = new WeakMap();" });
    expect(await checkModuleState(root, [{ file: "src/kube/a.ts", name: "known", why: "weak" }])).toEqual([]);
  });
});
