/** Unmodified kubectl on an embedded cluster whose Pods run as processes: `kubectl logs` with its flags. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { pods } from "#kube";
import { FakePodProcesses, PROCESS_LABELS } from "../builders/fake-pod-processes.ts";
import { ProcessLogs } from "../builders/process-logs.ts";
import { runProgram, sharedPlane, type Ran } from "./harness/index.ts";

let home = "";
let cluster: EmbeddedCluster;
const logs = new ProcessLogs();
const processes = new FakePodProcesses(() => Date.now());

const kubectl = (...args: readonly string[]): Promise<Ran> => {
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: join(home, "kubeconfig") };
  return runProgram(join(sharedPlane().binaries, "kubectl"), args, { env });
};
const output = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await kubectl("logs", ...args);
  return code === 0 ? stdout : stderr;
};

async function create(name: string, containers: readonly string[], labels: Record<string, string> = PROCESS_LABELS): Promise<void> {
  const key = { namespace: "default", name };
  const spec = { containers: containers.map((container) => ({ name: container, image: "w" })) };
  expectOk(await cluster.client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { ...key, labels }, spec }));
  await cluster.waitFor(pods, key, (pod) => pod?.status?.podIP !== undefined);
  if (!processes.runs({ apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec })) return;
  for (const container of containers) {
    logs.start(container);
    processes.run(processes.uidOf(name), container);
  }
  await cluster.waitFor(pods, key, (pod) => pod?.status?.phase === "Running");
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "lattice-embedded-logs-"));
  processes.logs = logs.read;
  cluster = await startEmbeddedCluster({ controllers: { simulation: { podProcesses: processes } }, logActions: false });
  await cluster.writeKubeconfig(join(home, "kubeconfig"));
  await create("web", ["web"]);
  logs.write("web", "one\ntwo\nthree\n");
  await create("two", ["main", "side"]);
  logs.write("main", "from main\n");
  logs.write("side", "from side\n");
});

afterAll(async () => {
  await cluster.close();
  logs.remove();
  rmSync(home, { recursive: true, force: true });
});

test("the log, its last lines, its beginning, since a time, with times", async () => {
  expect(await output("web")).toBe("one\ntwo\nthree\n");
  expect(await output("web", "--tail=2")).toBe("two\nthree\n");
  expect(await output("web", "--limit-bytes=5")).toBe("one\nt");
  expect(await output("web", "--since=1h", "--tail=1")).toBe("three\n");
  expect(await output("web", "--since-time=2100-01-01T00:00:00Z")).toBe("");
  expect(await output("web", "--timestamps", "--tail=1")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three\n$/);
});

test("several containers: one, all of them with a prefix, or the first", async () => {
  expect(await output("two", "-c", "side")).toBe("from side\n");
  const all = await output("two", "--all-containers", "--prefix"); // in the order of a Go map
  expect(all.split("\n").toSorted()).toEqual(["", "[pod/two/main] from main", "[pod/two/side] from side"]);
  expect((await kubectl("logs", "two")).stdout).toBe("from main\n");
  expect(await output("two", "-c", "nope")).toBe("error: container nope is not valid for pod two out of: main, side\n");
  expect(await output("two", "-p", "-c", "main")).toBe(
    'Error from server (BadRequest): previous terminated container "main" in pod "two" not found\n',
  );
});

test("-f follows until the process ends, and -p is the log before", async () => {
  const before = logs.taken;
  const followed = output("web", "-f", "--tail=1");
  await expect.poll(() => logs.taken, { timeout: 20_000 }).toBe(before + 1); // the last line so far
  logs.write("web", "four\n");
  logs.end("web");
  expect(await followed).toBe("three\nfour\n");
  processes.exit(processes.uidOf("web"), "web", 1);
  logs.start("web");
  logs.write("web", "again\n");
  processes.run(processes.uidOf("web"), "web", 1);
  await cluster.waitFor(pods, { namespace: "default", name: "web" }, (pod) => pod?.status?.containerStatuses?.[0]?.restartCount === 1);
  expect([await output("web"), await output("web", "-p", "--tail=1")]).toEqual(["again\n", "four\n"]);
});

test("a simulated Pod has no log, and exec is refused", async () => {
  await create("simulated", ["web"], {});
  expect(await output("simulated")).toContain("has no kubelet");
  expect((await kubectl("exec", "web", "--", "ls")).code).toBe(1);
});
