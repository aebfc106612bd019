import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { err, expectOk, nodeProcesses, ok } from "#base";
import type { FleetCluster } from "../fleet-types.ts";
import type { PodProcessRequest } from "../messages/messages.ts";
import { FakeFleet } from "./fake-fleet.test-support.ts";

let path = "";
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "lattice-fleet-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const never = new AbortController().signal;

function podRequest(uid: string): PodProcessRequest {
  const folder = join(path, "clusters", "mgmt", "machines", "n1", "pods", uid);
  mkdirSync(folder, { recursive: true });
  const logs = join(path, "clusters", "mgmt", "logs", "pods", `lattice-system_lattice-operator-x_${uid}`, "operator");
  return { uid, pod: "lattice-operator-x", container: "operator", folder: logs, args: ["operator"], env: { HOME: folder }, cwd: folder };
}

async function running(clusters?: readonly FleetCluster[]) {
  const world = new FakeFleet(path);
  const fleet = expectOk(world.open(clusters));
  world.ready();
  await world.clock.advance(50);
  return { world, fleet };
}

describe("a fleet", () => {
  it("starts one API server per cluster, with an allow-list of the environment, and describes them", async () => {
    const { world, fleet } = await running();
    expect(world.started.map(({ spec }) => spec)).toEqual(
      ["mgmt", "cluster-2"].map((name) => ({
        command: "/node",
        args: [
          "--max-semi-space-size=4",
          "--no-memory-reducer",
          "/lattice.js",
          "__fleet-api-server",
          "--folder",
          join(path, "clusters", name),
          "--name",
          name,
        ],
        env: { HOME: "/home/a", PATH: "/bin", LATTICE_CACHE: "/home/a/.cache/lattice" },
        cwd: join(path, "clusters", name),
      })),
    );
    expect(world.started[0]?.received).toEqual([{ kind: "begin", repair: false, bare: false, processes: [], machines: [] }]);
    expect(world.fleetFile().clusters).toEqual([
      { name: "mgmt", kubeconfig: join(path, "clusters/mgmt/kubeconfig"), pids: [1_000_000], state: "Running" },
      { name: "cluster-2", parent: "mgmt", kubeconfig: join(path, "clusters/cluster-2/kubeconfig"), pids: [1_000_001], state: "Running" },
    ]);
    expect(readFileSync(join(path, "kubeconfig"), "utf8")).toBe(`kubeconfig of ${join(path, "clusters/mgmt")}`);
    expect(world.processes.map(({ pid }) => pid)).toEqual([1_000_000, 1_000_001]);
    await fleet.close();
    expect(world.fleetFile().clusters.map(({ pids, state }) => [pids, state])).toEqual([
      [[], "Stopped"],
      [[], "Stopped"],
    ]);
    expect([world.clock.pending, world.processes]).toEqual([0, []]);
  });

  it("restarts an API server that ends, and passes it the processes that run on", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    world.started[0]?.send({ kind: "ensure", process: podRequest("u1") });
    const [operator] = world.living("operator");
    expect(operator?.spec).toMatchObject({
      args: ["--max-semi-space-size=4", "--no-memory-reducer", "/lattice.js", "operator"],
      env: { PATH: "/bin", LATTICE_CACHE: "/home/a/.cache/lattice", HOME: operator?.spec.cwd },
    });
    world.started[0]?.end(137);
    expect(fleet.clusters()[0]).toMatchObject({ state: "Restarting", pids: [operator?.pid] });
    await world.clock.advance(0);
    const [restarted] = world.living("__fleet-api-server");
    expect(restarted?.received[0]).toMatchObject({
      kind: "begin",
      processes: [{ uid: "u1", phase: "running", pid: operator?.pid, restarts: 0 }],
    });
    restarted?.send({ kind: "ensure", process: podRequest("u1") });
    expect(world.living("operator")).toEqual([operator]);
    await fleet.close();
    expect(world.clock.pending).toBe(0);
  });

  it("restarts the process of a Pod, and reports it to the API server", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    const [server] = world.started;
    server?.send({ kind: "ensure", process: podRequest("u1") });
    world.living("operator")[0]?.end(1);
    expect(server?.received.at(-1)).toMatchObject({
      kind: "process",
      process: { uid: "u1", phase: "waiting", delayMs: 0, last: { exitCode: 1 } },
    });
    await world.clock.advance(0);
    expect(server?.received.at(-1)).toMatchObject({ process: { phase: "running", restarts: 1 } });
    server?.send({ kind: "stop", uid: "u1", graceMs: 1_000 });
    await world.clock.advance(0);
    expect(server?.received.at(-1)).toMatchObject({ process: { phase: "ended", last: { exitCode: 0 } } });
    server?.send({ kind: "ensure", process: podRequest("u1") });
    expect(server?.received.at(-1)).toMatchObject({ process: { phase: "running", restarts: 2 } });
    await fleet.close();
  });

  it("asks an operator that listens whether it is ready, and writes its output to its log", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    let status = 503;
    const http = createServer((_, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const health = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const request = podRequest("u1");
    world.started[0]?.send({ kind: "ensure", process: request });
    const [operator] = world.living("operator");
    operator?.handlers.onOutput("stderr", new TextEncoder().encode("leading\n"));
    operator?.send({ kind: "listening", health: "http://192.0.2.1:80" });
    expect(fleet.clusters()[0]?.operators).toMatchObject([{ ready: false, health: undefined }]);
    operator?.send({ kind: "listening", health });
    const shown = async () => {
      await world.clock.advance(250);
      return fleet.clusters()[0]?.operators;
    };
    expect(await shown()).toMatchObject([{ ready: false, health }]);
    status = 200;
    await expect.poll(shown).toMatchObject([{ pod: request.pod, pid: operator?.pid, ready: true, health }]);
    expect(world.started[0]?.received.at(-1)).toMatchObject({ process: { uid: "u1", ready: true } });
    expect(readFileSync(join(request.folder, "0.log"), "utf8")).toMatch(/ stderr F leading\n$/);
    operator?.end(1);
    expect(fleet.clusters()[0]?.operators).toMatchObject([{ ready: false, health: undefined }]);
    await fleet.close();
    await new Promise((resolve) => http.close(resolve));
    expect(world.clock.pending).toBe(0);
  });

  it("runs an operator whose log cannot be written, and reports it once", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    const request = podRequest("u1");
    mkdirSync(dirname(request.folder), { recursive: true });
    writeFileSync(request.folder, "");
    world.started[0]?.send({ kind: "ensure", process: request });
    const [operator] = world.living("operator");
    for (const text of ["a", "b"]) operator?.handlers.onOutput("stdout", new TextEncoder().encode(`${text}\n`));
    expect(world.lines).toEqual(["warn the log of a process is lost"]);
    await fleet.close();
  });

  it("forgets a Pod: its process ends, and its files are deleted", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    const request = podRequest("u1");
    world.started[0]?.send({ kind: "ensure", process: request });
    expect(existsSync(join(request.folder, "0.log"))).toBe(true);
    world.started[0]?.send({ kind: "forget", uid: "u1", graceMs: 0 });
    await world.clock.advance(0);
    expect([world.living("operator"), existsSync(request.cwd), existsSync(dirname(request.folder))]).toEqual([[], false, false]);
    expect(fleet.clusters()[0]?.pids).toHaveLength(1);
    await fleet.close();
  });

  it("waits for the end of a process before it starts the next one of the same Pod", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    world.ignoresTerm = true;
    world.started[0]?.send({ kind: "ensure", process: podRequest("u1") });
    const [first] = world.living("operator");
    world.started[0]?.send({ kind: "stop", uid: "u1", graceMs: 1_000 });
    world.started[0]?.send({ kind: "ensure", process: podRequest("u1") });
    expect(world.living("operator")).toEqual([first]);
    await world.clock.advance(1_000);
    expect(first?.signals).toEqual(["SIGTERM", "SIGKILL"]);
    expect(world.living("operator")).toHaveLength(1);
    world.ignoresTerm = false;
    await fleet.close();
  });

  it("ends operators before API servers, and does not wait for those that ignore a signal", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    world.started[0]?.send({ kind: "ensure", process: podRequest("u1") });
    world.ignoresTerm = true;
    const [server, operator] = world.started;
    const closed = fleet.close();
    expect([operator?.signals, server?.signals]).toEqual([["SIGTERM"], []]);
    server?.send({ kind: "ensure", process: podRequest("u2") });
    await world.clock.advance(5_000);
    expect([operator?.signals, server?.signals]).toEqual([["SIGTERM", "SIGKILL"], ["SIGTERM"]]);
    // the API server is not informed of the end: the Pod runs again at the next start
    expect(server?.received.at(-1)).toMatchObject({ process: { phase: "running" } });
    await world.clock.advance(4_000);
    await closed;
    expect(world.started.every(({ alive }) => !alive)).toBe(true);
    expect(await fleet.stop("mgmt")).toEqual(err("lattice up is stopping"));
    expect(world.clock.pending).toBe(0);
  });

  it("runs again with the clusters of its folder, their parents, and those that were stopped", async () => {
    const { fleet: before } = await running();
    await before.stop("cluster-2");
    await before.close();
    writeFileSync(join(path, "fleet.json"), "edited {");
    mkdirSync(join(path, "clusters", "Not A Name"));
    writeFileSync(join(path, "clusters", "file"), "");
    const { world, fleet } = await running([{ name: "mgmt" }]);
    expect(fleet.clusters().map(({ name, parent, state }) => [name, parent, state])).toEqual([
      ["mgmt", undefined, "Running"],
      ["cluster-2", "mgmt", "Stopped"],
    ]);
    expect(world.fleetFile().clusters).toHaveLength(2);
    await fleet.close();
  });

  it("ignores settings of a cluster that cannot be read", async () => {
    mkdirSync(join(path, "clusters", "mgmt"), { recursive: true });
    writeFileSync(join(path, "clusters", "mgmt", "cluster.json"), "edited {");
    const { world, fleet } = await running();
    expect(fleet.clusters()[0]?.state).toBe("Running");
    expect(world.lines).toContainEqual(expect.stringContaining("the settings of a cluster cannot be read"));
    await fleet.close();
  });

  it.each([
    { name: "a name that is none", clusters: [{ name: "../x" }], want: '"../x" cannot be the name of a cluster' },
    { name: "too many", clusters: Array.from({ length: 51 }, (_, index) => ({ name: `c-${index}` })), want: "has 51 clusters; at most 50" },
  ])("refuses $name, and starts nothing", ({ clusters, want }) => {
    const world = new FakeFleet(path);
    expect(world.open(clusters)).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
    expect([world.started, readdirSync(path)]).toEqual([[], []]);
  });
});

