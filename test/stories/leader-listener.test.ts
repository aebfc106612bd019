/** Two operators on an API server that is a process of its own: only the leader's listener accepts, and a takeover is in time. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { customResourceDefinitions, namespaces, type KubeObject, type Resource } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig } from "#kube-client";
import { ServerProcess } from "../builders/api-server/server-process.ts";
import { listenerHandover } from "../builders/listener-handover.ts";

const NAMESPACE = "lattice-system";

async function startServer(): Promise<{ readonly kubeconfig: string }> {
  const home = await mkdtemp(join(tmpdir(), "lattice-listener-story-"));
  const kubeconfig = join(home, "kubeconfig");
  const server = new ServerProcess(home, ["--kubeconfig-out", kubeconfig]);
  onTestFinished(async () => {
    await server.kill();
    await rm(home, { recursive: true, force: true });
  });
  expect(await server.url(), server.stderr).toBeDefined();
  const config = expectOk(await loadKubeconfig({ path: kubeconfig, env: {}, home, clock: systemClock }));
  const transport = httpTransport(config, { clock: systemClock });
  const client = createKubeClient({ transport, clock: systemClock, random: seededRandom(1) });
  const place: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  const objects: readonly { readonly resource: Resource; readonly object: KubeObject }[] = [
    { resource: namespaces, object: place },
    ...latticeKinds.map(({ crd }) => ({ resource: customResourceDefinitions, object: crd() })),
  ];
  for (const { resource, object } of objects) expectOk(await client.create(resource, object));
  await client.close();
  return { kubeconfig };
}

test(
  "only the leader's listener accepts; the leader is killed: the other accepts within lease duration + retry period",
  { timeout: 120_000 },
  async () => {
    const { kubeconfig } = await startServer();
    const tookMs = await listenerHandover({ kubeconfig, namespace: NAMESPACE });
    console.log(`the other listener accepted ${Math.round(tookMs)} ms after the leader was killed, on a lease of 5 s`);
  },
);
