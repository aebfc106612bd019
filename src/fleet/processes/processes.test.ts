import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogger, err, FakeClock, ok, systemClock, type LogLevel } from "#base";
import { allowedEnvironment } from "./environment.ts";
import { ManagedProcess, type ManagedProcessOptions } from "./managed-process.ts";
import { RotatingLog } from "./rotating-log.ts";
import { spawnNodeProcess, type ProcessHandlers, type ProcessSpec } from "./spawn.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-processes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SPEC: ProcessSpec = { command: "node", args: [], env: {}, cwd: "/" };
const discard = { write() {}, close() {} };

describe("a managed process", () => {
  /** Processes without processes: the test ends them. */
  function fakeProcess(more: Partial<ManagedProcessOptions> = {}) {
    const clock = new FakeClock();
    const handlers: ProcessHandlers[] = [];
    const signals: string[] = [];
    const managed = new ManagedProcess({
      spec: SPEC,
      clock,
      openOutput: () => discard,
      spawn: (_, given) => {
        handlers.push(given);
        return ok({ pid: 100 + handlers.length, send: () => true, signal: (signal) => signals.push(signal) });
      },
      onChange() {},
      onMessage() {},
      ...more,
    });
    return { clock, handlers, signals, managed };
  }

  it("is started again when it ends, with growing delays", async () => {
    const { clock, handlers, managed } = fakeProcess();
    managed.start();
    handlers[0]?.onExit(1);
    await clock.advance(0);
    expect(managed.pid).toBe(102);
    handlers[1]?.onExit(1);
    expect(managed.pid).toBeUndefined();
    await clock.advance(999);
    expect(handlers).toHaveLength(2);
    await clock.advance(1);
    expect(managed).toMatchObject({ pid: 103, run: { restarts: 2 } });
  });

  it("that does not end at SIGTERM gets SIGKILL, and leaves no timer", async () => {
    const { clock, handlers, signals, managed } = fakeProcess();
    managed.start();
    const stopped = managed.stop(2_000);
    await clock.advance(2_000);
    expect(signals).toEqual(["SIGTERM", "SIGKILL"]);
    handlers[0]?.onExit(137);
    await stopped;
    expect(managed.run).toMatchObject({ phase: "ended", last: { exitCode: 137 } });
    await managed.stop(0);
    expect(clock.pending).toBe(0);
  });

  it("that cannot be started is tried again, and says why", async () => {
    const { clock, managed } = fakeProcess({ spawn: () => err("spawn EAGAIN") });
    managed.start();
    await clock.advance(0);
    expect(managed).toMatchObject({ problem: "spawn EAGAIN", run: { restarts: 1 } });
    await clock.advance(1_000);
    expect(managed.run).toMatchObject({ restarts: 2 });
    await managed.stop(0);
    expect(clock.pending).toBe(0);
  });
});