describe("stop and start of a cluster", () => {
  it("end its processes, and start them again", async () => {
    const { world, fleet } = await running();
    let changes = 0;
    const end = fleet.subscribe(() => (changes += 1));
    expect(await fleet.stop("cluster-2")).toEqual(ok("stopped cluster cluster-2; its state is kept"));
    expect(fleet.clusters()[1]).toMatchObject({ state: "Stopped", pids: [] });
    await world.clock.advance(10_000);
    expect(world.living("__fleet-api-server")).toHaveLength(1);
    expect(await fleet.untilRunning("cluster-2", never)).toMatchObject({
      ok: false,
      error: expect.stringContaining("lattice start cluster-2") as string,
    });
    const starting = fleet.start("cluster-2");
    world.ready();
    expect(await starting).toEqual(ok("started cluster cluster-2"));
    expect(fleet.clusters()[1]?.state).toBe("Running");
    end();
    const seen = changes;
    await fleet.close();
    expect([seen > 0, changes]).toEqual([true, seen]);
  });

  it("twice is no error, and an unknown name suggests the nearest one", async () => {
    const { fleet } = await running();
    expect(await fleet.start("mgmt")).toEqual(ok("cluster mgmt runs already"));
    await fleet.stop("cluster-2");
    expect(await fleet.stop("cluster-2")).toEqual(ok("cluster cluster-2 is stopped already"));
    expect(await fleet.stop("cluster-1")).toEqual(err('there is no cluster "cluster-1"; did you mean "cluster-2"?'));
    expect(await fleet.start("production")).toEqual(err('there is no cluster "production"; there are mgmt, cluster-2'));
    await fleet.close();
  });

  it("removes the lock of an API server that had to be killed, and no other", async () => {
    const { world, fleet } = await running();
    const data = (name: string) => join(path, "clusters", name, "data", "lock");
    const holder = (pid: number, process: string) => `${JSON.stringify({ pid, process, since: "2026-01-01T00:00:00Z" })}\n`;
    writeFileSync(data("mgmt"), holder(1_000_000, "a process that has ended"));
    writeFileSync(data("cluster-2"), holder(process.pid, nodeProcesses.identify(process.pid) ?? ""));
    await Promise.all([fleet.stop("mgmt"), fleet.stop("cluster-2")]);
    expect([existsSync(data("mgmt")), existsSync(data("cluster-2"))]).toEqual([false, true]);
    expect(world.living("__fleet-api-server")).toEqual([]);
  });

  it("a start during a stop waits for its end", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    const stopping = fleet.stop("mgmt");
    const starting = fleet.start("mgmt");
    await stopping;
    await world.clock.advance(0);
    world.ready();
    expect(await starting).toEqual(ok("started cluster mgmt"));
    await fleet.close();
  });
});

