import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { err, expectOk, MetricsRegistry, ok, reveal, silentLogger, systemClock } from "#base";
import type { ChildAccessRecords } from "#controllers";
import { startEmbeddedCluster, failWith, type EmbeddedCluster } from "#embedded-cluster";
import { Registrations } from "#http";
import { secrets } from "#kube";
import { childAccessRecords } from "./child-access.ts";

const HOME = "lattice-system";
let cluster: EmbeddedCluster;
let registrations: Registrations;
let records: ChildAccessRecords;

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
  const refused = () => err({ kind: "refused" as const, message: "not in this test" });
  registrations = new Registrations({
    client: cluster.client,
    namespace: HOME,
    clock: systemClock,
    random: Math.random,
    randomBytes: (count) => randomBytes(count),
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    signer: { keyHashOf: refused, sign: refused, verifyRenewal: refused },
    manifests: () => Promise.resolve(ok("")),
  });
  expect(await registrations.open(new AbortController().signal)).toBe(true);
  records = childAccessRecords(registrations);
});

afterEach(async () => {
  await registrations.close();
  await cluster.close();
});

test("tokens are issued again and again, and the last ones are valid", async () => {
  expect(records.read("prod")).toBeUndefined();
  const later = Date.now() + 60_000;
  const first = expectOk(await records.issueTokens("prod", later));
  expect(registrations.authenticateProxy("prod", reveal(first.proxy))).toBe(true);
  const second = expectOk(await records.issueTokens("prod", later + 1));
  expect([first, second].map(({ proxy }) => registrations.authenticateProxy("prod", reveal(proxy)))).toEqual([false, true]);
  expect(records.read("prod")).toEqual({ spent: false, revoked: false, expiresAt: later + 1, certificates: [] });
  expectOk(await records.extend("prod", later + 2));
  expect(records.read("prod")?.expiresAt).toBe(later + 2);
});

test("a failed step of a node is part of the record", async () => {
  expectOk(await records.issueTokens("prod", Date.now() + 60_000));
  expectOk(await registrations.report("prod", { step: "apply", message: "refused", node: "a" }));
  expect(records.read("prod")?.lastReport).toMatchObject({ step: "apply", message: "refused", node: "a" });
});

test("a revoked cluster gets no tokens by itself, and a removed one has no record", async () => {
  expectOk(await records.issueTokens("prod", Date.now() + 60_000));
  expectOk(await registrations.revoke("prod"));
  expect(await records.issueTokens("prod", Date.now())).toMatchObject({ ok: false, error: { kind: "forbidden" } });
  expectOk(await records.remove("prod"));
  expectOk(await records.remove("prod"));
  expect(records.read("prod")).toBeUndefined();
  expect(await cluster.client.get(secrets, { namespace: HOME, name: "lattice-access-prod" })).toMatchObject({ ok: false });
});

test("errors are failures of a pass, which is tried again", async () => {
  expect(await records.extend("absent", 1)).toMatchObject({ ok: false, error: { kind: "not-found" } });
  expect(await records.issueTokens("Not A Name", 1)).toMatchObject({ ok: false, error: { kind: "invalid" } });
  cluster.intercept({ when: ({ method }) => method === "POST", times: 20 }, failWith("unavailable"));
  expect(await records.issueTokens("prod", 1)).toMatchObject({ ok: false, error: { kind: "unavailable" } });
});
