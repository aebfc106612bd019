/**
 * A vitest reporter that writes the counts to the file named by LATTICE_TEST_COUNTS.
 *
 * The JSON report of vitest lacks errors outside tests. vitest loads a reporter by its default export.
 */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import { countTests, type FileOutcome } from "./counts.ts";

export const COUNTS_FILE = "LATTICE_TEST_COUNTS";

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errorsOutside: readonly unknown[]): void {
    const file = process.env[COUNTS_FILE];
    if (file !== undefined) writeFileSync(file, JSON.stringify(countTests(modules.map(outcomeOf), errorsOutside.length)));
  }
}

function outcomeOf(module: TestModule): FileOutcome {
  return { failed: module.state() === "failed", tests: [...module.children.allTests()].map((test) => test.result().state) };
}
