/** Commands of a cell to the agent service of a child, and what it acknowledges. */
import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { RenewalWorld } from "../renewal-world.test-support.ts";

let world: RenewalWorld | undefined;
afterEach(() => world?.close());

const never = new AbortController().signal;
const encoded = (text: string) => new TextEncoder().encode(text);
const FLUX = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: flux-system}
`;

test("Flux objects of the parent are refused with a reason each time, nothing is applied, and the child stays connected", async () => {
  world = await RenewalWorld.open();
  await world.add("prod");
  const { sessions, clock, cluster } = world;
  await world.until(() => sessions.agents().get("prod")?.connected === true);
  const writes = () => [...cluster.actions].filter(({ verb }) => ["create", "apply", "patch", "update"].includes(verb)).length;
  const before = writes();
  for (const _repeated of [1, 2]) {
    const sent = sessions.send("prod", { kind: "bootstrap", manifests: encoded(FLUX) }, never);
    await clock.advance(1_000);
    expect(await sent).toMatchObject({
      error: {
        kind: "failed",
        message: expect.stringMatching(/^Flux objects of the parent are not applied: .*when it registers/) as string,
      },
    });
  }
  expect(writes()).toBe(before);
  expect(sessions.agents().get("prod")).toMatchObject({ connected: true });
});

test("a command without manifests is complete at once", async () => {
  world = await RenewalWorld.open();
  await world.add("prod");
  const { sessions, clock } = world;
  await world.until(() => sessions.agents().get("prod")?.connected === true);
  const sent = sessions.send("prod", { kind: "bootstrap", manifests: new Uint8Array() }, never);
  await clock.advance(1_000);
  expectOk(await sent);
  expect(sessions.agents().get("prod")).toMatchObject({ connected: true, bootstrapComplete: true });
});
