/** Unmodified kubectl against the embedded cluster with workloads and simulated nodes: its waits and reports must be correct. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbeddedCluster } from "#embedded-cluster";
import { runProgram, sharedPlane, type Ran } from "./harness/index.ts";

const home = mkdtempSync(join(tmpdir(), "lattice-workloads-"));
const ends: (() => Promise<unknown>)[] = [];
let kubectl: (...args: readonly string[]) => Promise<Ran>;

beforeAll(async () => {
  const simulation = { nodes: 2, faults: [{ kind: "image-pull", on: { image: "*:broken" } }] } as const;
  const cluster = await startEmbeddedCluster({ controllers: { simulation }, logActions: false });
  ends.push(() => cluster.close());
  await cluster.writeKubeconfig(join(home, "kubeconfig"));
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: join(home, "kubeconfig") };
  kubectl = (...args) => runProgram(join(sharedPlane().binaries, "kubectl"), args, { env });
});

afterAll(async () => {
  for (const end of ends) await end();
  rmSync(home, { recursive: true, force: true });
});

test("rollout status, history and undo follow a Deployment", async () => {
  await kubectl("create", "deployment", "web", "--image=web:1", "--replicas=3");
  expect(await kubectl("rollout", "status", "deployment/web", "--timeout=30s")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('deployment "web" successfully rolled out') as string,
  });
  await kubectl("set", "image", "deployment/web", "web=web:2");
  expect((await kubectl("rollout", "status", "deployment/web", "--timeout=30s")).code).toBe(0);
  expect((await kubectl("rollout", "undo", "deployment/web")).stdout).toContain("rolled back");
  expect((await kubectl("rollout", "status", "deployment/web", "--timeout=30s")).code).toBe(0);
  expect((await kubectl("get", "deployment/web", "-o", "jsonpath={.spec.template.spec.containers[0].image}")).stdout).toBe("web:1");
  expect((await kubectl("rollout", "history", "deployment/web")).stdout).toMatch(/REVISION[\s\S]*2 [\s\S]*3 /);
  expect((await kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")).stdout).toContain("condition met");
});

test("rollout status ends with the deadline when an image cannot be pulled, and get pods shows why", async () => {
  await kubectl("create", "deployment", "broken", "--image=web:1", "--replicas=2");
  await kubectl("patch", "deployment", "broken", "-p", '{"spec":{"progressDeadlineSeconds":2}}');
  await kubectl("rollout", "status", "deployment/broken", "--timeout=30s");
  await kubectl("set", "image", "deployment/broken", "web=web:broken");
  const status = await kubectl("rollout", "status", "deployment/broken", "--timeout=30s");
  expect([status.code, status.stderr.trim()]).toEqual([1, 'error: deployment "broken" exceeded its progress deadline']);
  expect((await kubectl("get", "pods", "-l", "app=broken")).stdout).toContain("ImagePullBackOff");
});

test("kubectl can wait for Jobs, StatefulSets and DaemonSets", async () => {
  await kubectl("create", "job", "work", "--image=work:1");
  expect((await kubectl("wait", "--for=condition=Complete", "job/work", "--timeout=30s")).stdout).toContain("condition met");
  const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "x", image: "x:1" }] } };
  const spec = { selector: { matchLabels: { app: "x" } }, template };
  const files = [
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "db" }, spec: { ...spec, serviceName: "db", replicas: 2 } },
    { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agent" }, spec },
  ];
  for (const [index, file] of files.entries()) {
    writeFileSync(join(home, `${index}.json`), JSON.stringify(file));
    expect((await kubectl("apply", "-f", join(home, `${index}.json`))).code).toBe(0);
    const what = `${file.kind.toLowerCase()}/${file.metadata.name}`;
    expect((await kubectl("rollout", "status", what, "--timeout=30s")).code).toBe(0);
    expect((await kubectl("rollout", "restart", what)).code).toBe(0);
    expect((await kubectl("rollout", "status", what, "--timeout=30s")).code).toBe(0);
  }
  expect((await kubectl("get", "nodes")).stdout).toMatch(/lattice-node-1\s+Ready[\s\S]*lattice-node-2\s+Ready/);
});
