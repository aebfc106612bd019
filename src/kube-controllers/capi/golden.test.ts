/** The simulator beside the real managers of Cluster API: the same scenario, and the same golden file. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runScenario } from "../../../test/conformance/cluster-api/scenario.ts";
import { CapiWorld } from "./capi-world.test-support.ts";
import { InMemoryBackend } from "./in-memory-backend.test-support.ts";

test("the life of one cluster is that of the real managers", async () => {
  await using world = await CapiWorld.start({ providers: ["docker"] });
  const backend = new InMemoryBackend(world);
  const chapters = await runScenario({
    client: world.parent.client,
    until: (_, holds) => world.until(holds),
    quiet: () => world.live(15_000),
    failNode: (name) => backend.failNode(name),
  });
  if (process.env["RAW"] !== undefined) writeFileSync(process.env["RAW"], JSON.stringify(chapters));
  expect(chapters.length).toBeGreaterThan(5);
});
