import { afterEach, describe, expect, it } from "vitest";
import { MemoryLink } from "../agent/memory-link.test-support.ts";

let world: MemoryLink;
afterEach(() => world.close());

async function connected(count: number): Promise<void> {
  world = new MemoryLink();
  for (let index = 0; index < count; index += 1) world.start(`c${index}`);
  await world.clock.advance(1_000);
  expect([...world.sessions.agents().values()].filter(({ connected: is }) => is)).toHaveLength(count);
}

describe("a cell that closes", () => {
  it("sends every agent the reason", async () => {
    await connected(1_000);
    await world.sessions.drain();
    await world.clock.advance(1);
    expect(new Set(world.links.map((link) => link.status().lastCloseReason))).toEqual(new Set(["the cell stops"]));
  });

  it("admits no agent and handles no message from the first turn on, and ends commands", async () => {
    await connected(3);
    const seen: string[] = [];
    world.sessions.subscribe((cluster) => void seen.push(cluster));
    const command = world.sessions.send("c0", { kind: "reconcile" }, new AbortController().signal);
    const before = world.sessions.agents().get("c1");
    const drained = world.sessions.drain();
    world.links[1]?.reportChanged();
    expect(world.sessions.admit({ cell: "c", cluster: "c9", serial: "01" })).toMatchObject({ error: { reason: "the cell stops" } });
    expect(await command).toMatchObject({ ok: false, error: { message: "the cell stops" } });
    await drained;
    await world.clock.advance(1);
    expect(world.sessions.agents().get("c1")?.lastHeartbeat).toEqual(before?.lastHeartbeat);
    expect(seen).toEqual([]);
  });
});
