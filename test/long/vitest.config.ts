import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { sampledFiles } from "../../scripts/vitest/sampled-files.ts";

const root = join(import.meta.dirname, "../..");

export default defineConfig({
  root,
  test: {
    include: ["test/long/**/*.test.ts", ...sampledFiles(root)],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: false, // each may use the whole machine
  },
});
