/**
 * `npm run build`: dist/lattice.js (the program), one file per public entry point, and dist/types (declarations).
 * `npm pack` runs it first.
 *
 * Everything is said on stderr: npm pack's own stdout is the name of the tarball, and scripts read it.
 */
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { bundle } from "./build/bundle.ts";
import { projectRoot, toolPath } from "./process/project.ts";
import { runNode } from "./process/run-program.ts";

const dist = join(projectRoot, "dist");
/** What package.json's `bin` and `exports` name. */
const ENTRIES = {
  "lattice.js": "src/bin/lattice.ts",
  "patch.js": "src/patch/index.ts",
  "compile.js": "src/compile/index.ts",
  "kube-server.js": "src/embedded-cluster/index.ts",
  // Jest runs tests as CommonJS and cannot load anything else from there
  "kube-server.cjs": "src/embedded-cluster/index.ts",
};

/** Most runs need a part of these: a command, or an API server without its controllers. */
const SPLIT = new Set(["lattice.js", "kube-server.js"]);

await rm(dist, { recursive: true, force: true });
const problems: string[] = [];
for (const [file, entry] of Object.entries(ENTRIES)) {
  const bundled = await bundle(join(projectRoot, entry), join(dist, file), { split: SPLIT.has(file) });
  if (!bundled.ok) problems.push(`dist/${file} was not built: ${bundled.error}`);
}
const types = await runNode(toolPath("tsc"), ["-p", "tsconfig.build.json", "--pretty", "false"], { cwd: projectRoot });
if (types.code !== 0) problems.push(`dist/types was not built:\n${types.stdout}${types.stderr}`);
if (problems.length === 0) await chmod(join(dist, "lattice.js"), 0o755);
console.error(problems.length === 0 ? `built ${Object.keys(ENTRIES).join(", ")} and types in dist/` : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
