/** `npm run bench`: all of bench/, one after the other; `npm run bench -- NAME` runs one, `--json` prints for programs. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { formatResult, isTooLarge, type Bench } from "./bench/bench.ts";
import { chooseBenches, findBenches } from "./bench/find-benches.ts";
import { projectRoot } from "./process/project.ts";

const args = process.argv.slice(2);
const json = args.includes("--json");
const known = await findBenches(projectRoot);
const chosen = chooseBenches(
  known,
  args.filter((arg) => arg !== "--json"),
);
if (!chosen.ok) {
  console.error(chosen.error);
  process.exitCode = 2;
} else {
  if (!json) console.log(`benches: ${known.join(", ") || "none yet"}`);
  for (const name of chosen.value) await runBench(name);
}

async function runBench(name: string): Promise<void> {
  const bench = (await import(pathToFileURL(join(projectRoot, "bench", `${name}.ts`)).href)) as Bench;
  for (const result of await bench.run()) {
    console.log(json ? JSON.stringify({ bench: name, ...result }) : formatResult(name, result));
    if (isTooLarge(result)) process.exitCode = 1;
  }
}
