/** Clients that open hundreds of connections to the operator's health port and send nothing, or one header byte at a time. Probes still get responses. */
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { MeasuredProcess } from "../../builders/attacks/measured-process.ts";

const sockets: Socket[] = [];
let home = "";
let cluster: EmbeddedCluster | undefined;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lattice-health-"));
  cluster = await startEmbeddedCluster();
  await cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } }, ...latticeKinds.map(({ crd }) => crd()));
  await cluster.writeKubeconfig(join(home, "kubeconfig.yaml"));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

function open(url: URL, first: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname, () => resolve(socket));
    socket.on("error", reject); // after the connection is established: the expected reset by the server
    socket.write(first);
    sockets.push(socket);
  });
}

/** As the kubelet probes: a new connection each time, and a timeout of one second. */
async function probe(url: URL): Promise<number | string> {
  const signal = AbortSignal.timeout(1_000);
  return fetch(new URL("/livez", url), { signal, headers: { connection: "close" } }).then(
    (response) => response.status,
    (error: unknown) => String(error),
  );
}

test.each([
  { name: "idle connections", first: "" },
  { name: "connections that send their headers one byte at a time", first: "GET /livez HTTP/1.1\r\nhost: x\r\n" },
  { name: "connections that never read the metrics", first: "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n" },
])("eight hundred $name do not block /livez of the operator", { timeout: 60_000 }, async ({ name, first }) => {
  await using operator = new MeasuredProcess(["operator", "--kubeconfig", join(home, "kubeconfig.yaml"), "--no-leader-elect"]);
  const [, text = ""] = await operator.untilPrinted(/health and metrics at (http:\S+?);/);
  const url = new URL(text);
  await operator.reset();
  const answers: (number | string)[] = [];
  for (let round = 0; round < 4; round += 1) {
    const opened = await Promise.all(Array.from({ length: 200 }, () => open(url, first)));
    for (const socket of opened) socket.pause();
    answers.push(await probe(url));
    if (first !== "") for (const socket of sockets) if (socket.writable) socket.write("x");
    answers.push(await probe(url));
  }
  expect(answers).toEqual(Array.from({ length: 8 }, () => 200));
  await operator.expectWithinLimits(`${name} on the health port`);
});
