import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { err, expectOk, FakeClock, ok, systemClock } from "#base";
import type { ClusterView, ControlRequest } from "../fleet-types.ts";
import { requestControl } from "./control-client.ts";
import { openControlSocket, type ControlSocketOptions } from "./control-server.ts";
import { controlSocketPath } from "./socket-path.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-control-"));
  path = join(folder, "control.sock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const VIEW: ClusterView = {
  name: "mgmt",
  kubeconfig: "/k",
  pids: [2, 3],
  state: "Running",
  operators: [{ pod: "p", pid: 3, ready: true }],
};
const MACHINE = { name: "m1", namespace: "capi-child", cluster: "child", controlPlane: true, version: "v1.36.3" };
const fleet: ControlSocketOptions["fleet"] = {
  clusters: () => [VIEW],
  stop: (name) => Promise.resolve(name === "mgmt" ? ok("stopped cluster mgmt") : err(`there is no cluster "${name}"`)),
  start: (name) => Promise.resolve(ok(`started cluster ${name}`)),
  machine: ({ command, token }) =>
    Promise.resolve(token === "secret" ? ok({ ...MACHINE, kubeconfig: command }) : err("no machine has this token")),
};

async function open(clock: ControlSocketOptions["clock"] = systemClock) {
  return expectOk(await openControlSocket({ path, fleet, clock }));
}

describe("the control socket", () => {
  it("stops, starts and lists clusters, for the same user only", async () => {
    const socket = await open();
    const ask = (request: ControlRequest) => requestControl(path, request, never);
    expect(await ask({ command: "stop", name: "mgmt" })).toEqual(ok({ ok: true, message: "stopped cluster mgmt" }));
    expect(await ask({ command: "stop", name: "x" })).toEqual(ok({ ok: false, error: 'there is no cluster "x"' }));
    expect(await ask({ command: "start", name: "mgmt" })).toEqual(ok({ ok: true, message: "started cluster mgmt" }));
    expect(await ask({ command: "list" })).toEqual(ok({ ok: true, clusters: [VIEW] }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await socket.close();
    expect(existsSync(path)).toBe(false);
    expect(await ask({ command: "list" })).toMatchObject({ ok: false, error: expect.stringContaining("does not answer") as string });
  });

  it("answers machines that have a token", async () => {
    const socket = await open();
    const requests: readonly ControlRequest[] = [
      { command: "machine-init", token: "secret", cluster: "child", version: "v1.36.3" },
      { command: "machine-join", token: "secret" },
      { command: "machine-node", token: "secret", node: "m1" },
    ];
    for (const request of requests)
      expect(await requestControl(path, request, never)).toEqual(ok({ ok: true, machine: { ...MACHINE, kubeconfig: request.command } }));
    const refused = await requestControl(path, { command: "machine-join", token: "guess" }, never);
    expect(refused).toEqual(ok({ ok: false, error: "no machine has this token" }));
    await socket.close();
  });

  it("replaces the socket of an ended process", async () => {
    writeFileSync(path, "");
    const socket = await open();
    expect(await requestControl(path, { command: "list" }, never)).toMatchObject({ ok: true });
    await socket.close();
  });

  it.each([
    { name: "is not JSON", line: "stop mgmt\n", want: "one line of JSON" },
    { name: "has an unknown command", line: '{"command":"delete","name":"mgmt"}\n', want: "one line of JSON" },
    { name: "is too long", line: `{"command":"stop","name":"${"x".repeat(10_000)}`, want: "longer than 4096 bytes" },
  ])("refuses a request that $name", async ({ line, want }) => {
    const socket = await open();
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      const client = connect(path, () => client.write(line));
      client.on("data", (chunk) => (text += chunk.toString())).on("end", () => resolve(text));
    });
    expect(answer).toContain(want);
    await socket.close();
  });

  it("closes a connection that sends nothing", async () => {
    const clock = new FakeClock();
    const socket = await open(clock);
    const closed = new Promise((resolve) =>
      connect(path)
        .on("error", () => {})
        .once("close", resolve),
    );
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(5_000);
    await closed;
    await socket.close();
    expect(clock.pending).toBe(0);
  });

  it("a request ends with its signal", async () => {
    const socket = expectOk(await openControlSocket({ path, clock: systemClock, fleet: { ...fleet, start: () => new Promise(() => {}) } }));
    const stop = new AbortController();
    const request = requestControl(path, { command: "start", name: "mgmt" }, stop.signal);
    setImmediate(() => stop.abort());
    expect((await request).ok).toBe(false);
    expect((await requestControl(path, { command: "list" }, stop.signal)).ok).toBe(false);
    await socket.close();
  });

  it("that cannot be opened is one sentence", async () => {
    const opened = await openControlSocket({ path: join(folder, "absent", "control.sock"), fleet, clock: systemClock });
    expect(opened).toMatchObject({ ok: false, error: expect.stringMatching(/^the control socket .* cannot be opened: .*/) as string });
  });
});

describe("the path of the control socket", () => {
  const userId = process.getuid?.();

  it("is in the folder of the fleet", () => {
    expect(controlSocketPath({ path: "/data" }, { temporary: folder, userId })).toEqual(ok("/data/control.sock"));
  });

  it("is in a private temporary folder when the path is too long, and the same for every command", () => {
    const long = { path: `/${"x".repeat(200)}` };
    const first = expectOk(controlSocketPath(long, { temporary: folder, userId }));
    expect(first.startsWith(`${folder}/lattice-`)).toBe(true);
    expect(controlSocketPath(long, { temporary: folder, userId })).toEqual(ok(first));
    chmodSync(join(first, ".."), 0o777);
    expect(controlSocketPath(long, { temporary: folder, userId })).toMatchObject({
      ok: false,
      error: expect.stringContaining("others can access it") as string,
    });
  });
});
