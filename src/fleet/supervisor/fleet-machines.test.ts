import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { err, expectOk, ok } from "#base";
import type { Fleet } from "../fleet-types.ts";
import type { MachineRequest } from "../messages/messages.ts";
import { FakeFleet, type FakeProcess } from "./fake-fleet.test-support.ts";
import { isNewer } from "./machine-commands.ts";

let path = "";
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "lattice-fleet-machines-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const POLL = { timeout: 10_000, interval: 5 };
const child = (name = "") => join(path, "clusters/child", name);
const request = (id: string, more: Partial<MachineRequest> = {}): MachineRequest => ({
  id,
  name: `m-${id}`,
  cluster: "child",
  namespace: "capi-child",
  controlPlane: true,
  version: "v1.35.1",
  bootstrapData: "#cloud-config\n",
  ...more,
});

class World extends FakeFleet {
  fleet: Fleet | undefined;

  start(names: readonly string[] = ["mgmt"]): Fleet {
    this.fleet = expectOk(this.open(names.map((name) => ({ name }))));
    this.ready();
    return this.fleet;
  }

  server(name: string): FakeProcess {
    const found = this.living("__fleet-api-server").find(({ spec }) => spec.args.at(-1) === name);
    if (found === undefined) throw new Error(`there is no API server of ${name}`);
    return found;
  }

  machine(name: string): FakeProcess {
    const found = this.living("__fleet-machine").find(({ spec }) => spec.args.at(-1) === name);
    if (found === undefined) throw new Error(`there is no process of machine ${name}`);
    return found;
  }

  ensure(machine: MachineRequest, owner = "mgmt"): void {
    this.server(owner).send({ kind: "machine-ensure", machine });
  }

  remove(id: string, owner = "mgmt"): void {
    this.server(owner).send({ kind: "machine-remove", id });
  }

  token(name: string): string {
    return this.machine(name).spec.env["LATTICE_MACHINE_TOKEN"] ?? "";
  }

  /** What the API server of a cluster received last about a machine. */
  stateOf(id: string, owner = "mgmt"): unknown {
    type Message = { kind: string; id?: string; machine?: { id: string } };
    return (this.server(owner).received as Message[]).findLast((message) => message.machine?.id === id || message.id === id);
  }

  /** Its commands have succeeded. */
  complete(name: string): void {
    const process = this.machine(name);
    writeFileSync(join(process.spec.cwd, "completed"), "");
    process.end(0);
  }

  /** As kubeadm does. */
  async init(name: string): Promise<void> {
    const asked = this.fleet?.machine({ command: "machine-init", token: this.token(name), cluster: "child", version: "v1.35.1" });
    this.ready();
    expect(await asked).toMatchObject({ ok: true, value: { name, kubeconfig: child("kubeconfig") } });
    await this.register(name);
  }

  async register(name: string): Promise<void> {
    expectOk((await this.fleet?.machine({ command: "machine-node", token: this.token(name), node: name })) ?? err("no fleet"));
    this.complete(name);
  }
}

