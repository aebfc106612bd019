import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogger, err, FakeClock, ok, sensitive, type Result } from "#base";
import { keyText, type KubeObject, type ObjectKey, type OwnerReference, type Pod, type Resource } from "#kube";
import { OPERATOR_NAME, OPERATOR_NAMESPACE, operatorDeployment } from "#operator";
import { clusterFolderAt } from "../folder/layout.ts";
import type { FromApiServer, PodProcessReport } from "../messages/messages.ts";
import type { PodToken } from "./pod-tokens.ts";
import { FleetPodProcesses } from "./pod-processes.ts";
import { podsWithFolders, removePodFiles } from "./pod-files.ts";

const HOUR_MS = 3_600_000;

let path = "";
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "lattice-pods-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const owner = (kind: string, name: string, uid: string): OwnerReference => ({ apiVersion: "apps/v1", kind, name, uid, controller: true });

class World {
  readonly clock = new FakeClock();
  readonly sent: FromApiServer[] = [];
  readonly lines: string[] = [];
  readonly objects = new Map<string, KubeObject>();
  token: Result<PodToken, string> | undefined;
  tokens = 0;
  url = "https://127.0.0.1:6443";
  readonly folder = clusterFolderAt(path);

  constructor() {
    const deployment = operatorDeployment({ version: "1" });
    this.put("deployments", { ...deployment, metadata: { ...deployment.metadata, uid: "d" } });
    const metadata = { name: "set", namespace: OPERATOR_NAMESPACE, uid: "s", ownerReferences: [owner("Deployment", OPERATOR_NAME, "d")] };
    this.put("replicasets", { apiVersion: "apps/v1", kind: "ReplicaSet", metadata });
  }

  put(plural: string, object: KubeObject): void {
    this.objects.set(`${plural} ${keyText(object.metadata)}`, object);
  }

  open(adopted: readonly PodProcessReport[] = []): FleetPodProcesses {
    const { clock, folder } = this;
    return new FleetPodProcesses({
      folder,
      adopted,
      peek: <T extends KubeObject>({ plural }: Resource<T>, key: ObjectKey) =>
        this.objects.get(`${plural} ${keyText(key)}`) as T | undefined,
      requestToken: () => {
        this.tokens += 1;
        return Promise.resolve(this.token ?? ok({ token: sensitive(`token-${this.tokens}`), expiresAt: clock.now() + HOUR_MS }));
      },
      address: Promise.resolve({ url: this.url, certificateAuthority: "CA" }),
      send: (message) => this.sent.push(message),
      clock,
      logger: createLogger((level, message, fields) => this.lines.push(`${level} ${message} ${JSON.stringify(fields)}`)),
    });
  }

  file(uid: string, name: string): string {
    return join(this.folder.machines, "node-1", "pods", uid, name);
  }

  requests(): readonly FromApiServer["kind"][] {
    return this.sent.map(({ kind }) => kind);
  }
}

type Changes = {
  readonly uid?: string;
  readonly owners?: readonly OwnerReference[];
  readonly namespace?: string;
  readonly container?: object;
};

function pod({
  uid = "u1",
  owners = [owner("ReplicaSet", "set", "s")],
  namespace = OPERATOR_NAMESPACE,
  container = {},
}: Changes = {}): Pod {
  const { metadata, spec } = operatorDeployment({ version: "1" }).spec.template;
  const containers = spec.containers.map((one) => ({ ...one, ...container }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name: `p-${uid}`, namespace, uid, ownerReferences: owners },
    spec: { ...spec, nodeName: "node-1", containers },
  };
}

function report(more: Partial<PodProcessReport> = {}): PodProcessReport {
  const folder = join(path, "logs", "pods", `${OPERATOR_NAMESPACE}_p-u1_u1`, "operator");
  return {
    uid: "u1",
    pod: "p-u1",
    container: "operator",
    folder,
    phase: "running",
    pid: 7,
    startedAt: 5,
    restarts: 0,
    ready: false,
    ...more,
  };
}

const LATEST = { container: "operator", previous: false, follow: false, timestamps: false };

