/**
 * The simulator beside the real managers of Cluster API: the same scenario must give the golden file that the real managers have written.
 * test/kube/all/cluster-api-golden.story.test.ts writes it.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SIMULATOR_DIFFERENCES, withoutDifferences } from "../../../test/builders/cluster-api/differences.ts";
import { runScenario } from "../../../test/builders/cluster-api/scenario.ts";
import { storyText } from "../../../test/builders/cluster-api/story-text.ts";
import { CapiWorld } from "./capi-world.test-support.ts";
import { InMemoryBackend } from "./in-memory-backend.test-support.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const golden = read("test/builders/cluster-api/golden.txt");
/** Longer than any interval at which a controller looks again while nothing changes. */
const QUIET_MS = 15_000;

describe("the simulator and the real managers of Cluster API", () => {
  let world: CapiWorld;
  let story = "";

  beforeAll(async () => {
    world = await CapiWorld.start({ providers: ["docker"] });
    const backend = new InMemoryBackend(world);
    const chapters = await runScenario({
      client: world.parent.client,
      until: (_, holds) => world.until(holds),
      quiet: () => world.live(QUIET_MS, QUIET_MS / 3),
      failNode: (name) => backend.failNode(name),
    });
    story = storyText(chapters);
  }, 300_000);
  afterAll(() => world.end());

  test("the life of one cluster is the same, but for the listed differences", () => {
    expect(story).toBe(withoutDifferences(golden));
  });

  test.each(SIMULATOR_DIFFERENCES)("$kind $field is only in the golden file", (difference) => {
    expect(withoutDifferences(golden, [difference])).not.toBe(golden);
    expect(withoutDifferences(story, [difference])).toBe(story);
  });
});

test.each(SIMULATOR_DIFFERENCES)("the guide lists $kind $field", ({ kind, field, why }) => {
  expect(read("docs/guides/clusters.md").split("\n")).toContain(`| ${kind} | \`${field.replace(/^annotation /, "")}\` | ${why} |`);
});
