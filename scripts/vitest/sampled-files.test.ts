import { expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { sampledFiles } from "./sampled-files.ts";

it("test:long also runs the test files of npm test that take a sample of their rounds", async () => {
  const sampled = `import { expect } from "vitest";\nimport { roundsOf } from "../../test/builders/rounds.ts";\n`;
  const root = await fileTree({
    "src/kube/sampled.test.ts": sampled,
    "test/stories/deep/sampled.test.ts": `import { roundsOf } from "../../builders/rounds.ts";\n`,
    "src/kube/other.test.ts": `// roundsOf stands in builders/rounds.ts\n`,
    "src/kube/no-test.ts": sampled,
  });
  expect(sampledFiles(root)).toEqual(["src/kube/sampled.test.ts", "test/stories/deep/sampled.test.ts"]);
});