describe("Pods that run as processes", () => {
  it.each([
    { name: "a Pod of the operator's Deployment", given: {}, want: true },
    { name: "a Pod with the same labels", given: { owners: [] }, want: false },
    { name: "a Pod of another namespace", given: { namespace: "shop" }, want: false },
    { name: "a Pod that names a ReplicaSet with another uid", given: { owners: [owner("ReplicaSet", "set", "x")] }, want: false },
    { name: "a Pod of another ReplicaSet", given: { owners: [owner("ReplicaSet", "other", "o")] }, want: false },
    { name: "a Pod of a ReplicaSet that names a deleted Deployment", given: { owners: [owner("ReplicaSet", "old", "q")] }, want: false },
    { name: "a Pod of a Job", given: { owners: [{ ...owner("Job", "set", "s"), apiVersion: "batch/v1" }] }, want: false },
  ])("$name: $want", ({ given, want }) => {
    const world = new World();
    const set = (name: string, uid: string, by: OwnerReference) =>
      world.put("replicasets", {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: { name, namespace: OPERATOR_NAMESPACE, uid, ownerReferences: [by] },
      });
    set("other", "o", owner("Deployment", "other", "e"));
    set("old", "q", owner("Deployment", OPERATOR_NAME, "deleted"));
    expect(world.open().runs(pod(given))).toBe(want);
  });

  it("stay processes when their Deployment is deleted, also after a restart", async () => {
    const world = new World();
    const processes = world.open();
    processes.ensure(pod());
    await world.clock.advance(0);
    world.objects.clear();
    expect([processes.runs(pod()), processes.runs(pod({ uid: "u2" })), world.open().runs(pod())]).toEqual([true, false, true]);
    processes.close();
  });
});

describe("a Pod that is to run", () => {
  it("gets its files, and one process is requested however often the kubelet asks", async () => {
    const world = new World();
    const processes = world.open();
    // as a kubelet: every change of the states leads to another call
    processes.subscribe(() => processes.ensure(pod()));
    processes.ensure(pod());
    processes.ensure(pod());
    expect(processes.states("u1")?.get("operator")).toMatchObject({ state: { kind: "waiting", reason: "ContainerCreating" } });
    await world.clock.advance(1_000);
    const folder = join(world.file("u1", "."));
    expect(world.sent).toEqual([
      {
        kind: "ensure",
        process: {
          uid: "u1",
          pod: "p-u1",
          container: "operator",
          folder: report().folder,
          args: [
            "operator",
            "--identity-file",
            join(folder, "volumes/state/identity"),
            "--health-address",
            "127.0.0.1:0",
            "--webhook-address",
            "127.0.0.1:0",
          ],
          env: { POD_NAME: "p-u1", POD_NAMESPACE: OPERATOR_NAMESPACE, HOME: folder, KUBECONFIG: join(folder, "kubeconfig") },
          cwd: folder,
        },
      },
    ]);
    expect(readFileSync(join(folder, "token"), "utf8")).toBe("token-1\n");
    const kubeconfig = readFileSync(join(folder, "kubeconfig"), "utf8");
    expect(kubeconfig).toContain(`tokenFile: ${join(folder, "token")}`);
    expect(kubeconfig).not.toContain("token-1");
    expect(["token", "kubeconfig", "volumes", "."].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([
      0o600, 0o600, 0o700, 0o700,
    ]);
    processes.close();
    expect(world.clock.pending).toBe(0);
  });

  it("shows what the supervisor reports", async () => {
    const world = new World();
    const processes = world.open();
    const changed: string[] = [];
    const end = processes.subscribe((uid) => changed.push(uid));
    processes.ensure(pod());
    await world.clock.advance(0);
    const shown = (more: Partial<PodProcessReport>) => {
      processes.update(report(more));
      return processes.states("u1")?.get("operator");
    };
    const last = { exitCode: 1, startedAt: 5, finishedAt: 9 };
    expect(shown({ phase: "idle" })).toMatchObject({ state: { kind: "waiting", reason: "ContainerCreating" }, ready: false });
    expect(shown({ ready: true })).toEqual({ state: { kind: "running", startedAt: 5 }, restarts: 0, ready: true, last: undefined });
    expect(shown({ phase: "waiting", delayMs: 4_000, last, restarts: 3 })).toEqual({
      state: { kind: "waiting", reason: "CrashLoopBackOff", message: "back-off 4s restarting failed container=operator pod=p-u1" },
      last: { kind: "ended", ...last },
      restarts: 3,
      ready: false,
    });
    expect(shown({ phase: "waiting", problem: "spawn EAGAIN" })?.state).toMatchObject({
      reason: "RunContainerError",
      message: expect.stringContaining("EAGAIN") as string,
    });
    expect(shown({ phase: "stopping", ready: true })).toMatchObject({ state: { kind: "running" }, ready: false });
    expect(shown({ phase: "ended", last })?.state).toEqual({ kind: "ended", ...last });
    expect(shown({ phase: "ended" })?.state).toMatchObject({ kind: "ended", startedAt: 0 });
    processes.update(report({ uid: "unknown" }));
    expect([changed.every((uid) => uid === "u1"), processes.states("unknown")]).toEqual([true, undefined]);
    end();
    processes.close();
  });

  it("that is refused waits with the reason, and starts when it can", async () => {
    const world = new World();
    const processes = world.open();
    const container = { env: [{ name: "LATTICE_X", valueFrom: { configMapKeyRef: { name: "settings", key: "x" } } }] };
    processes.ensure(pod({ container }));
    await world.clock.advance(0);
    expect(processes.states("u1")?.get("operator")?.state).toEqual({
      kind: "waiting",
      reason: "CreateContainerConfigError",
      message: "env[0] (LATTICE_X): ConfigMap settings does not exist",
    });
    const settings = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: OPERATOR_NAMESPACE },
      data: { x: "1" },
    };
    world.put("configmaps", settings);
    await world.clock.advance(2_000);
    expect(world.sent).toMatchObject([{ kind: "ensure", process: { env: { LATTICE_X: "1" } } }]);
    processes.close();
  });

  it("without a ServiceAccount waits with the reason", async () => {
    const world = new World();
    const processes = world.open();
    world.token = err("serviceaccounts lattice-operator not found");
    processes.ensure(pod());
    await world.clock.advance(0);
    expect(processes.states("u1")?.get("operator")?.state).toMatchObject({ message: "serviceaccounts lattice-operator not found" });
    processes.close();
    expect(world.clock.pending).toBe(0);
  });

  it("has variables that the process does not get: they are logged once", async () => {
    const world = new World();
    const processes = world.open();
    processes.ensure(pod({ container: { env: [{ name: "NODE_OPTIONS", value: "--require=/evil.js" }] } }));
    await world.clock.advance(0);
    expect(world.lines).toEqual(['warn variables of a Pod are not passed to its process {"pod":"p-u1","names":["NODE_OPTIONS"]}']);
    processes.close();
  });

  it("is one of at most ten", async () => {
    const world = new World();
    const processes = world.open();
    for (let index = 1; index <= 12; index += 1) {
      processes.ensure(pod({ uid: `u${index}` }));
      await world.clock.advance(0);
    }
    expect(world.sent).toHaveLength(10);
    expect(processes.states("u12")?.get("operator")?.state).toMatchObject({
      message: expect.stringContaining("at most 10 Pods") as string,
    });
    processes.stop(pod({ uid: "u1" }), 0);
    await world.clock.advance(2_000);
    expect(world.requests().filter((kind) => kind === "ensure")).toHaveLength(11);
    processes.close();
    expect(world.clock.pending).toBe(0);
  });

  it("on a node whose name is no name of a folder is refused", async () => {
    const world = new World();
    const processes = world.open();
    const placed = pod();
    processes.ensure({ ...placed, spec: { ...placed.spec, nodeName: "../../x" } });
    await world.clock.advance(0);
    expect(processes.states("u1")?.get("operator")?.state).toMatchObject({
      message: expect.stringContaining("cannot be the name of a folder") as string,
    });
    processes.close();
  });
});

