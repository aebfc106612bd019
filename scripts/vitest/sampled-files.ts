/** The test files that run a sample in `npm test` and all of their rounds in `npm run test:long`: those that import test/builders/rounds.ts or crash-points.ts. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const IMPORTS_SAMPLE = /^import .* from "[^"]*\/builders\/(rounds|crash-points)\.ts";$/m;

export function sampledFiles(root: string): readonly string[] {
  const files = globSync(["src/**/*.test.ts", "test/stories/**/*.test.ts"], { cwd: root });
  return files.filter((file) => IMPORTS_SAMPLE.test(readFileSync(join(root, file), "utf8"))).toSorted();
}
