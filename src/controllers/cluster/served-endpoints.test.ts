import { describe, expect, test } from "vitest";
import type { ChildAgent } from "./ports.ts";
import {
  addressesOf,
  childrenWithFormerAddress,
  endpointsData,
  recordedEndpoints,
  servedEndpoints,
  type EndpointsSpec,
} from "./served-endpoints.ts";

const at = (host: string, grpcPort = 50_051): EndpointsSpec => ({
  host,
  grpcPort,
  bootstrapPort: 8_443,
  proxyPort: 8_444,
  service: { type: "LoadBalancer" },
});
const [old, now] = [at("10.0.0.1"), at("cell.example.com")];

describe("the addresses that a cell serves", () => {
  test.each([
    { name: "none without endpoints", wanted: undefined, recorded: [], has: true, want: undefined },
    { name: "those of its spec", wanted: now, recorded: [], has: true, want: { current: now, former: [], isRemoved: false } },
    { name: "nothing twice", wanted: now, recorded: [now], has: true, want: { current: now, former: [], isRemoved: false } },
    { name: "a former one beside it", wanted: now, recorded: [old], has: true, want: { current: now, former: [old], isRemoved: false } },
    {
      name: "a former port",
      wanted: now,
      recorded: [at("cell.example.com", 1)],
      has: true,
      want: { current: now, former: [at("cell.example.com", 1)], isRemoved: false },
    },
    { name: "one that came back", wanted: old, recorded: [now, old], has: true, want: { current: old, former: [now], isRemoved: false } },
    {
      name: "no former one without children",
      wanted: now,
      recorded: [old],
      has: false,
      want: { current: now, former: [], isRemoved: false },
    },
    {
      name: "the last ones after a removal",
      wanted: undefined,
      recorded: [now, old],
      has: true,
      want: { current: now, former: [old], isRemoved: true },
    },
    { name: "none after a removal without children", wanted: undefined, recorded: [now], has: false, want: undefined },
  ])("are $name", ({ wanted, recorded, has, want }) => {
    expect(servedEndpoints(wanted, recorded, () => has)).toEqual(want);
  });

  test("are at most six, however often the address changes", () => {
    let recorded: readonly EndpointsSpec[] = [];
    for (let change = 0; change < 20; change += 1) {
      const served = servedEndpoints(at(`10.0.0.${change}`), recorded, () => true);
      recorded = served === undefined ? [] : [served.current, ...served.former];
    }
    expect(recorded.map(({ host }) => host)).toEqual(["10.0.0.19", "10.0.0.18", "10.0.0.17", "10.0.0.16", "10.0.0.15", "10.0.0.14"]);
  });

  test("are read again from their record, and what cannot be read is left out", () => {
    const record = (data: Readonly<Record<string, string>>) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data });
    expect(recordedEndpoints(record(endpointsData({ current: now, former: [old], isRemoved: false })))).toEqual([now, old]);
    const broken = JSON.stringify([1, {}, { ...now, grpcPort: 0 }, { ...now, service: { type: "X" } }, { ...now, host: 1 }, old]);
    expect(recordedEndpoints(record({ endpoints: broken }))).toEqual([old]);
    expect([
      recordedEndpoints(record({ endpoints: "{" })),
      recordedEndpoints(record({ endpoints: "{}" })),
      recordedEndpoints(record({})),
    ]).toEqual([[], [], []]);
  });

  test("are known from the reports of connected agents", () => {
    const agent = (connected: boolean, endpoints?: EndpointsSpec): ChildAgent => ({
      connected,
      state: "Ready",
      agentVersion: "1",
      protocol: 1,
      kubernetesVersion: "",
      bootstrapComplete: true,
      health: {
        readyNodes: 1,
        totalNodes: 1,
        kubernetesVersion: "",
        ...(endpoints === undefined ? {} : { parentAddresses: addressesOf(endpoints) }),
      },
    });
    const agents = new Map([
      ["moved", agent(true, now)],
      ["waits", agent(true, old)],
      ["away", agent(false, now)],
      ["older", agent(true)],
    ]);
    const served = { current: now, former: [old], isRemoved: false };
    const names = ["moved", "waits", "away", "older", "never"];
    expect(childrenWithFormerAddress(names, served, { agents: () => agents })).toEqual(["waits", "away", "older", "never"]);
    expect(childrenWithFormerAddress(names, served, undefined)).toEqual(names);
    expect(addressesOf(at("fd00::1"))).toEqual(["[fd00::1]:50051", "https://[fd00::1]:8443"]);
  });
});
