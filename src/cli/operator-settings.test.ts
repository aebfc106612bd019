import { expect, it } from "vitest";
import { expectOk } from "#base";
import { leaseTimesFor } from "#controller-runtime";
import { operatorSettings, type OperatorFlags } from "./operator-settings.ts";

const flags: OperatorFlags = {
  namespace: "lattice-system",
  healthAddress: "127.0.0.1:0",
  leaderElect: true,
  logLevel: "info",
  logFormat: "text",
};

it("without durations the defaults of the runtime apply", () => {
  expect(expectOk(operatorSettings(flags))).toMatchObject({ leaderElection: true, leaseTimes: undefined, limits: undefined });
});

it("--lease-duration sets all times of the lease, --resync the time after which a settled object is reconciled again", () => {
  expect(expectOk(operatorSettings({ ...flags, leaseDuration: "5s", resync: "10m" }))).toMatchObject({
    leaseTimes: leaseTimesFor(5_000),
    limits: { settledMs: 600_000 },
  });
});
