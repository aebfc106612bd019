/**
 * `npm run test:long`: tests that take too long for every change: fresh clones, packages, many rounds of random input.
 *
 * LATTICE_SEED and LATTICE_ROUNDS configure the random ones. Without a seed each run has a new one and prints it, so that a failure can be
 * repeated.
 */
import { join } from "node:path";
import { freshDist } from "./build/fresh-dist.ts";
import { projectRoot } from "./process/project.ts";
import { formatCounts } from "./vitest/counts.ts";
import { runVitest } from "./vitest/run-vitest.ts";

const seed = process.env["LATTICE_SEED"] || String(Math.floor(Math.random() * 0x1_0000_0000));
const rounds = process.env["LATTICE_ROUNDS"] || "1000";
const again = `LATTICE_SEED=${seed} LATTICE_ROUNDS=${rounds} npm run test:long`;
console.log(`to repeat this run: ${again}`);

const args = ["--config", join(projectRoot, "test/long/vitest.config.ts"), ...process.argv.slice(2)];
// limits of time and memory are those of the bundle, which users run
const env = { ...process.env, LATTICE_SEED: seed, LATTICE_ROUNDS: rounds, LATTICE_LONG: "1", LATTICE_TEST_DIST: await freshDist() };
const { code, counts } = await runVitest({ root: projectRoot, args, env });
console.log(`\nran test/long; to repeat it: ${again}\n${formatCounts(counts)}`);
process.exitCode = code === 0 && counts.failed === 0 ? 0 : 1;
