/**
 * The gate as a program, in a copy of this repository.
 *
 * Each mistake is in its own file, and all are present at once: the gate reports each of them.
 */
import { appendFile, copyFile, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { addFiles, fileTree } from "../../test/builders/file-tree.ts";
import { generatedFiles } from "../generate/generated-files.ts";
import { projectRoot } from "../process/project.ts";
import { runNode, type Ran } from "../process/run-program.ts";
import { listFiles } from "./tree.ts";

/** Without types and lint, which have tests of their own: to check this repository takes them half a minute. */
const PARTS = ["format", "layers", "module-state", "crypto", "generated", "docs", "words", "names"];

/** Run directly and not through run.cjs: that would install into the linked node_modules. */
function runCheck(root: string, ...args: readonly string[]): Promise<Ran> {
  return runNode(join(root, "scripts/check.ts"), args, { cwd: root });
}

async function copyOfThisRepository(): Promise<string> {
  const root = await fileTree({});
  for (const file of await listFiles(projectRoot)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await copyFile(join(projectRoot, file), join(root, file));
  }
  await symlink(join(projectRoot, "node_modules"), join(root, "node_modules"));
  return root;
}

const MISTAKES: Readonly<Record<string, string>> = {
  "src/kube/upward.ts": `import { startOperator } from "#operator";\n\nexport const start = startOperator;\n`,
  "src/kube/sideways.ts": `export * from "../base/result.ts";\n`,
  "src/base/ugly.ts": `export   const ugly=1`,
  "src/kube-server/store/cycle.ts": `export type { ApiRequest } from "../protocol/request.ts";\n`,
  "src/kube-server/protocol/cycle.ts": `export type { Store } from "../store/index.ts";\n`,
  "src/base/nobody.ts": `/** Nobody reads it. */\nexport type KubeObject = string;\n`,
  "src/kube/growing.ts": `const known = new Map<string, number>();\n\nexport const count = (key: string) => known.set(key, 1).size;\n`,
  "src/base/weak-a.ts": `import { createHash } from "node:crypto";\n\nexport const weak = createHash("md5");\n`,
  "docs/wrong-block.md": "# Wrong\n\n```yaml\nkind: LatticeService\napiVersion: lattice.dev/v1alpha1\nspec: 1\n```\n",
  "docs/wrong-citation.md": "See src/base/not-there.ts.\n",
  "src/base/weak-b.ts": `import { createHash } from "node:crypto";\n\nexport const weak = createHash("sha1");\n`,
};

describe("npm run check", () => {
  it("names each mistake that is planted in this repository", { timeout: 240_000 }, async () => {
    const root = await copyOfThisRepository();
    const [generated] = generatedFiles().keys();
    await addFiles(root, MISTAKES);
    await appendFile(join(root, generated ?? ""), "# by hand\n");
    const { code, stdout } = await runCheck(root, "--only", PARTS.join(","));
    expect(code).toBe(1);
    for (const part of PARTS) expect(stdout).toMatch(new RegExp(`^FAIL {2}${part} `, "m"));
    for (const found of [
      "src/kube/upward.ts:1  kube may not import operator (layers.json)",
      "src/kube/sideways.ts:1  imports src/base/result.ts; import another folder as #base",
      "src/base/ugly.ts  is not formatted",
      "src/kube/growing.ts:1  known: a module may not fill a collection",
      "docs/wrong-block.md",
      '"nobody": name the client',
      "exports KubeObject, a name that src/base/nobody.ts exports too",
      "import cycle",
      "docs/wrong-citation.md:1  cites src/base/not-there.ts, which is not in the repository",
      "src/base/weak-a.ts:3  md5 is not allowed",
      "src/base/weak-b.ts:3  sha1 is not allowed",
      `${generated}  differs from its source; npm run generate writes it`,
    ]) {
      expect(stdout).toContain(found);
    }
  });

  it("refuses a part that does not exist, rather than checking nothing", async () => {
    expect(await runCheck(projectRoot, "--only", "typos")).toMatchObject({ code: 2, stdout: "" });
  });
});
