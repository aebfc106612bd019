/**
 * The tests against real Kubernetes; `npm run test:kube` runs them.
 *
 * One plane for all files, one file after the other: a story may then check that nothing else changed. Threads, not
 * processes: they end with the runner.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/kube/**/*.story.test.ts"],
    globalSetup: ["test/kube/global-setup.ts"],
    setupFiles: ["test/kube/show-logs.ts"],
    pool: "threads",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
  },
});
