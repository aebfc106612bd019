/** Kubernetes' own strategic-merge tables, where they are available: they are not copied into the project. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const corpus = fileURLToPath(new URL("../../../shared/conformance/smp/run.mjs", import.meta.url));
const adapter = fileURLToPath(new URL("./smp-adapter.mjs", import.meta.url));

test.skipIf(!existsSync(corpus))("every case of Kubernetes' strategic-merge tables agrees", () => {
  const output = execFileSync(process.execPath, [corpus, adapter], { encoding: "utf8" });
  expect(output).toMatch(/TOTAL (\d+)\/\1 skipped 2/);
});
