/**
 * The program that stories start: the bundle of `npm test` and `npm run test:fips`, which starts five times as fast, or the source in a run of
 * single files. scripts/test.ts sets the variable after it has built the bundle from the current source.
 */
import { join } from "node:path";
import { projectRoot } from "../../scripts/process/project.ts";

export const TEST_DIST = process.env["LATTICE_TEST_DIST"];
export const PROGRAM = TEST_DIST === undefined ? join(projectRoot, "src/bin/lattice.ts") : join(TEST_DIST, "lattice.js");
