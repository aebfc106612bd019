/**
 * `lattice up --clusters 1`, as a user sees it: a cluster and a shop start, the one closed edge is explained, opening it is shown, Ctrl-C stops it
 * and the state is kept.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, sleep, systemClock } from "#base";
import { latticeClusters, latticeServices } from "#crds";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { runCli, type CliRun } from "../builders/cli-io.ts";

let cwd: string;
let folder: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-up-"));
  folder = join(cwd, ".lattice");
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

type Terminal = { readonly client: KubeClient; readonly until: (pattern: RegExp) => Promise<void> };

/** Runs `lattice up` until `act` is done with the cluster. */
async function whileUp(act: (terminal: Terminal) => Promise<void>, flags: readonly string[] = []): Promise<CliRun> {
  const stop = new AbortController();
  let acting: Promise<void> | undefined;
  let written = "";
  const until = async (pattern: RegExp) => {
    for (let look = 0; look < 600 && !pattern.test(written); look += 1) await sleep(systemClock, 50, stop.signal);
    expect(written).toMatch(pattern);
  };
  const run = runCli(["up", ...flags], {
    cwd,
    clock: systemClock,
    random: Math.random,
    signal: stop.signal,
    onOutput: (text) => {
      written = text;
      if (text.includes("Ctrl-C stops it")) acting ??= withClient((client) => act({ client, until })).finally(() => stop.abort());
    },
  });
  const ended = await run;
  await acting;
  return ended;
}

async function withClient(act: (client: KubeClient) => Promise<void>): Promise<void> {
  const config = expectOk(await loadKubeconfig({ path: join(folder, "kubeconfig"), env: {}, home: folder, clock: systemClock }));
  const client = createKubeClient({ transport: httpTransport(config, { clock: systemClock }), clock: systemClock, random: Math.random });
  try {
    await act(client);
  } finally {
    await client.close();
  }
}

/** The output that the README shows: lines before the first command, and the commands to try. */
const [, shownInReadme = ""] =
  /^```console\n( +TIME [^]*?)^```$/m.exec(readFileSync(new URL("../../README.md", import.meta.url), "utf8")) ?? [];
const withoutTimes = (text: string) => text.replaceAll(/^ *[0-9.]+s/gm, "");

const NOT_SCHEDULED = /service +default\/huge +Pending +0 of 1 pods are ready; 1 pod cannot be scheduled: 0\/2 nodes/;

/** Creates a service that fits on no node, and deletes it when the output shows that. */
async function untilNotScheduled({ client, until }: Terminal): Promise<void> {
  const main = { image: "app:1", resources: { requests: { cpu: "9000" } } };
  const metadata = { name: "huge", namespace: "default" };
  const huge = {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeService",
    metadata,
    spec: { environment: "shop", containers: { main } },
  };
  expectOk(await client.create(latticeServices, huge as never));
  await until(NOT_SCHEDULED);
  expectOk(await client.delete(latticeServices, metadata));
}

const catalog = { namespace: "default", name: "catalog" };
let uid: string | undefined;

