import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectOk, silentLogger, systemClock } from "#base";
import { failWith, startEmbeddedCluster } from "#embedded-cluster";
import { customResourceDefinitions, deployments, namespaces, nodes, serviceAccounts, type KubeObject } from "#kube";
import { OPERATOR_NAME, OPERATOR_NAMESPACE } from "#operator";
import { clientOf } from "../../../test/builders/kubeconfig-client.ts";
import { clusterFolderAt } from "../folder/layout.ts";
import { parseFromApiServer, type FromApiServer, type ToApiServer } from "../messages/messages.ts";
import { applyFirstObjects } from "./first-objects.ts";
import { serveCluster } from "./index.ts";

const OPERATOR = { namespace: OPERATOR_NAMESPACE, name: OPERATOR_NAME };
const POLL = { timeout: 20_000, interval: 10 };

describe("the first objects of a cluster", () => {
  async function setUp() {
    const cluster = await startEmbeddedCluster();
    const apply = (version: string) =>
      applyFirstObjects({ client: cluster.client, version, resourceOf: (kind, apiVersion) => cluster.resource(kind, apiVersion) });
    return { cluster, client: cluster.client, apply, [Symbol.asyncDispose]: () => cluster.close() };
  }

  it("are there afterwards, and a second start writes nothing", async () => {
    await using world = await setUp();
    expectOk(await world.apply("1"));
    for (const [resource, key] of [
      [namespaces, { name: OPERATOR_NAMESPACE }],
      [deployments, OPERATOR],
      [serviceAccounts, OPERATOR],
      [customResourceDefinitions, { name: "latticeservices.lattice.dev" }],
      [customResourceDefinitions, { name: "ciliumnetworkpolicies.cilium.io" }],
    ] as const)
      expectOk(await world.client.get<KubeObject>(resource, key));
    world.cluster.actions.clear();
    expectOk(await world.apply("1"));
    expect([...world.cluster.actions].map(({ verb }) => verb)).toEqual(["get", "list", "get"]);
  });

  it("that were deleted are applied again", async () => {
    await using world = await setUp();
    expectOk(await world.apply("1"));
    await world.client.delete(customResourceDefinitions, { name: "latticeservices.lattice.dev" });
    await world.client.delete(deployments, OPERATOR);
    expectOk(await world.apply("1"));
    expectOk(await world.client.get(customResourceDefinitions, { name: "latticeservices.lattice.dev" }));
    expectOk(await world.client.get(deployments, OPERATOR));
  });

  it("keep what users change on the Deployment; a new version sets the image only", async () => {
    await using world = await setUp();
    expectOk(await world.apply("1"));
    const image = (tag: string) => `lattice-fleet/lattice:${tag}`;
    const patch = {
      spec: { replicas: 3, template: { spec: { containers: [{ name: "operator", image: image("mine"), args: ["operator", "--mine"] }] } } },
    };
    expectOk(await world.client.patch(deployments, OPERATOR, { type: "strategic", patch }));
    const shown = async () => {
      const { spec } = expectOk(await world.client.get(deployments, OPERATOR));
      return [
        spec.replicas,
        spec.template.spec.containers.map(({ image: shownImage, args }: { image?: string; args?: unknown }) => [shownImage, args]),
      ];
    };
    expectOk(await world.apply("1"));
    expect(await shown()).toEqual([3, [[image("mine"), ["operator", "--mine"]]]]);
    expectOk(await world.apply("2"));
    expect(await shown()).toEqual([3, [[image("2"), ["operator", "--mine"]]]]);
  });

  it.each([
    { verb: "apply", resource: "customresourcedefinitions", want: /^CustomResourceDefinition .* was refused: / },
    { verb: "create", resource: "deployments", want: /^Deployment lattice-operator was refused: / },
    { verb: "get", resource: "deployments", want: /^Deployment lattice-operator cannot be read: / },
  ] as const)("that the server refuses ($verb $resource) are one sentence", async ({ verb, resource, want }) => {
    await using world = await setUp();
    world.cluster.intercept({ verb, resource }, failWith("forbidden"));
    expect(await world.apply("1")).toMatchObject({ ok: false, error: expect.stringMatching(want) as string });
  });
});