describe("a cluster that cannot start", () => {
  it("is reported with the reason of its API server", async () => {
    const world = new FakeFleet(path);
    const fleet = expectOk(world.open());
    const waiting = fleet.untilRunning("mgmt", never);
    world.started[0]?.send({ kind: "failed", message: "the log is damaged; --repair starts with the intact part" });
    expect(await waiting).toEqual(err("cluster mgmt cannot start: the log is damaged; --repair starts with the intact part"));
    world.started[0]?.end(2);
    await world.clock.advance(0);
    world.ready();
    expect(await fleet.untilRunning("mgmt", never)).toMatchObject({ ok: true, value: { name: "mgmt", state: "Running" } });
    await fleet.close();
  });

  it("can be stopped and started again when the reason is gone", async () => {
    const world = new FakeFleet(path);
    const fleet = expectOk(world.open());
    world.started[0]?.send({ kind: "failed", message: "no space left on device" });
    expect((await fleet.untilRunning("mgmt", never)).ok).toBe(false);
    await fleet.stop("mgmt");
    const starting = fleet.start("mgmt");
    world.ready();
    expect(await starting).toEqual(ok("started cluster mgmt"));
    await fleet.close();
  });

  it("is reported after some attempts that end without a reason", async () => {
    const world = new FakeFleet(path);
    const fleet = expectOk(world.open([{ name: "mgmt" }]));
    const waiting = fleet.untilRunning("mgmt", never);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      world.living("__fleet-api-server")[0]?.end(134);
      await world.clock.advance(2_000);
    }
    expect(await waiting).toEqual(
      err(
        `cluster mgmt cannot start: its API server ended with exit code 134; its log is ${join(path, "clusters/mgmt/logs/api-server.log")}`,
      ),
    );
    await fleet.close();
  });

  it("ends waiting with the signal", async () => {
    const world = new FakeFleet(path);
    const fleet = expectOk(world.open());
    const stop = new AbortController();
    const waiting = fleet.untilRunning("mgmt", stop.signal);
    stop.abort();
    expect(await waiting).toEqual(err("cluster mgmt has not started yet"));
    await fleet.close();
  });

  it("ignores messages that are none", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }]);
    world.started[0]?.handlers.onMessage({ kind: "unknown" });
    expect(world.lines).toEqual(["warn a message of an API server cannot be read"]);
    await fleet.close();
  });
});

