/**
 * A LatticeCluster provisioned by the real managers of Cluster API on a real API server. The managers reach the child through our API proxy and
 * the agent's tunnel only: every address of the child in the management cluster is one where nothing listens.
 *
 * The managers are built when this story runs; only `npm run test:kube -- --all` runs it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger, systemClock } from "#base";
import { loadBundle, type Bundle } from "#bundle";
import { latticeKinds } from "#crds";
import { formatYamlDocuments } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import type { AgentLink } from "#link";
import { startOperator } from "#operator";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES } from "../../../scripts/kube/versions.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { eventually, realPlane, type PlaneAccess } from "../harness/index.ts";
import { embeddedPlane } from "../cluster-api/embedded-plane.ts";
import { publishedBundle } from "../cluster-api/published-bundle.ts";
import { connectAgent } from "../cluster-api/in-memory-child.ts";
import { startCapiManagers, type CapiManagers } from "../cluster-api/managers.ts";

const BUILD_LIMIT_MS = 3_600_000;
const AVAILABLE_MS = 300_000;
const say = (line: string) => console.log(`cluster-api: ${line}`);

const lattice = (name: string, annotations: Readonly<Record<string, string>>, spec: object) => ({
  apiVersion: "lattice.dev/v1alpha1",
  kind: "LatticeCluster",
  metadata: { name, annotations },
  spec: { provider: { type: "docker", kubernetes: { version: "1.36.3" } }, ...spec },
});

/** What the story needs of the API server of the management cluster. */
type Management = Pick<PlaneAccess, "kubeconfigPath" | "binaries" | "kubectl" | "kubectlOk"> & { readonly stop: () => Promise<void> };

const SERVERS = [
  { name: "a real API server", start: async (): Promise<Management> => realPlane() },
  { name: "an embedded API server", start: embeddedPlane },
];

describe.each(SERVERS)("the managers of Cluster API on $name", ({ start }) => {
  let folder = "";
  let plane: Management;
  let managers: CapiManagers | undefined;
  let client: KubeClient | undefined;
  let agent: AgentLink | undefined;
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  let skipped: string | undefined;
  let ports: readonly number[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lattice-capi-story-"));
    plane = await start();
    const obtained = await obtainPrograms(CAPI_BINARIES, { beside: plane.binaries, environment: process.env, say });
    if (obtained.kind === "failed") throw new Error(obtained.why);
    if (obtained.kind === "skipped") return void (skipped = obtained.why);
    await apply(...latticeKinds.map(({ crd }) => crd()));
    managers = await startCapiManagers({ kubeconfig: plane.kubeconfigPath, kubectl: plane.kubectl }, obtained.folder);
    ports = expectOk(await findFreePorts(3));
    const bundle = expectOk(loadBundle(await publishedBundle(plane, join(folder, "bundle"))));
    await becomeCell();
    await startCell(bundle);
  }, BUILD_LIMIT_MS);

  afterAll(async () => {
    await agent?.close();
    stop.abort();
    await running;
    await client?.close();
    await managers?.close();
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  const apply = (...objects: readonly object[]) =>
    plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(objects) });

  async function becomeCell(): Promise<void> {
    const [grpcPort = 0, bootstrapPort = 0, proxyPort = 0] = ports;
    const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
    await apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } },
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "lattice-identity", namespace: "lattice-system" },
        data: { cluster: "mgmt" },
      },
      lattice("mgmt", { "lattice.dev/backend": "inMemory" }, { nodes: { controlPlane: 1, workers: 0 }, endpoints }),
    );
  }

  async function startCell(bundle: Bundle): Promise<void> {
    const config = expectOk(await loadKubeconfig({ path: plane.kubeconfigPath, env: {}, home: folder, clock: systemClock }));
    const random = seededRandom(1);
    client = createKubeClient({ transport: httpTransport(config, { clock: systemClock }), clock: systemClock, random });
    const operator = expectOk(
      await startOperator(
        { namespace: "lattice-system", identity: "story", leaderElection: false, health: { host: "127.0.0.1", port: 0 }, bundle },
        { client, clock: systemClock, random, logger: silentLogger, metrics: new MetricsRegistry(), tracer: noTracing },
        stop.signal,
      ),
    );
    running = operator.run(stop.signal);
  }

  const read = async (what: string, path: string) => plane.kubectlOk(["get", ...what.split(" "), "-o", `jsonpath={${path}}`]);
  const condition = (what: string, type: string) => read(what, `.status.conditions[?(@.type=="${type}")].status`);

  test(
    "one control-plane machine and two workers run, seen through the tunnel alone",
    { timeout: AVAILABLE_MS + 60_000 },
    async ({ skip }) => {
      if (skipped !== undefined) return skip(skipped);
      await apply(lattice("c1", { "lattice.dev/backend": "inMemory" }, { nodes: { controlPlane: 1, workers: 2 } }));
      await eventually(
        "the token of the child",
        async () => (await read("secret lattice-bootstrap-c1 -n capi-c1", ".data.token")) || undefined,
        {
          withinMs: 60_000,
        },
      );
      const [grpcPort = 0, bootstrapPort = 0] = ports;
      await eventually(
        "the agent connects",
        async () => {
          agent ??= await connectAgent({ plane, name: "c1", cell: { name: "mgmt", grpcPort, bootstrapPort }, folder: join(folder, "c1") });
          return agent.status().connected || undefined;
        },
        { withinMs: 60_000, everyMs: 1_000 },
      );
      await eventually(
        "Cluster c1 is Available",
        async () => (await condition("cluster c1 -n capi-c1", "Available")) === "True" || undefined,
        {
          withinMs: AVAILABLE_MS,
          everyMs: 1_000,
        },
      );
      const machines = await read("machines -n capi-c1", ".items[*].status.nodeRef.name");
      expect(machines.split(" ")).toHaveLength(3);
      expect(await read("cluster c1 -n capi-c1", ".spec.controlPlaneEndpoint")).toBe('{"host":"127.0.0.9","port":6443}');
      expect(await plane.kubectlOk(["get", "clusterresourcesets", "-A", "-o", "name"])).toBe("");
      await eventually("the LatticeCluster reports it", async () => {
        const types = ["AgentConnected", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"];
        const states = await Promise.all(types.map((type) => condition("lc c1", type)));
        return states.every((state) => state === "True") || undefined;
      });
    },
  );

  test("a deleted LatticeCluster leaves nothing behind", { timeout: AVAILABLE_MS }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    await plane.kubectlOk(["delete", "lc", "c1", "--wait=false"]);
    await eventually("it is gone", async () => (await plane.kubectl(["get", "lc", "c1"])).code !== 0 || undefined, {
      withinMs: AVAILABLE_MS - 60_000,
      everyMs: 1_000,
    });
    expect(await plane.kubectlOk(["get", "clusters,machines", "-A", "-o", "name"])).toBe("");
    expect((await plane.kubectl(["get", "secret", "lattice-access-c1", "-n", "lattice-system"])).code).not.toBe(0);
  });
});
