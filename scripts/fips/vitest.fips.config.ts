/** The suite of vitest.config.ts, in workers that check first that FIPS is enabled. */
import { join } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";
import suite from "../../vitest.config.ts";

export default mergeConfig(
  suite,
  defineConfig({ root: join(import.meta.dirname, "../.."), test: { setupFiles: [join(import.meta.dirname, "probe.ts")] } }),
);