describe("a cluster that is added while the fleet runs", () => {
  it("runs beside the others, and is deleted with its folder; its children have no parent afterwards", async () => {
    const { world, fleet } = await running([{ name: "mgmt" }, { name: "cluster-2", parent: "lattice-bootstrap" }]);
    const adding = fleet.add({ name: "lattice-bootstrap" });
    await world.clock.advance(0);
    world.ready();
    expect(await adding).toMatchObject({ ok: true, value: { name: "lattice-bootstrap", state: "Running", bare: false } });
    expect(await fleet.add({ name: "lattice-bootstrap" })).toMatchObject({ ok: true, value: { state: "Running" } });
    expect(fleet.clusters().map(({ name }) => name)).toEqual(["mgmt", "cluster-2", "lattice-bootstrap"]);
    expect(await fleet.remove("lattice-bootstrap")).toEqual(ok(undefined));
    await world.clock.advance(50);
    expect(readdirSync(join(path, "clusters"))).toEqual(["cluster-2", "mgmt"]);
    expect(world.fleetFile().clusters.map(({ name, parent }) => [name, parent])).toEqual([
      ["mgmt", undefined],
      ["cluster-2", undefined],
    ]);
    expect(readFileSync(join(path, "clusters/cluster-2/cluster.json"), "utf8")).not.toContain("parent");
    expect(await fleet.remove("lattice-bootstrap")).toMatchObject({
      ok: false,
      error: expect.stringContaining("there is no cluster") as string,
    });
    await fleet.close();
    expect(await fleet.add({ name: "later" })).toEqual(err("lattice up is stopping"));
  });

  it("cannot have the name of a cluster that is made of machines, which only its owner removes", async () => {
    const folder = join(path, "clusters", "dev");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "cluster.json"), JSON.stringify({ bare: true, version: "v1.36.3" }));
    const { fleet } = await running([{ name: "mgmt" }]);
    expect(await fleet.add({ name: "dev" })).toMatchObject({ ok: false, error: expect.stringContaining("made of machines") as string });
    expect(await fleet.remove("dev")).toMatchObject({ ok: false, error: expect.stringContaining("made of machines") as string });
    await fleet.close();
  });

  it("does not replace the kubeconfig of the folder, which is the management cluster's", async () => {
    const world = new FakeFleet(path);
    const fleet = expectOk(world.open([{ name: "lattice-bootstrap" }], "mgmt"));
    world.ready();
    await world.clock.advance(50);
    expect(existsSync(join(path, "kubeconfig"))).toBe(false);
    const adding = fleet.add({ name: "mgmt" });
    await world.clock.advance(0);
    world.ready();
    await adding;
    expect(fleet.clusters().map(({ name }) => name)).toEqual(["mgmt", "lattice-bootstrap"]);
    expect(readFileSync(join(path, "kubeconfig"), "utf8")).toBe(`kubeconfig of ${join(path, "clusters/mgmt")}`);
    await fleet.close();
  });
});
