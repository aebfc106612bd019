import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["test/kube/**", "test/long/**", "**/node_modules/**"],
    testTimeout: 30_000,
  },
});