describe("a machine", () => {
  it("is a process with its bootstrap data in a folder, and an environment of its own", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    const folder = child("machines/m-a");
    expect(world.machine("m-a").spec).toEqual({
      command: "/node",
      args: ["--max-semi-space-size=4", "--no-memory-reducer", "/lattice.js", "__fleet-machine", "--folder", folder, "--name", "m-a"],
      env: {
        PATH: `${folder}/bin:/usr/bin:/bin`,
        HOME: folder,
        TMPDIR: `${folder}/tmp`,
        LATTICE_CACHE: "/home/a/.cache/lattice",
        LATTICE_ROOT: folder,
        LATTICE_FLEET_SOCKET: "/control.sock",
        LATTICE_MACHINE_TOKEN: expect.stringMatching(/^[\w-]{43}$/) as string,
      },
      cwd: folder,
    });
    expect(readFileSync(join(folder, "user-data"), "utf8")).toBe("#cloud-config\n");
    expect(world.processes.map(({ pid }) => pid)).toContain(world.machine("m-a").pid);
    expect(world.stateOf("a")).toEqual({ kind: "machine-state", machine: { id: "a", phase: "starting" } });
    // its cluster is none of the fleet before kubeadm init
    expect(fleet.clusters().map(({ name }) => name)).toEqual(["mgmt"]);
    world.ensure(request("a"));
    expect(world.living("__fleet-machine")).toHaveLength(1);
    await fleet.close();
    expect([world.living("__fleet-machine"), world.clock.pending]).toEqual([[], 0]);
  });

  it("that fails is started again, with its last line as the message", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    const first = world.machine("m-a");
    first.handlers.onOutput("stderr", Buffer.from("one\nthe disk is full\n"));
    first.end(1);
    expect(world.stateOf("a")).toMatchObject({ machine: { phase: "failed", message: "the disk is full" } });
    expect(readFileSync(child("machines/m-a/machine.log"), "utf8")).toBe("one\nthe disk is full\n");
    await world.clock.advance(0);
    expect(world.machine("m-a")).not.toBe(first);
    // until it succeeds, or registers a Node
    expect(world.stateOf("a")).toMatchObject({ machine: { phase: "failed" } });
    world.machine("m-a").end(3);
    expect(world.stateOf("a")).toMatchObject({ machine: { phase: "failed", message: "its commands ended with exit code 3" } });
    await world.clock.advance(1_000);
    world.complete("m-a");
    expect(world.stateOf("a")).toEqual({ kind: "machine-state", machine: { id: "a", phase: "running" } });
    await world.clock.advance(60_000);
    expect(world.living("__fleet-machine")).toEqual([]);
    await fleet.close();
  });

  it("of a restarted supervisor continues, or is complete", async () => {
    const first = new World(path);
    const fleet = first.start();
    first.ensure(request("a"));
    first.ensure(request("b", { controlPlane: false }));
    await first.init("m-a");
    await fleet.close();
    const second = new World(path);
    const again = second.start();
    expect(second.living("__fleet-machine").map(({ spec }) => spec.args.at(-1))).toEqual(["m-b"]);
    expect(second.server("mgmt").received[0]).toMatchObject({
      kind: "begin",
      machines: [
        { id: "a", phase: "running", nodeName: "m-a" },
        { id: "b", phase: "starting" },
      ],
    });
    expect(second.server("child").received[0]).toMatchObject({ kind: "begin", bare: true, version: "v1.35.1", machines: [] });
    expect(again.clusters()).toMatchObject([{ name: "mgmt" }, { name: "child", parent: "mgmt", state: "Running" }]);
    await again.close();
  });

  describe("of one cluster, requested with its exact name", () => {
    const rows: { name: string; owner: string; more?: Partial<MachineRequest>; want?: string }[] = [
      { name: "by the cell that made it: is the same machine", owner: "mgmt", more: { bootstrapData: "other" } },
      {
        name: "by a cluster that has a child of the same name: is refused",
        owner: "cluster-2",
        more: { bootstrapData: "other" },
        want: "the name child is used by a cluster of mgmt; choose another one",
      },
      { name: "by a cluster to which its objects were moved, with its bootstrap data: is the same machine", owner: "cluster-2" },
      {
        name: "in another namespace of the same cluster: is refused",
        owner: "mgmt",
        more: { namespace: "tenant" },
        want: "the name child is used by a cluster in namespace capi-child; choose another one",
      },
    ];
    it.each(rows)("$name", async ({ owner, more, want }) => {
      const world = new World(path);
      const fleet = world.start(["mgmt", "cluster-2"]);
      world.ensure(request("a", { bootstrapData: "#cloud-config\n# token 1\n" }));
      await world.init("m-a");
      const { bootstrapData = "#cloud-config\n# token 1\n", ...rest } = more ?? {};
      world.ensure(request("x", { name: "m-a", bootstrapData, ...rest }), owner);
      const state = want === undefined ? { phase: "running", nodeName: "m-a" } : { phase: "failed", message: want };
      expect(world.stateOf("x", owner)).toMatchObject({ machine: state });
      const record = JSON.parse(readFileSync(child("machines/m-a/machine.json"), "utf8")) as object;
      expect(record).toMatchObject(want === undefined ? { id: "x", owner } : { id: "a", owner: "mgmt" });
      // one that was refused cannot be removed by its requester
      world.remove("x", owner);
      if (want !== undefined) expect(existsSync(child("machines/m-a/machine.json"))).toBe(true);
      await fleet.close();
    });

    it("a new machine in another namespace is refused too", async () => {
      const world = new World(path);
      const fleet = world.start();
      world.ensure(request("a"));
      await world.init("m-a");
      world.ensure(request("b", { namespace: "tenant", controlPlane: false }));
      expect(world.stateOf("b")).toMatchObject({
        machine: { phase: "failed", message: expect.stringContaining("namespace capi-child") as string },
      });
      await fleet.close();
    });
  });

  it("that is requested under another id is the same one: its object was moved", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    await world.init("m-a");
    world.ensure(request("moved", { name: "m-a" }), "child");
    expect(world.stateOf("moved", "child")).toMatchObject({ machine: { phase: "running", nodeName: "m-a" } });
    world.remove("a"); // of the object that is gone
    expect(world.stateOf("a")).toEqual({ kind: "machine-gone", id: "a" });
    expect(existsSync(child("machines/m-a"))).toBe(true);
    // a new one of the cluster itself, after the move
    world.ensure(request("b", { controlPlane: false }), "child");
    expect(world.stateOf("b", "child")).toMatchObject({ machine: { phase: "starting" } });
    await fleet.close();
  });

  test.each([
    { name: "has a name with a path", machine: { name: "../../x" }, want: '"../../x" cannot be the name of a machine' },
    { name: "has a cluster with a path", machine: { cluster: "../x" }, want: '"../x" cannot be the name of a cluster' },
    {
      name: "is part of a cluster of lattice up",
      machine: { cluster: "mgmt" },
      want: "the name mgmt is used by a cluster of lattice up; choose another one",
    },
    {
      name: "is part of a cluster of another parent",
      machine: {},
      want: "the name child is used by a cluster of mgmt; choose another one",
      owner: "cluster-2",
    },
  ])("that $name is refused in its state, and writes nothing", async ({ machine, want, owner = "mgmt" }) => {
    const world = new World(path);
    const fleet = world.start(["mgmt", "cluster-2"]);
    if (owner === "cluster-2") world.ensure(request("first"));
    world.ensure(request("x", machine), owner);
    expect(world.stateOf("x", owner)).toEqual({ kind: "machine-state", machine: { id: "x", phase: "failed", message: want } });
    expect([existsSync(join(path, "clusters/mgmt/machines/m-x")), existsSync(child("machines/m-x"))]).toEqual([false, false]);
    world.server(owner).end(1);
    await world.clock.advance(0);
    expect(world.server(owner).received[0]).toMatchObject({ machines: [{ id: "x", phase: "failed" }] });
    world.remove("x", owner);
    expect(world.stateOf("x", owner)).toEqual({ kind: "machine-gone", id: "x" });
    await fleet.close();
  });

  it("needs a control socket, and a cluster that is not stopped", async () => {
    const world = new World(path);
    world.socket = undefined;
    const fleet = world.start();
    world.ensure(request("a"));
    expect(world.stateOf("a")).toMatchObject({ machine: { message: "this fleet cannot run machines: it has no control socket" } });
    await fleet.close();
  });

  it("cannot be written to a full disk, and says so", async () => {
    const world = new World(path);
    const fleet = world.start();
    writeFileSync(child(), "in the way");
    world.ensure(request("a"));
    expect(world.stateOf("a")).toMatchObject({
      machine: { phase: "failed", message: expect.stringContaining("is not a folder") as string },
    });
    await fleet.close();
  });
});

