import { describe, expect, it } from "vitest";
import { createLogger, err, FakeClock, ok, type Result } from "#base";
import type { ClusterView } from "../fleet-types.ts";
import { FleetFile } from "./fleet-file.ts";

describe("fleet.json", () => {
  it("on a full disk is reported once, and written when there is room", async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const texts: string[] = [];
    let full = true;
    const write = (_: string, text: string): Result<void, string> => {
      if (full) return err("ENOSPC: no space left on device");
      texts.push(text);
      return ok(undefined);
    };
    const file = new FleetFile({ path: "/f", clusters: () => [], clock, logger: createLogger((level) => lines.push(level)), write });
    file.changed();
    await clock.advance(20_000);
    expect([lines, texts]).toEqual([["error"], []]);
    full = false;
    await clock.advance(5_000);
    expect(texts).toEqual(['{\n  "clusters": []\n}\n']);
    file.close();
    expect(clock.pending).toBe(0);
  });

  it("is written once for changes that come together", async () => {
    const clock = new FakeClock();
    let count = 0;
    const write = () => {
      count += 1;
      return ok(undefined);
    };
    const clusters = (): readonly ClusterView[] => [];
    const file = new FleetFile({ path: "/f", clusters, clock, logger: createLogger(() => {}), write });
    for (let change = 0; change < 5; change += 1) file.changed();
    await clock.advance(100);
    file.changed();
    await clock.advance(100);
    expect(count).toBe(1);
    file.close();
  });
});
