/**
 * Run by scripts/clone/program-bundle.cjs: bundles the program of a clone into the folder of the argument and prints the key of its sources.
 *
 * Exit code 2: an error in the sources, which is on stderr. Any other one: there can be no bundle, and the program is run from the sources.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../process/project.ts";
import { bundle, type BundleError } from "./bundle.ts";
import { buildWithKey } from "./keyed-build.ts";
import { LATER } from "./later-parts.ts";

const [folder = ""] = process.argv.slice(2);
const options = { split: "program", later: LATER, clone: projectRoot } as const;
const built = await buildWithKey<BundleError>(
  () => bundle(join(projectRoot, "src/bin/lattice.ts"), join(folder, "lattice.js"), options),
  (message) => ({ kind: "build", message }),
);
if (built.ok) {
  // without it Node parses each file twice, to find out that it is an ES module
  await writeFile(join(folder, "package.json"), `{ "type": "module" }\n`);
  await writeFile(join(folder, "dependencies"), JSON.stringify(built.value.dependencies));
  console.log(built.value.key);
} else {
  console.error(built.error.message);
  process.exitCode = built.error.kind === "source" ? 2 : 1;
}
