/** `npm run check`: the one gate. `--only layers,docs` and `--skip tests` narrow it. */
import { systemClock } from "#base";
import { PARTS } from "./check/parts.ts";
import { chooseParts, runParts } from "./check/run-parts.ts";
import { projectRoot } from "./process/project.ts";

const parts = chooseParts(PARTS, process.argv.slice(2));
if (!parts.ok) {
  console.error(parts.error);
  process.exitCode = 2;
} else {
  const failed = await runParts(parts.value, projectRoot, systemClock, (line) => console.log(line));
  console.log(failed.length === 0 ? `check passed: ${parts.value.size} parts` : `check failed: ${failed.join(", ")}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
