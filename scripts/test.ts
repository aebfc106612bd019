/**
 * `npm test`: the whole suite with the coverage gate. With arguments (`npm test -- src/pki`) they are passed to vitest, and coverage is not
 * measured: it needs the whole suite.
 *
 * The very last line is read by programs: see scripts/vitest/counts.ts.
 */
import { freshDist } from "./build/fresh-dist.ts";
import { reportCoverage } from "./line-coverage/report.ts";
import { projectRoot } from "./process/project.ts";
import { formatCounts } from "./vitest/counts.ts";
import { runVitest } from "./vitest/run-vitest.ts";

const args = process.argv.slice(2);
const whole = args.length === 0;

// stories start the program many times: a bundle starts five times as fast as the source
const env = whole ? { ...process.env, LATTICE_TEST_DIST: await freshDist() } : process.env;
const { code, counts } = await runVitest({ root: projectRoot, args: whole ? ["--coverage"] : args, env });
const lines = [whole ? "ran the whole suite (src, test, scripts)" : `ran vitest with ${args.join(" ")}; coverage was not measured`];
let enough = true;
if (whole) {
  const coverage = await reportCoverage(projectRoot, process.env["LATTICE_BASE"]);
  enough = coverage.enough;
  lines.push(...coverage.lines);
}
lines.push("not run under the OpenSSL FIPS provider here; npm run test:fips does", formatCounts(counts));
console.log(`\n${lines.join("\n")}`);
process.exitCode = code === 0 && counts.failed === 0 && enough ? 0 : 1;