describe("the token of a Pod", () => {
  it("is replaced before it expires, and again after a failure", async () => {
    const world = new World();
    const processes = world.open();
    processes.ensure(pod());
    await world.clock.advance(HOUR_MS * 0.79);
    expect(world.tokens).toBe(1);
    await world.clock.advance(HOUR_MS * 0.02);
    expect(readFileSync(world.file("u1", "token"), "utf8")).toBe("token-2\n");
    world.token = err("the server is not ready");
    await world.clock.advance(HOUR_MS * 0.8);
    expect(world.lines).toContainEqual(expect.stringContaining("a token cannot be renewed"));
    world.token = undefined;
    await world.clock.advance(30_000);
    expect(readFileSync(world.file("u1", "token"), "utf8")).toBe(`token-${world.tokens}\n`);
    processes.stop(pod(), 0);
    expect(world.clock.pending).toBe(0);
  });
});

describe("a Pod that is stopped", () => {
  it("ends its process, and starts again when the kubelet asks for it", async () => {
    const world = new World();
    const processes = world.open();
    processes.ensure(pod());
    await world.clock.advance(0);
    processes.update(report());
    processes.stop(pod(), 3_000);
    expect(world.sent.at(-1)).toEqual({ kind: "stop", uid: "u1", graceMs: 3_000 });
    expect(processes.states("u1")?.get("operator")?.state.kind).toBe("running");
    processes.update(report({ phase: "ended", last: { exitCode: 0, startedAt: 5, finishedAt: 6 } }));
    expect(processes.states("u1")?.get("operator")?.state.kind).toBe("ended");
    processes.ensure(pod());
    await world.clock.advance(0);
    expect(world.requests()).toEqual(["ensure", "stop", "ensure"]);
    processes.close();
  });

  it("before its process was requested has ended", async () => {
    const world = new World();
    const processes = world.open();
    processes.ensure(pod());
    processes.stop(pod(), 3_000);
    await world.clock.advance(10_000);
    expect(processes.states("u1")?.get("operator")?.state).toMatchObject({ kind: "ended", startedAt: 0 });
    expect([world.sent, world.clock.pending]).toEqual([[], 0]);
  });

  it("and gone is forgotten with its files", async () => {
    const world = new World();
    const processes = world.open();
    processes.ensure(pod());
    await world.clock.advance(0);
    processes.forget("u1");
    expect(world.sent.at(-1)).toEqual({ kind: "forget", uid: "u1", graceMs: 0 });
    expect([processes.states("u1"), world.clock.pending]).toEqual([undefined, 0]);
    mkdirSync(report().folder, { recursive: true });
    removePodFiles(world.folder, "../../..");
    removePodFiles(world.folder, "u1");
    expect([podsWithFolders(world.folder).size, existsSync(report().folder), existsSync(path)]).toEqual([0, false, true]);
  });
});

