/**
 * Runs the stories with vitest in this process: the end of this process, even by `kill -9`, then ends the stories and their control planes.
 * A vitest in its own process would continue.
 */
import { join } from "node:path";
import { parseCLI, startVitest, type Reporter, type TestModule } from "vitest/node";
import { projectRoot } from "../process/project.ts";
import ProgressReporter from "../vitest/progress-reporter.ts";
import { countTests, readCounts, type Counts, type FileOutcome } from "../vitest/counts.ts";

/** `vitest`: filters and options. */
export type Stories = { readonly all: boolean; readonly vitest: readonly string[] };

/** Long stories. */
const ONLY_WITH_ALL = "test/kube/all/**";

export async function runStories({ all, vitest }: Stories): Promise<Counts> {
  let counts: Counts | undefined;
  const counting: Reporter = {
    onTestRunEnd(modules, errorsOutside) {
      counts = countTests(modules.map(outcomeOf), errorsOutside.length);
    },
  };
  const { filter, options } = parseCLI(["vitest", "run", ...vitest]);
  await startVitest(filter, {
    ...options,
    root: projectRoot,
    run: true,
    watch: false,
    ...(all ? {} : { exclude: [ONLY_WITH_ALL, ...[options.exclude ?? []].flat()] }),
    config: join(projectRoot, "test/kube/vitest.config.ts"),
    reporters: [options.reporters ?? new ProgressReporter(), counting].flat(),
  });
  return readCounts(counts === undefined ? undefined : JSON.stringify(counts), Number(process.exitCode ?? 0));
}

function outcomeOf(module: TestModule): FileOutcome {
  return { failed: module.state() === "failed", tests: [...module.children.allTests()].map((test) => test.result().state) };
}
