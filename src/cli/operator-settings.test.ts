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

it.each([
  { name: "no address: the environment decides", given: undefined, want: undefined },
  { name: "an address", given: "192.0.2.7:9443", want: { kind: "url", host: "192.0.2.7", port: 9_443 } },
  { name: "a name and any free port", given: "operator.example.com:0", want: { kind: "url", host: "operator.example.com", port: 0 } },
  { name: "an IPv6 address", given: "[::1]:1", want: { kind: "url", host: "::1", port: 1 } },
])("--webhook-address: $name", ({ given, want }) => {
  expect(expectOk(operatorSettings({ ...flags, ...(given === undefined ? {} : { webhookAddress: given }) })).webhook).toEqual(want);
});

it.each([
  { name: "no port", given: "127.0.0.1", want: '--webhook-address: "127.0.0.1" is not an address' },
  { name: "all addresses, which API servers cannot connect to", given: "0.0.0.0:9443", want: "API servers cannot connect to 0.0.0.0" },
  { name: "all IPv6 addresses", given: "[::]:9443", want: "API servers cannot connect to ::" },
])("--webhook-address with $name is refused", ({ given, want }) => {
  const refused = operatorSettings({ ...flags, webhookAddress: given });
  expect(refused).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
});