describe("after a restart of the API server", () => {
  it("a process that runs is adopted, with a new token", async () => {
    const world = new World();
    const before = world.open();
    before.ensure(pod());
    await world.clock.advance(0);
    before.close();
    world.sent.length = 0;
    const processes = world.open([report({ ready: true })]);
    expect(processes.states("u1")?.get("operator")).toMatchObject({ state: { kind: "running" }, ready: true });
    processes.ensure(pod());
    processes.ensure(pod());
    await world.clock.advance(0);
    expect([world.sent, readFileSync(world.file("u1", "token"), "utf8")]).toEqual([[], "token-2\n"]);
    processes.close();
  });

  it("on another port it is started again, with the new kubeconfig", async () => {
    const world = new World();
    const before = world.open();
    before.ensure(pod());
    await world.clock.advance(0);
    before.close();
    world.url = "https://127.0.0.1:7777";
    const processes = world.open([report()]);
    processes.ensure(pod());
    await world.clock.advance(0);
    expect(world.requests()).toEqual(["ensure", "stop", "ensure"]);
    expect(readFileSync(world.file("u1", "kubeconfig"), "utf8")).toContain("7777");
    processes.close();
  });

  it("processes and files of Pods that were deleted meanwhile are removed", async () => {
    const world = new World();
    const before = world.open();
    before.ensure(pod({ uid: "u2" }));
    await world.clock.advance(0);
    before.close();
    world.sent.length = 0;
    const processes = world.open([report(), report({ uid: "u3" })]);
    processes.retain(new Set(["u3"]));
    expect(world.sent).toEqual([
      { kind: "forget", uid: "u1", graceMs: 5_000 },
      { kind: "forget", uid: "u2", graceMs: 5_000 },
    ]);
    expect([processes.states("u1"), processes.states("u3")?.size]).toEqual([undefined, 1]);
  });
});

describe("the log of a Pod", () => {
  it("is read from its file; there is none of another container or of an unknown Pod", async () => {
    const world = new World();
    const processes = world.open([report({ restarts: 1 })]);
    mkdirSync(report().folder, { recursive: true });
    for (const number of [0, 1])
      writeFileSync(join(report().folder, `${number}.log`), `2026-01-01T00:00:00.000000000Z stdout F line ${number}\n`);
    const read = async (more: Partial<typeof LATEST>) => {
      let text = "";
      const chunks = processes.readLog("u1", { ...LATEST, ...more }, new AbortController().signal);
      for await (const chunk of chunks ?? []) text += new TextDecoder().decode(chunk);
      return text;
    };
    expect([await read({}), await read({ previous: true })]).toEqual(["line 1\n", "line 0\n"]);
    expect(processes.readLog("u1", { ...LATEST, container: "x" }, new AbortController().signal)).toBeUndefined();
    expect(processes.readLog("u9", LATEST, new AbortController().signal)).toBeUndefined();
    processes.update(report({ restarts: 1, phase: "ended" }));
    expect(await read({ follow: true })).toBe("line 1\n");
  });
});
