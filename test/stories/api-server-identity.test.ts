/** `lattice api-server --data-dir` and kill -9: kubeconfigs of earlier starts stay valid, also when the first start was killed. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectOk, seededRandom } from "#base";
import { resources } from "#embedded-cluster";
import { ServerProcess } from "../builders/api-server/server-process.ts";
import { clientOf } from "../builders/kubeconfig-client.ts";

/** In the order in which a first start writes them. */
const FILES = ["ca.key", "ca.crt", "tokens.json", "service-account.key", "apiserver.key", "apiserver.crt", "port"];
const LOG_LINES =
  /^(warn: (took over the folder|cut off what was no whole record|a log is empty)|error: the data folder was in use before|$)/;
let home = "";
let server: ServerProcess | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lattice-identity-"));
});
afterEach(async () => {
  await server?.kill();
  rmSync(home, { recursive: true });
});

const kubeconfigFile = () => join(home, "kubeconfig");
const dataFile = (name: string) => join(home, "data", name);

function start(controllers = false): ServerProcess {
  server = new ServerProcess(home, ["--kubeconfig-out", kubeconfigFile()], { controllers, tokenFile: false });
  return server;
}

/** The files of the identity that exist now. */
function identity(): ReadonlyMap<string, string> {
  return new Map(FILES.filter((name) => existsSync(dataFile(name))).map((name) => [name, readFileSync(dataFile(name), "utf8")]));
}

async function namespacesWith(kubeconfig: string): Promise<readonly string[]> {
  const client = await clientOf(kubeconfig);
  const { items } = expectOk(await client.list(resources.namespaces));
  await client.close();
  return items.map(({ metadata }) => metadata.uid ?? "");
}

test("the kubeconfig of the first start is valid after every kill", { timeout: 300_000 }, async () => {
  expect(await start(true).url()).toMatch(/^https:/);
  const [first, files, namespaces] = [
    readFileSync(kubeconfigFile(), "utf8"),
    identity(),
    await namespacesWith(readFileSync(kubeconfigFile(), "utf8")),
  ];
  expect([...files.keys()]).toEqual(FILES);
  for (let round = 0; round < 2; round += 1) {
    await server?.kill();
    expect(await start(true).url()).toMatch(/^https:/);
    expect(await namespacesWith(first)).toEqual(namespaces);
    expect([readFileSync(kubeconfigFile(), "utf8"), identity()]).toEqual([first, files]);
  }
});

/** Starts on the folder that a killed first start has left. A kubeconfig that was issued must be valid. */
async function checkRestart(): Promise<void> {
  const [issued, left] = [existsSync(kubeconfigFile()) ? readFileSync(kubeconfigFile(), "utf8") : undefined, identity()];
  const again = start();
  expect([await again.url(), again.stderr]).toEqual([expect.stringMatching(/^https:/), expect.any(String)]);
  for (const line of again.stderr.split("\n")) expect(line).toMatch(LOG_LINES);
  const kubeconfig = readFileSync(kubeconfigFile(), "utf8");
  if (issued !== undefined) expect(kubeconfig).toBe(issued);
  expect((await namespacesWith(kubeconfig)).length).toBeGreaterThan(3);
  const complete = identity();
  expect([...complete.keys()]).toEqual(FILES);
  for (const [name, text] of left) expect([name, complete.get(name)]).toEqual([name, text]);
  expect(readdirSync(join(home, "data")).filter((name) => name.startsWith("."))).toEqual([]);
}

test.each(["ca.key", "tokens.json", "apiserver.key", "port", "the kubeconfig"])(
  "a first start that is killed as soon as it has written %s is completed by the next",
  { timeout: 300_000 },
  async (name) => {
    const path = name === "the kubeconfig" ? kubeconfigFile() : dataFile(name);
    const first = start();
    while (first.alive && !existsSync(path)) await turn();
    await first.kill();
    await checkRestart();
  },
);

test("a first start that is killed at a random time is completed by the next", { timeout: 300_000 }, async () => {
  const random = seededRandom(7);
  const whole = await timeOfStart();
  for (let round = 0; round < 3; round += 1) {
    rmSync(join(home, "data"), { recursive: true });
    rmSync(kubeconfigFile(), { force: true });
    const first = start();
    const until = performance.now() + (0.3 + 0.7 * random()) * whole;
    while (performance.now() < until) await turn();
    await first.kill();
    await checkRestart();
    await server?.kill();
  }
});

async function timeOfStart(): Promise<number> {
  const began = performance.now();
  const first = start();
  await first.url();
  await first.kill();
  return performance.now() - began;
}
