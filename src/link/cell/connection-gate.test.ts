import { describe, expect, it } from "vitest";
import { FakeClock } from "#base";
import { CONNECTION_LIMITS } from "./cell-types.ts";
import { ConnectionGate } from "./connection-gate.ts";

function gateOf(limits: Partial<typeof CONNECTION_LIMITS | Record<string, number>>) {
  const clock = new FakeClock();
  return { clock, gate: new ConnectionGate({ ...CONNECTION_LIMITS, ...limits }, clock) };
}

describe("ConnectionGate", () => {
  it("limits handshakes in all and per address, until they end", () => {
    const { gate } = gateOf({ handshakes: 3, handshakesPerAddress: 2 });
    const passes = ["a", "a", "a", "b", "b"].map((address) => gate.enter(address));
    expect(passes.map((pass) => pass !== undefined)).toEqual([true, true, false, true, false]);
    passes[0]?.handshakeEnded();
    passes[0]?.handshakeEnded(); // counts once
    expect([gate.enter("a"), gate.enter("b")].map((pass) => pass !== undefined)).toEqual([true, false]);
  });

  it("accepts a few connections above the limit, so that they get the reason, and then none", () => {
    const { gate } = gateOf({ connections: 10 });
    const passes = Array.from({ length: 100 }, () => {
      const pass = gate.enter("a");
      pass?.handshakeEnded();
      return pass;
    });
    expect(passes.filter((pass) => pass !== undefined)).toHaveLength(74);
    expect(gate.isFull).toBe(true);
    for (const pass of passes) pass?.closed();
    expect(gate.isFull).toBe(false);
    expect(gate.enter("a")).toBeDefined();
  });

  it("limits the rate of one address, and not that of another", async () => {
    const { gate, clock } = gateOf({ burstPerAddress: 2, ratePerAddress: 1 });
    const enters = (address: string) => {
      const pass = gate.enter(address);
      pass?.closed();
      return pass !== undefined;
    };
    expect([enters("a"), enters("a"), enters("a"), enters("b")]).toEqual([true, true, false, true]);
    await clock.advance(1_000);
    expect([enters("a"), enters("a")]).toEqual([true, false]);
  });

  it("remembers a bounded number of addresses", () => {
    const { gate } = gateOf({ burstPerAddress: 1, ratePerAddress: 0 });
    for (let address = 0; address <= 10_000; address += 1) gate.enter(String(address))?.closed();
    expect(gate.enter("0")).toBeDefined(); // forgotten
    expect(gate.enter("10000")).toBeUndefined();
  });
});
