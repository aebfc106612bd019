/**
 * `npm run build`: dist/lattice.js (the program), one file per public entry point, and dist/types (declarations). `npm pack` runs it first.
 *
 * All messages are on stderr: scripts read the stdout of npm pack, the name of the tarball.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildEntries, ENTRIES } from "./build/entries.ts";
import { projectRoot, toolPath } from "./process/project.ts";
import { runNode } from "./process/run-program.ts";

const dist = join(projectRoot, "dist");
await rm(dist, { recursive: true, force: true });
const built = await buildEntries(dist);
const problems = built.ok ? [] : [...built.error];
const types = await runNode(toolPath("tsc"), ["-p", "tsconfig.build.json", "--pretty", "false"], { cwd: projectRoot });
if (types.code !== 0) problems.push(`dist/types was not built:\n${types.stdout}${types.stderr}`);
const files = ENTRIES.map(({ file }) => file).join(", ");
console.error(problems.length === 0 ? `built ${files} and types in dist/` : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
