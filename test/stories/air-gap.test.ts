/**
 * Air gap: from a LatticeCluster to a connected child, with every process (supervisor, API servers, operators, machines, their shells) in a network
 * where only loopback exists. An attempt to connect anywhere else, or to look up a name, fails the test; the first tests show that it would.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { airGapMissing, runInAirGap } from "../builders/air-gap.ts";

const missing = airGapMissing();
const node = (code: string) => [
  process.execPath,
  "-e",
  `const net = require("net"), dns = require("dns"), dgram = require("dgram"); ${code}`,
];

describe.skipIf(missing !== undefined)(`air gap (skipped where ${missing ?? "nothing"})`, () => {
  const attempts = [
    { name: "a TCP connection", program: node(`net.connect(443, "192.0.2.1").on("error", () => {})`) },
    { name: "a TCP connection over IPv6", program: node(`net.connect(443, "2001:db8::1").on("error", () => {})`) },
    { name: "a datagram", program: node(`const s = dgram.createSocket("udp4"); s.send("a", 9, "192.0.2.1", () => s.close())`) },
    { name: "a DNS lookup", program: node(`dns.lookup("registry.example.com", () => {})`) },
    { name: "a DNS query", program: node(`dns.resolve("registry.example.com", () => {})`) },
    { name: "a fetch", program: node(`fetch("https://registry.example.com").catch(() => {})`) },
    {
      name: "a connection by a process that a process in the background started",
      program: ["sh", "-c", `: "$( (sh -c '"$0" "$@"' "$@" &) )"`, "sh", ...node(`net.connect(443, "192.0.2.1").on("error", () => {})`)],
    },
  ];

  test.for(attempts)("$name to another host is counted, even when its failure is ignored", { timeout: 60_000 }, async ({ program }) => {
    const run = await runInAirGap(program, 50_000);
    expect(run).toMatchObject({ code: 0 });
    expect(run.attempts).toBeGreaterThan(0);
  });

  test("connections to any address of loopback are not counted", { timeout: 60_000 }, async () => {
    const addresses = ["127.0.0.1", "127.0.0.9", "::1", "localhost"];
    const code = `for (const host of ${JSON.stringify(addresses)}) net.connect(443, host).on("error", (error) => console.log(host, error.code))`;
    const run = await runInAirGap(node(code), 50_000);
    expect(run).toMatchObject({ code: 0, attempts: 0 });
    expect(run.output.trim().split("\n").toSorted()).toEqual(addresses.map((host) => `${host} ECONNREFUSED`).toSorted());
  });

  test("a child is provisioned and connected without an attempt to reach anything but loopback", { timeout: 400_000 }, async () => {
    const program = join(import.meta.dirname, "air-gap/connect-a-child.ts");
    const run = await runInAirGap([process.execPath, program], 390_000);
    expect(run, run.output).toMatchObject({ code: 0, attempts: 0 });
    expect(run.output).toContain(`"state":"Ready"`);
  });
});
