/** An operator with an identity file is killed and started again: it is the same candidate. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { expectOk } from "#base";
import { leases } from "#kube";
import { OPERATOR_NAME, OPERATOR_NAMESPACE } from "#operator";
import { OperatorProcess } from "../builders/operator-process.ts";

let home = "";
let cluster: EmbeddedCluster | undefined;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lattice-identity-story-"));
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } };
  cluster = await startEmbeddedCluster({ objects: [namespace, ...latticeKinds.map(({ crd }) => crd())] });
  await cluster.writeKubeconfig(join(home, "kubeconfig"));
});

afterAll(async () => {
  await cluster?.close();
  await rm(home, { recursive: true, force: true });
});

function start(leaseDuration: string): OperatorProcess {
  const lease = ["--lease-duration", leaseDuration, "--identity-file", join(home, "identity"), "--resync", "10m"];
  return new OperatorProcess(["operator", "--kubeconfig", join(home, "kubeconfig"), ...lease]);
}

async function leaseSpec() {
  const found = await cluster?.client.get(leases, { namespace: OPERATOR_NAMESPACE, name: OPERATOR_NAME });
  return found === undefined ? undefined : expectOk(found).spec;
}

test("an operator that is killed with -9 and restarted leads again at most 6 s later, on a lease of 5 s", { timeout: 60_000 }, async () => {
  const first = start("5s");
  await first.untilLeading();
  const identity = (await readFile(join(home, "identity"), "utf8")).trim();
  expect(await leaseSpec()).toMatchObject({ holderIdentity: identity, leaseDurationSeconds: 5, leaseTransitions: 0 });

  const killedAt = performance.now();
  await first.end("SIGKILL");
  await using second = start("5s");
  await second.untilLeading();
  expect(performance.now() - killedAt).toBeLessThanOrEqual(6_000);
  expect(await leaseSpec()).toMatchObject({ holderIdentity: identity, leaseTransitions: 0 });

  await using third = start("5s");
  expect(await third.exited()).toBe(2);
  expect(third.output).toMatch(/^lattice: --identity-file: .*identity: process \d+ has been using this identity since .*own file\n$/);
  expect(await second.leads()).toBe(true);
  expect(await second.end("SIGTERM")).toBe(0);
});

test("a restarted operator does not wait for its own lease, however long that is", { timeout: 60_000 }, async () => {
  const first = start("1h");
  await first.untilLeading();
  await first.end("SIGKILL");
  await using second = start("1h");
  await second.untilLeading();
  expect(await second.end("SIGTERM")).toBe(0);
});
