/** The test files that run a sample in `npm test` and all of their rounds in `npm run test:long`: those that import test/builders/rounds.ts. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const IMPORTS_ROUNDS = /^import .* from "[^"]*\/builders\/rounds\.ts";$/m;

export function sampledFiles(root: string): readonly string[] {
  const files = globSync(["src/**/*.test.ts", "test/stories/**/*.test.ts"], { cwd: root });
  return files.filter((file) => IMPORTS_ROUNDS.test(readFileSync(join(root, file), "utf8"))).toSorted();
}
