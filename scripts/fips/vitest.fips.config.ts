/** The suite of vitest.config.ts, in workers that check first that FIPS is enabled. */
import { join } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";
import suite from "../../vitest.config.ts";

/**
 * Crashes at hundreds of points, each of which repeats the same cryptography: they take a third of the suite's time. pivot-e2e and the tests beside them run the
 * same code under the provider.
 */
const REPETITIONS = [
  "src/operator/cell/pivot/pivot-matrix.test.ts",
  "src/operator/cell/pivot/pivot-crashes.test.ts",
  "src/install/install-crashes.test.ts",
  "src/pivot/mover/model.test.ts",
  "src/pivot/mover/mutants.test.ts",
  "test/stories/move-servers.test.ts",
  "test/stories/self-managed.test.ts",
  "test/stories/laptop-fleet.test.ts",
];

export default mergeConfig(
  suite,
  defineConfig({
    root: join(import.meta.dirname, "../.."),
    test: { setupFiles: [join(import.meta.dirname, "probe.ts")], exclude: REPETITIONS },
  }),
);
