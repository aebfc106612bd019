/**
 * `npm run build`: dist/lattice.js (the program, one file) and dist/types (declarations). `npm pack` runs it first.
 *
 * Everything is said on stderr: npm pack's own stdout is the name of the tarball, and scripts read it.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { bundleProgram } from "./build/bundle.ts";
import { projectRoot, toolPath } from "./process/project.ts";
import { runNode } from "./process/run-program.ts";

const dist = join(projectRoot, "dist");
await rm(dist, { recursive: true, force: true });
const bundled = await bundleProgram(join(projectRoot, "src", "bin", "lattice.ts"), join(dist, "lattice.js"));
const types = await runNode(toolPath("tsc"), ["-p", "tsconfig.build.json", "--pretty", "false"], { cwd: projectRoot });
if (!bundled.ok) console.error(`dist/lattice.js was not built: ${bundled.error}`);
if (types.code !== 0) console.error(`dist/types was not built:\n${types.stdout}${types.stderr}`);
if (bundled.ok && types.code === 0) console.error("built dist/lattice.js and dist/types");
else process.exitCode = 1;