describe("a real process", () => {
  type Watched = {
    readonly exit: Promise<readonly [number, string | undefined]>;
    readonly output: () => string;
    readonly messages: unknown[];
  };

  function run(
    script: string,
    more: Partial<ProcessSpec> = {},
  ): Watched & { readonly send: (message: unknown) => void; readonly signal: (name: "SIGTERM") => void } {
    const file = join(folder, "script.mjs");
    writeFileSync(file, script);
    const messages: unknown[] = [];
    let output = "";
    const exited = Promise.withResolvers<readonly [number, string | undefined]>();
    const closed = Promise.withResolvers<void>();
    const spawned = spawnNodeProcess(
      { command: process.execPath, args: [file], env: {}, cwd: folder, ...more },
      {
        onOutput: (stream, chunk) => (output += `${stream}: ${new TextDecoder().decode(chunk)}`),
        onMessage: (message) => messages.push(message),
        onExit: (code, problem) => exited.resolve([code, problem]),
        onClosed: () => closed.resolve(),
      },
    );
    if (!spawned.ok) throw new Error(spawned.error);
    const exit = exited.promise.then((ended) => (ended[1] === undefined ? closed.promise.then(() => ended) : ended));
    return { exit, output: () => output, messages, send: spawned.value.send, signal: spawned.value.signal };
  }

  it("gets messages and its own environment, and its output and exit code are read", async () => {
    const child = run(
      `process.on("message", (m) => { process.send(Object.keys(process.env).filter((n) => n.length < 3)); console.log(m.text); process.disconnect(); process.exitCode = 3 })`,
      {
        env: { AB: "1" },
      },
    );
    child.send({ text: "hello" });
    expect(await child.exit).toEqual([3, undefined]);
    expect(child.output()).toBe("stdout: hello\n");
    expect(child.messages).toEqual([["AB"]]);
  });

  it("that a signal ends has 128 + its number as exit code", async () => {
    const child = run(`process.send("up"); setInterval(() => {}, 1000)`);
    while (child.messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    child.signal("SIGTERM");
    expect(await child.exit).toEqual([143, undefined]);
  });

  it("that does not exist ends with 127 and a reason", async () => {
    const child = run("", { command: join(folder, "absent") });
    expect(await child.exit).toEqual([127, expect.stringContaining("ENOENT")]);
  });

  it("is in a session of its own, so that Ctrl-C in a terminal does not reach it", async () => {
    const child = run(
      `import { readFileSync } from "node:fs"; process.send(readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ")[3] === String(process.pid)); process.disconnect()`,
    );
    await child.exit;
    expect(child.messages).toEqual([true]);
  });

  it("that is killed is started again, as a managed process", async () => {
    const file = join(folder, "script.mjs");
    writeFileSync(file, `process.send(process.pid); process.on("disconnect", () => process.exit())`);
    const pids = new Set<number>();
    const managed = new ManagedProcess({
      spec: { command: process.execPath, args: [file], env: {}, cwd: folder },
      clock: systemClock,
      openOutput: () => discard,
      spawn: spawnNodeProcess,
      onChange() {},
      onMessage: (pid) => {
        pids.add(Number(pid));
        if (pids.size === 1) process.kill(Number(pid), "SIGKILL");
      },
    });
    managed.start();
    while (pids.size < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(managed.run).toMatchObject({ restarts: 1, last: { exitCode: 137 } });
    expect(pids).toContain(managed.pid);
    await managed.stop(1_000);
    expect(managed.pid).toBeUndefined();
  });
});

describe("the environment of processes", () => {
  it("has no credentials and no options of Node", () => {
    const env = {
      PATH: "/bin",
      LATTICE_SOURCE: "1",
      LC_ALL: "C",
      NODE_OPTIONS: "--require x",
      AWS_SECRET_ACCESS_KEY: "s",
      KUBECONFIG: "/k",
      TZ: undefined,
    };
    expect(allowedEnvironment(env)).toEqual({ PATH: "/bin", LATTICE_SOURCE: "1", LC_ALL: "C" });
  });
});

describe("a log file", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");

  it("is replaced at its limit, and the one before is kept", () => {
    const open = () => new RotatingLog({ path: join(folder, "x.log"), maxBytes: 10, logger: createLogger(() => {}) });
    const first = open();
    first.write(bytes("one 1\n"));
    first.close();
    const log = open();
    for (const text of ["two 2\n", "three\n", "four four four\n"]) log.write(bytes(text));
    log.close();
    expect([read("x.log.1"), read("x.log")]).toEqual(["three\n", "four four four\n"]);
  });

  it("that cannot be written is reported once and does not fail", () => {
    const lines: LogLevel[] = [];
    const log = new RotatingLog({ path: join(folder, "absent", "x.log"), logger: createLogger((level) => lines.push(level)) });
    log.write(bytes("a"));
    log.write(bytes("b"));
    expect(lines).toEqual(["warn"]);
  });
});
