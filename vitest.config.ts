import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // examples in docs/ import the package by its name, and a clone has no dist/ yet
  resolve: { alias: { "@lattice-fleet/lattice/compile": fileURLToPath(new URL("src/compile/index.ts", import.meta.url)) } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["test/kube/**", "test/long/**", "**/node_modules/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // every core has a worker (the default leaves one to vitest itself, which has little to do), and a worker runs many files: loading
    // the modules again for each file would take longer than the tests
    maxWorkers: "100%",
    isolate: false,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"], // named, so that a file no test imports counts as uncovered
      exclude: ["src/**/*.test.ts", "src/**/*.test-support.ts"],
      reporter: ["lcovonly", "html"], // scripts/line-coverage reads lcov.info; the limits stand there
      reportsDirectory: "coverage",
      reportOnFailure: true, // a failing test is no reason to keep the figures back
    },
  },
});
