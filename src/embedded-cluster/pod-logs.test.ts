/** Logs of Pods that run as processes, over HTTP and without a socket. */
import { get as httpGet, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { pods } from "#kube";
import { FakePodProcesses, PROCESS_LABELS } from "../../test/builders/fake-pod-processes.ts";
import { ProcessLogs } from "../../test/builders/process-logs.ts";
import type { EmbeddedCluster } from "./embedded-cluster.ts";
import { startEmbeddedCluster } from "./start.ts";

const LOG = "/api/v1/namespaces/default/pods/p/log";
const key = { namespace: "default", name: "p" };

let cluster: EmbeddedCluster;
let processes: FakePodProcesses;
let logs: ProcessLogs;
let url = "";

beforeEach(async () => {
  logs = new ProcessLogs();
  processes = new FakePodProcesses(() => Date.now());
  processes.logs = logs.read;
  const tokens = 'good,admin,u1,"system:masters"\nsmall,alice,u2,"devs"';
  cluster = await startEmbeddedCluster({ controllers: { simulation: { podProcesses: processes } }, tokens });
  ({ url } = await cluster.listen({ http: true }));
  const metadata = { ...key, labels: PROCESS_LABELS };
  expectOk(
    await cluster.client.create(pods, { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "web", image: "w" }] } }),
  );
  await cluster.waitFor(pods, key, (pod) => pod?.status?.phase === "Pending" && pod.status.podIP !== undefined);
});

afterEach(async () => {
  await cluster.close();
  logs.remove();
  expect(logs.open).toBe(0);
});

async function running(): Promise<void> {
  logs.start("web");
  processes.run(processes.uidOf("p"), "web");
  await cluster.waitFor(pods, key, (pod) => pod?.status?.containerStatuses?.[0]?.ready === true);
}

const open = (query = "", token = "good") =>
  new Promise<IncomingMessage>((resolve, reject) => {
    httpGet(`${url}${LOG}?${query}`, { headers: { authorization: `Bearer ${token}` } }, resolve).on("error", reject);
  });
const read = async (query = "") => text(await open(query));

test("a container that is created has no log yet", async () => {
  expect(JSON.parse(await read())).toMatchObject({
    code: 400,
    message: 'container "web" in pod "p" is waiting to start: ContainerCreating',
  });
});

test("a log over HTTP, with its options", async () => {
  await running();
  logs.write("web", "one\nzwei: ü\nthree\n");
  const response = await open();
  expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "text/plain"]);
  expect(await text(response)).toBe("one\nzwei: ü\nthree\n");
  expect(await read("tailLines=1")).toBe("three\n");
  expect(await read("limitBytes=5")).toBe("one\nz");
  expect(await read("tailLines=1&timestamps=true")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three\n$/);
  expect(await read("sinceTime=2100-01-01T00:00:00Z")).toBe("");
  expect((await open("", "small")).resume().statusCode).toBe(403);
});

test("a log without a socket", async () => {
  await running();
  logs.write("web", "one\n");
  expect(await cluster.request("GET", LOG)).toEqual({ code: 200, warnings: [], body: "one\n" });
  const interception = cluster.intercept({ resource: "pods", verb: "get" }, async (_action, next) => {
    const answer = await next();
    return answer.kind === "log" ? { ...answer } : answer;
  });
  expect(await cluster.request("GET", LOG)).toMatchObject({ body: "one\n" });
  interception.remove();
});

test("a follower gets new lines, and ends with the process; the log before stays", async () => {
  await running();
  const response = await open("follow=true");
  let got = "";
  response.setEncoding("utf8").on("data", (chunk: string) => void (got += chunk));
  for (const line of ["one\n", "two\n"]) {
    logs.write("web", line);
    await expect.poll(() => got, { timeout: 5_000 }).toContain(line);
  }
  logs.end("web");
  await expect.poll(() => response.complete, { timeout: 5_000 }).toBe(true);
  processes.exit(processes.uidOf("p"), "web", 1);
  logs.start("web");
  logs.write("web", "again\n");
  processes.run(processes.uidOf("p"), "web", 1);
  await cluster.waitFor(pods, key, (pod) => pod?.status?.containerStatuses?.[0]?.restartCount === 1);
  expect([await read(), await read("previous=true")]).toEqual(["again\n", "one\ntwo\n"]);
});

test("a client that leaves ends its follower, and so does the end of the cluster", async () => {
  await running();
  const [first, second] = [await open("follow=true"), await open("follow=true")];
  await expect.poll(() => logs.open, { timeout: 5_000 }).toBe(2);
  first.destroy();
  await expect.poll(() => logs.open, { timeout: 5_000 }).toBe(1);
  second.resume();
  await cluster.close();
  await expect.poll(() => logs.open, { timeout: 5_000 }).toBe(0);
});

test("a log is not read faster than its client reads", async () => {
  await running();
  let [taken, ended] = [0, false];
  async function* endless() {
    try {
      for (; !ended; taken += 1) yield await Promise.resolve(new Uint8Array(65_536));
    } finally {
      ended = true;
    }
  }
  processes.logs = endless;
  const response = await open("follow=true");
  response.pause();
  let before = -1;
  const isStill = () => taken === before || ((before = taken), false);
  await expect.poll(isStill, { interval: 300, timeout: 10_000 }).toBe(true);
  response.destroy();
  await expect.poll(() => ended, { timeout: 5_000 }).toBe(true);
});
