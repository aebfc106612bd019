/** The real plane, which every other story uses. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseJson } from "#kube";
import { eventually, realPlane, runProgram, sharedPlane, startPlane } from "./harness/index.ts";

describe("a real plane", () => {
  test("reports the version of its own binary to kubectl", async () => {
    const plane = sharedPlane();
    const binary = await runProgram(join(plane.binaries, "kube-apiserver"), ["--version"]);
    const answer = expectOk(parseJson(await plane.kubectlOk(["version", "-o", "json"])));
    expect(fieldAt(answer, "serverVersion", "gitVersion")).toBe(binary.stdout.trim().replace("Kubernetes ", ""));
  });

  test("has a working controller manager: a new namespace gets its default ServiceAccount, a deleted one is removed", async () => {
    const plane = sharedPlane();
    const namespace = await plane.makeNamespace("plane");
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    await eventually("the default ServiceAccount", async () => (await plane.request({ path: account })).code === 200 || undefined);
    await plane.kubectlOk(["delete", "namespace", namespace, "--wait=true"]);
    expect((await plane.request({ path: `/api/v1/namespaces/${namespace}` })).code).toBe(404);
  });

  test("authenticates a client certificate with user name and groups", async () => {
    const plane = sharedPlane();
    const folder = await mkdtemp(join(tmpdir(), "lattice-story-"));
    try {
      const kubeconfig = join(folder, "kubeconfig");
      await writeFile(kubeconfig, plane.kubeconfigFor("ada", ["engines"]), { mode: 0o600 });
      const whoami = expectOk(parseJson(await plane.kubectlOk([`--kubeconfig=${kubeconfig}`, "auth", "whoami", "-o", "json"])));
      expect(fieldAt(whoami, "status", "userInfo", "username")).toBe("ada");
      expect(fieldAt(whoami, "status", "userInfo", "groups")).toEqual(["engines", "system:authenticated"]);
      const refused = await plane.kubectl([`--kubeconfig=${kubeconfig}`, "get", "secrets"]);
      expect(refused.stderr).toContain('User "ada" cannot list resource "secrets"');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("keeps its data over a restart of the API server, and stop leaves no process and no folder", async () => {
    const plane = await realPlane();
    await plane.kubectlOk(["create", "configmap", "kept", "--from-literal=answer=42"]);
    const before = plane.processIds();
    await plane.restartApiServer();
    expect(await plane.kubectlOk(["get", "configmap", "kept", "-o", "jsonpath={.data.answer}"])).toBe("42");
    const processes = new Set([...before, ...plane.processIds()]);
    expect(processes.size).toBe(4);
    await plane.stop();
    expect([...processes].filter(isAlive)).toEqual([]);
    expect(existsSync(plane.folder)).toBe(false);
  });
});

describe("a plane that cannot start", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lattice-story-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test("reports which component failed, how it ended and what it logged, and leaves nothing behind but the requested logs", async () => {
    await writeFile(join(folder, "etcd"), '#!/bin/sh\necho "no such flag: --data-dir"\nexit 3\n', { mode: 0o700 });
    const started = await startPlane({ binaries: folder, under: folder, logs: join(folder, "logs") });
    expect(started).toMatchObject({ ok: false, error: { kind: "not-started" } });
    expect(started).toMatchObject({ error: { message: expect.stringContaining("etcd ended with code 3") } });
    expect(started).toMatchObject({ error: { message: expect.stringContaining("no such flag: --data-dir") } });
    expect(await readFile(join(folder, "logs", "etcd.log"), "utf8")).toBe("no such flag: --data-dir\n");
    expect(await readdir(folder)).toEqual(["etcd", "logs"]);
  });

  test("reports which component did not respond in time, and ends the others", async () => {
    const started = await startPlane({ under: folder, startLimitMs: 0 });
    expect(started).toMatchObject({ ok: false, error: { message: expect.stringContaining("etcd did not respond within 0 s") } });
    expect(await readdir(folder)).toEqual([]);
  });

  test("retries with other ports when they are in use, and fails after some attempts", async () => {
    await writeFile(join(folder, "etcd"), '#!/bin/sh\necho "listen tcp $*: bind: address already in use"\nexit 1\n', { mode: 0o700 });
    const started = await startPlane({ binaries: folder, under: folder, logs: join(folder, "logs") });
    expect(started).toMatchObject({ ok: false, error: { kind: "port-taken" } });
    const tries = (await readFile(join(folder, "logs", "etcd.log"), "utf8")).trimEnd().split("\n");
    expect(new Set(tries).size).toBe(3);
  });
});

describe("npm run test:kube -- --up", () => {
  const endings = [
    { name: "Ctrl-C", given: "SIGINT" },
    { name: "kill -9, without any clean-up", given: "SIGKILL" },
  ] as const;

  test.each(endings)("prints a working kubeconfig, and leaves nothing after $name", async ({ given }) => {
    // forked and not spawned: if this runner is killed, the closed channel ends the program
    const up = fork(fileURLToPath(new URL("../../scripts/test-kube.ts", import.meta.url)), ["--up"], { silent: true, execArgv: [] });
    let output = "";
    up.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await eventually("the plane is ready", async () => output.includes("Ctrl-C ends it") || undefined, { withinMs: 120_000 });
    const kubeconfig = /KUBECONFIG=(\S+)/.exec(output)?.[1] ?? "";
    const processes = /processes: ([\d ]+)/.exec(output)?.[1]?.split(" ").map(Number) ?? [];
    const kubectl = join(sharedPlane().binaries, "kubectl");
    const answer = await runProgram(kubectl, [`--kubeconfig=${kubeconfig}`, "get", "--raw", "/readyz"], { env: {} });
    expect(answer).toMatchObject({ code: 0, stdout: "ok" });
    expect(processes.filter(isAlive)).toHaveLength(3);
    up.kill(given);
    await once(up, "exit");
    await eventually("no process and no folder", async () => (!processes.some(isAlive) && !existsSync(kubeconfig)) || undefined);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
