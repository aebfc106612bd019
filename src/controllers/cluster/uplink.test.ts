import { describe, expect, test } from "vitest";
import { UplinkSlot, type ParentUplink } from "./uplink.ts";

const state = (connected: boolean): ParentUplink => ({ parent: "mgmt", cluster: "prod", connected });

describe("since when the parent is away", () => {
  const rows: { name: string; did: (slot: UplinkSlot) => void; want: number | undefined }[] = [
    { name: "is not known before the agent starts", did: () => {}, want: undefined },
    { name: "counts from the start of the agent", did: (slot) => slot.starting(1), want: 1 },
    {
      name: "counts from its first start, also when that fails again and again",
      did: (slot) => [1, 2, 3].forEach((at) => slot.starting(at)),
      want: 1,
    },
    { name: "has no time while it is connected", did: (slot) => (slot.starting(1), slot.set(state(true), 2)), want: undefined },
    {
      name: "counts from the end of the connection",
      did: (slot) => (slot.set(state(true), 2), slot.set(state(false), 3), slot.set(state(false), 4)),
      want: 3,
    },
    {
      name: "counts anew after each connection",
      did: (slot) => (slot.set(state(false), 1), slot.set(state(true), 2), slot.set(state(false), 3)),
      want: 3,
    },
    {
      name: "is not known after the end of the agent, which may start again for another parent",
      did: (slot) => (slot.set(state(false), 1), slot.set(undefined, 2)),
      want: undefined,
    },
  ];
  test.each(rows)("$name", ({ did, want }) => {
    const slot = new UplinkSlot();
    did(slot);
    expect(slot.awaySince).toBe(want);
  });
});
