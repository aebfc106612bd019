/** `npm start`, as a person sees it: a cluster comes up, the examples are judged, a mistake is refused, Ctrl-C ends it, state is kept. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeClusters } from "#crds";
import { resources } from "#embedded-cluster";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { runCli, type CliRun } from "../builders/cli-io.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "lattice-up-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `lattice up` until `act` is done with the cluster. */
async function whileUp(act: (client: KubeClient) => Promise<void>): Promise<CliRun> {
  const stop = new AbortController();
  let acting: Promise<void> | undefined;
  const run = runCli(["up", "--data-dir", folder], {
    clock: systemClock,
    random: Math.random,
    signal: stop.signal,
    onOutput: (text) => {
      if (text.includes("Ctrl-C stops it")) acting ??= withClient(act).finally(() => stop.abort());
    },
  });
  const ended = await run;
  await acting;
  return ended;
}

async function withClient(act: (client: KubeClient) => Promise<void>): Promise<void> {
  const config = expectOk(await loadKubeconfig({ path: join(folder, "kubeconfig"), env: {}, home: folder, clock: systemClock }));
  const client = createKubeClient({ transport: httpTransport(config, { clock: systemClock }), clock: systemClock, random: Math.random });
  try {
    await act(client);
  } finally {
    await client.close();
  }
}

let uid: string | undefined;

test("a cluster comes up with the examples on it, and refuses a mistake with its reason", async () => {
  const { code, stdout, stderr } = await whileUp(async (client) => {
    const mgmt = expectOk(await client.get(latticeClusters, { name: "mgmt" }));
    uid = mgmt.metadata.uid;
    const even = await client.patch(latticeClusters, { name: "mgmt" }, { type: "merge", patch: { spec: { nodes: { controlPlane: 2 } } } });
    expect(even).toMatchObject({ ok: false, error: { kind: "invalid", message: expect.stringContaining("must be odd") as string } });
  });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/LatticeCluster +mgmt +Pending +this release of Lattice does not act on/);
  expect(stdout).toMatch(/LatticeService +default\/api +Pending/);
  expect(statSync(join(folder, "kubeconfig")).mode & 0o777).toBe(0o600);
});

test("a Deployment becomes Ready on it", async () => {
  const spec = {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  };
  const web = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" }, spec };
  const { code } = await whileUp(async (client) => {
    expectOk(await client.create(resources.deployments, web));
    const stop = new AbortController();
    for await (const item of client.watch(resources.deployments, { namespace: "default" }, stop.signal)) {
      const event = expectOk(item);
      if (event.type !== "BOOKMARK" && event.object.status?.["readyReplicas"] === 1) stop.abort();
    }
  });
  expect(code).toBe(0);
});

test("it starts again on the same state", async () => {
  const { code } = await whileUp(async (client) => {
    expect(expectOk(await client.get(latticeClusters, { name: "mgmt" })).metadata.uid).toBe(uid);
  });
  expect(code).toBe(0);
});