test("a cluster starts with the shop, explains the closed edge, and shows when it is open", { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await whileUp(
    async ({ client, until }) => {
      uid = expectOk(await client.get(latticeServices, catalog)).metadata.uid;
      const even = { provider: { type: "docker", kubernetes: { version: "1.36.3" } }, nodes: { controlPlane: 2, workers: 0 } };
      const cluster = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name: "even" }, spec: even };
      const refused = await client.create(latticeClusters, cluster as never);
      expect(refused).toMatchObject({ ok: false, error: { kind: "invalid", message: expect.stringContaining("must be odd") as string } });
      const patch = { spec: { resources: { cart: { direction: "inbound" } } } };
      expectOk(await client.patch(latticeServices, catalog, { type: "merge", patch }));
      await until(/shop\/cart -> shop\/catalog {2}open/);
      await untilNotScheduled({ client, until });
    },
    ["--clusters", "1"],
  );
  expect(stderr).toBe("");
  expect(code).toBe(0);
  // services are created one after the other, and wait for the services that they call
  expect(stdout.split("Which service may call which")[0]).not.toContain("Failed");
  for (const name of ["cart", "catalog", "checkout", "payments", "storefront"]) {
    expect(stdout).toMatch(new RegExp(`service +default/${name} +Ready +2 of 2 pods are ready`));
  }
  expect(stdout).toMatch(NOT_SCHEDULED);
  expect(stdout).toMatch(/external +default\/stripe +Ready .*api\.stripe\.com/);
  expect(stdout).toContain("shop/cart -> shop/catalog:8080, 9090 is closed");
  expect(stdout).toContain("shop/catalog does not declare that shop/cart may call it. Add to LatticeService default/catalog:");
  expect(stdout).toContain(`kubectl patch ls catalog --type merge -p \\\n    '{"spec":{"resources":{"cart":{"direction":"inbound"}}}}'`);
  const [screen = "", ...commands] = shownInReadme.split(/^\$ /m);
  const lines = screen.split("\n").map((line) => withoutTimes(line.replace(/ ?…$/, "")));
  for (const line of lines) expect(withoutTimes(stdout)).toContain(line);
  for (const command of commands.filter((one) => /^(kubectl|\.\/lattice)/.test(one))) expect(stdout).toContain(command.split(/\n| +#/)[0]);
  expect(stdout).not.toMatch(/not-a-real|sk_test/);
  expect(statSync(join(folder, "kubeconfig")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(["clusters", "fleet.json", "kubeconfig", "lattice-local-cluster"]);
});

test("a lattice up without flags starts what is in the folder, with the edge still open", { timeout: 120_000 }, async () => {
  const act = async ({ client, until }: Terminal) => {
    expect(expectOk(await client.get(latticeServices, catalog)).metadata.uid).toBe(uid);
    const patch = { spec: { containers: { main: { variables: { OOPS: "${config.nope}" } } } } };
    expectOk(await client.patch(latticeServices, catalog, { type: "merge", patch }));
    await until(/template error in container 'main' variable 'OOPS'/);
  };
  const { code, stdout } = await whileUp(act, ["--data-dir", folder]);
  expect(code).toBe(0);
  expect(stdout).toContain("The services, as they were left:");
  expect(stdout).toMatch(/shop\/cart +-> +shop\/catalog:8080,9090 +open/);
  expect(stdout).not.toContain("One agreement is missing");
});

test("a service with an error is shown, and start-up does not wait for it", { timeout: 120_000 }, async () => {
  const { code, stdout } = await whileUp(() => Promise.resolve());
  expect(code).toBe(0);
  expect(stdout).toMatch(/service +default\/catalog +Failed +template error in container 'main' variable 'OOPS'/);
  expect(stdout).not.toContain("Not everything is up yet");
});

test("a cluster that was stopped stays stopped in the next lattice up, until it is started", { timeout: 120_000 }, async () => {
  const control = (command: string) => runCli([command, "mgmt", "--data-dir", folder], { clock: systemClock });
  await whileUp(async () => expect(await control("stop")).toMatchObject({ code: 0 }));
  const stop = new AbortController();
  let started: Promise<CliRun> | undefined;
  const { code, stdout } = await runCli(["up"], {
    cwd,
    clock: systemClock,
    random: Math.random,
    signal: stop.signal,
    onOutput: (text) => {
      if (text.includes("Cluster mgmt is stopped; ./lattice start mgmt starts it.")) started ??= control("start");
      if (text.includes("Ctrl-C stops it")) stop.abort();
    },
  });
  expect(await started).toMatchObject({ code: 0, stdout: "started cluster mgmt\n" });
  expect(code).toBe(0);
  expect(stdout).toContain("The services, as they were left:");
});

const OWN = `
apiVersion: lattice.dev/v1alpha1
kind: LatticeService
metadata: {name: hello, namespace: team}
spec:
  containers: {main: {image: "hello:1", variables: {PASSWORD: "\${resources.db.password}"}}}
  service: {ports: {http: {port: 8080}}}
  resources: {db: {type: postgres}}
`;

test("the user's own files run instead of the shop, with generated values for secrets", { timeout: 120_000 }, async () => {
  const own = mkdtempSync(join(cwd, "own-"));
  writeFileSync(join(own, "hello.yaml"), OWN);
  const { code, stdout } = await whileUp(() => Promise.resolve(), ["-f", own, "--data-dir", folder]);
  expect(code).toBe(0);
  expect(stdout).toContain("These Secrets hold made-up values; --secrets FILE gives others:\n  team/postgres-db (password)\n");
  expect(stdout).toMatch(/service +team\/hello +Ready +1 of 1 pods are ready/);
  expect(stdout).not.toContain("The shop");
});

test("files with errors start nothing", async () => {
  const broken = mkdtempSync(join(cwd, "broken-"));
  writeFileSync(join(broken, "hello.yaml"), OWN.replace("postgres", "postgers"));
  const run = await runCli(["up", "-f", broken, "--data-dir", join(broken, "data")], { cwd });
  expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("no cluster was started") as string });
  expect(existsSync(join(broken, "data"))).toBe(false);
  expect(await runCli(["up", "--secrets", "x"], { cwd: broken })).toMatchObject({ code: 2, stdout: "" });
});