describe("a cluster of machines", () => {
  it("starts with kubeadm init of a control-plane machine, and others join it", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    world.ensure(request("b", { controlPlane: false }));
    const ask = (name: string) => fleet.machine({ command: "machine-join", token: world.token(name) });
    expect(await ask("m-b")).toEqual(err("cluster child has no API server yet; its first control-plane machine starts it"));
    await world.init("m-a");
    expect(await ask("m-b")).toMatchObject({
      ok: true,
      value: { name: "m-b", namespace: "capi-child", controlPlane: false, version: "v1.35.1" },
    });
    await world.register("m-b");
    expect(world.stateOf("b")).toEqual({ kind: "machine-state", machine: { id: "b", phase: "running", nodeName: "m-b" } });
    // a newer control-plane machine: the API server reports its version, also after a restart
    world.ensure(request("c", { version: "v1.36.0" }));
    expect((await ask("m-c")).ok).toBe(true);
    expect(world.server("child").received.at(-1)).toEqual({ kind: "version", version: "v1.36.0" });
    expect(JSON.parse(readFileSync(child("cluster.json"), "utf8"))).toEqual({
      parent: "mgmt",
      stopped: false,
      bare: true,
      version: "v1.36.0",
    });
    await fleet.close();
  });

  it("cannot be started by other processes, workers, or under another name", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    world.ensure(request("b", { controlPlane: false }));
    const init = (token: string, cluster = "child", version = "v1.35.1") =>
      fleet.machine({ command: "machine-init", token, cluster, version });
    expect(await init("guess")).toEqual(err("no machine of this fleet has this token"));
    expect(await init(world.token("m-b"))).toEqual(err("machine m-b is no control-plane machine; it can only join"));
    expect(await init(world.token("m-a"), "mgmt")).toEqual(err("machine m-a is part of cluster child, and cannot start cluster mgmt"));
    expect(await init(world.token("m-a"), "child", "latest")).toEqual(err('"latest" is not a Kubernetes version such as v1.36.3'));
    expect(fleet.clusters()).toHaveLength(1);
    await fleet.close();
  });

  it("that does not start in time is an error for kubeadm, which is repeated", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    const asked = fleet.machine({ command: "machine-init", token: world.token("m-a"), cluster: "child", version: "v1.35.1" });
    await world.clock.advance(60_000);
    expect(await asked).toEqual(err("cluster child has not started yet"));
    await world.init("m-a");
    await fleet.close();
  });

  it("that is stopped has stopped machines until it is started", async () => {
    const world = new World(path);
    const fleet = world.start();
    world.ensure(request("a"));
    await world.init("m-a");
    world.ensure(request("b", { controlPlane: false }));
    expectOk(await fleet.stop("child"));
    expect([world.living("__fleet-machine"), world.stateOf("a")]).toEqual([
      [],
      {
        kind: "machine-state",
        machine: { id: "a", phase: "starting", nodeName: "m-a", message: "cluster child is stopped; lattice start child starts it" },
      },
    ]);
    world.ensure(request("c"));
    expect(world.stateOf("c")).toMatchObject({ machine: { message: "cluster child is stopped; lattice start child starts it" } });
    const starting = fleet.start("child");
    world.ready();
    expect(await starting).toEqual(ok("started cluster child"));
    expect(world.stateOf("a")).toMatchObject({ machine: { phase: "running" } });
    expect(world.living("__fleet-machine")).toHaveLength(1);
    await fleet.close();
  });

  it("is removed with its last control-plane machine, when all processes have ended", async () => {
    const world = new World(path);
    const fleet = world.start();
    for (const id of ["a", "b"]) world.ensure(request(id));
    world.ensure(request("w", { controlPlane: false }));
    await world.init("m-a");
    world.remove("a");
    await expect.poll(() => existsSync(child("machines/m-a")), POLL).toBe(false);
    expect(world.stateOf("a")).toEqual({ kind: "machine-gone", id: "a" });
    expect(fleet.clusters()).toHaveLength(2);
    const processes = [world.server("child"), world.machine("m-b"), world.machine("m-w")];
    world.remove("b");
    world.remove("b");
    world.ensure(request("n")); // waits until the name is free again
    await expect.poll(() => world.living("__fleet-machine").map(({ spec }) => spec.args.at(-1)), POLL).toEqual(["m-n"]);
    expect(processes.map(({ alive }) => alive)).toEqual([false, false, false]);
    expect(["b", "w"].map((id) => world.stateOf(id))).toEqual(["b", "w"].map((id) => ({ kind: "machine-gone", id })));
    expect([fleet.clusters().map(({ name }) => name), readdirSync(child("machines"))]).toEqual([["mgmt"], ["m-n"]]);
    await expect.poll(() => readdirSync(join(path, "clusters")), POLL).toEqual(["child", "mgmt"]);
    await fleet.close();
  });

  it("whose removal was interrupted is removed by the next supervisor, and never started", async () => {
    const first = new World(path);
    const fleet = first.start();
    first.ensure(request("a"));
    first.ensure(request("b"));
    await first.init("m-a");
    await fleet.close();
    const settings = JSON.parse(readFileSync(child("cluster.json"), "utf8")) as object;
    writeFileSync(child("cluster.json"), JSON.stringify({ ...settings, removing: true }));
    mkdirSync(join(path, "clusters/.removed-other-0123abcd/data"), { recursive: true });
    const second = new World(path);
    const again = second.start();
    expect(again.clusters().map(({ name }) => name)).toEqual(["mgmt"]);
    await expect.poll(() => readdirSync(join(path, "clusters")), POLL).toEqual(["mgmt"]);
    expect(second.living("__fleet-machine")).toEqual([]);
    await again.close();
  });

  it("continues the removal of one machine after a restart, and skips a damaged one", async () => {
    const first = new World(path);
    const fleet = first.start();
    for (const id of ["a", "b", "c"]) first.ensure(request(id));
    await fleet.close();
    const record = (id: string) => child(`machines/m-${id}/machine.json`);
    writeFileSync(record("b"), JSON.stringify({ ...(JSON.parse(readFileSync(record("b"), "utf8")) as object), removed: true }));
    writeFileSync(record("c"), "{");
    const second = new World(path);
    const again = second.start();
    expect(second.living("__fleet-machine").map(({ spec }) => spec.args.at(-1))).toEqual(["m-a"]);
    await expect.poll(() => existsSync(child("machines/m-b")), POLL).toBe(false);
    expect(second.lines).toEqual(["warn a machine cannot be read, and is not started"]);
    await again.close();
  });
});

test.each([
  { version: "v1.36.0", than: "v1.35.9", want: true },
  { version: "v1.35.10", than: "v1.35.9", want: true },
  { version: "v1.35.1", than: "v1.35.1", want: false },
  { version: "v1.35.1", than: "v1.36.0", want: false },
  { version: "latest", than: "v1.36.0", want: false },
  { version: "v1.36.0", than: undefined, want: true },
])("$version is newer than $than: $want", ({ version, than, want }) => {
  expect(isNewer(version, than)).toBe(want);
});