describe("the API-server process", () => {
  let path = "";
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), "lattice-fleet-server-"));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));

  /** The process, in this process: the test is its supervisor. */
  function serve() {
    const stop = new AbortController();
    const received: FromApiServer[] = [];
    const early: unknown[] = [];
    let deliver: (message: unknown) => void = (message) => early.push(message);
    const channel = {
      send: (message: unknown) => received.push(expectOk(parseFromApiServer(message))),
      receive: (listener: (message: unknown) => void) => {
        deliver = listener;
        early.forEach(listener);
      },
    };
    const folder = clusterFolderAt(path);
    const ended = serveCluster({ folder, channel, clock: systemClock, random: Math.random, logger: silentLogger, signal: stop.signal });
    const tell = (message: ToApiServer) => deliver(structuredClone(message));
    const last = (kind: FromApiServer["kind"]) => received.findLast((message) => message.kind === kind);
    return { folder, received, last, tell, deliver: (message: unknown) => deliver(message), end: () => (stop.abort(), ended), ended };
  }

  const BEGIN: ToApiServer = { kind: "begin", repair: false, bare: false, processes: [], machines: [] };

  it("requests the process of the operator, and shows it in the status of its Pod", { timeout: 60_000 }, async () => {
    const server = serve();
    server.deliver("nonsense");
    server.tell(BEGIN);
    await expect.poll(() => server.last("ensure"), POLL).toBeDefined();
    expect(statSync(server.folder.kubeconfig).mode & 0o777).toBe(0o600);
    const request = server.last("ensure");
    if (request?.kind !== "ensure") throw new Error("no process was requested");
    const { uid, pod, container, folder, env } = request.process;
    const started = { uid, pod, container, folder, phase: "running", pid: 1, startedAt: 1_000, restarts: 0, ready: true } as const;
    server.tell({ kind: "process", process: started });
    const admin = await clientOf(readFileSync(server.folder.kubeconfig, "utf8"));
    await expect.poll(async () => expectOk(await admin.get(deployments, OPERATOR)).status?.readyReplicas, POLL).toBe(1);
    const token = readFileSync(join(env["HOME"] ?? "", "token"), "utf8").trim();
    expect(JSON.parse(atob(token.split(".")[1] ?? ""))).toMatchObject({
      sub: `system:serviceaccount:${OPERATOR_NAMESPACE}:${OPERATOR_NAME}`,
    });
    expect(readFileSync(env["KUBECONFIG"] ?? "", "utf8")).not.toContain(token);
    await admin.close();
    expectOk(await server.end());
  });

  it(
    "of a cluster of machines has nothing but what its machines bring, and the version of their control plane",
    { timeout: 60_000 },
    async () => {
      const server = serve();
      server.tell({ ...BEGIN, bare: true, version: "v1.34.2", machines: [{ id: "u1", phase: "running" }] });
      server.tell({ kind: "machine-state", machine: { id: "u2", phase: "starting" } });
      await expect.poll(() => server.last("ready"), POLL).toBeDefined();
      const admin = await clientOf(readFileSync(server.folder.kubeconfig, "utf8"));
      expect((await admin.get(namespaces, { name: OPERATOR_NAMESPACE })).ok).toBe(false);
      expect(expectOk(await admin.list(nodes)).items).toEqual([]);
      const version = async () => JSON.parse(expectOk(await admin.raw("/version"))) as unknown;
      expect(await version()).toMatchObject({ major: "1", minor: "34", gitVersion: "v1.34.2", minCompatibilityMinor: "33" });
      server.tell({ kind: "version", version: "v1.35.0" });
      server.tell({ kind: "machine-gone", id: "u2" });
      expect(await version()).toMatchObject({ minor: "35", gitVersion: "v1.35.0" });
      await admin.close();
      expectOk(await server.end());
    },
  );

  it("that cannot open its data reports it once", async () => {
    writeFileSync(join(path, "data"), "");
    const server = serve();
    server.tell(BEGIN);
    const ended = await server.ended;
    expect(ended.ok).toBe(false);
    expect(server.received).toEqual([{ kind: "failed", message: ended.ok ? "" : ended.error }]);
  });

  it("that is stopped before it begins ends", async () => {
    expectOk(await serve().end());
  });
});
