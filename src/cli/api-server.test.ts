import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "#base";
import type { CliIo, RepeatHandler } from "./io.ts";
import { runLattice } from "./program.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lattice-cli-"));
});

afterEach(async () => rm(folder, { recursive: true }));

/** Runs the command; `ready` resolves with the first text on standard output. */
function run(...argv: readonly string[]) {
  return runWith({}, ...argv);
}

function runWith(more: Partial<CliIo>, ...argv: readonly string[]) {
  const stop = new AbortController();
  const out: string[] = [];
  const complaints: string[] = [];
  let say: (line: string) => void = () => {};
  const ready = new Promise<string>((resolve) => {
    say = resolve;
  });
  const io = {
    cwd: folder,
    stdout: (text: string) => {
      out.push(text);
      say(text);
    },
    stderr: (text: string) => void complaints.push(text),
    clock: systemClock,
    random: Math.random,
    signal: stop.signal,
    ...more,
  } as unknown as CliIo;
  const ended = runLattice(["api-server", ...argv], io);
  return { stop, ready, ended, complaints, out };
}

test("it prints its URL, serves until it is stopped, and exits with 0", async () => {
  await writeFile(join(folder, "tokens.csv"), '# people\n"t,1",alice,u\n');
  const { ready, stop, ended, out } = run(
    "--http",
    "--no-controllers",
    "--token-file",
    "tokens.csv",
    "--kubeconfig-out",
    "kc.yaml",
    "--data-dir",
    "data",
  );
  const url = (await ready).trim();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${url}/version`, { headers: { authorization: "Bearer t,1" } })).status).toBe(200);
  stop.abort();
  expect(await ended).toBe(0);
  expect(out).toHaveLength(1);
  await expect(fetch(`${url}/version`)).rejects.toThrow();
  const kubeconfig = join(folder, "kc.yaml");
  expect((await stat(kubeconfig)).mode & 0o777).toBe(0o600);
  expect(await readFile(kubeconfig, "utf8")).toContain(`server: ${url}`);
});

test("without a token file there is one administrator, whose token is only in the kubeconfig", async () => {
  await writeFile(join(folder, "kc.yaml"), "old", { mode: 0o644 });
  const { ready, stop, ended, complaints, out } = run("--kubeconfig-out", "kc.yaml");
  expect(await ready).toMatch(/^https:\/\/127\.0\.0\.1:\d+\n$/);
  stop.abort();
  await ended;
  const text = await readFile(join(folder, "kc.yaml"), "utf8");
  const token = /token: (\S+)/.exec(text)?.[1] ?? "";
  expect(token.length).toBeGreaterThan(20);
  expect(text).toContain("certificate-authority-data:");
  expect((await stat(join(folder, "kc.yaml"))).mode & 0o777).toBe(0o600);
  expect([...complaints, ...out].join("")).not.toContain(token);
  expect(complaints).toEqual([]);
});

test("with a data folder a restart has the same kubeconfig; another port is reported when its own is in use, and --port replaces it", async () => {
  const serveOnce = async (...more: readonly string[]) => {
    const { ready, stop, ended, complaints } = run("--data-dir", "data", "--kubeconfig-out", "kc.yaml", "--no-controllers", ...more);
    const first = await Promise.race([ready, ended]);
    stop.abort();
    const code = await ended;
    return { code, complaints: complaints.join(""), url: typeof first === "string" ? first.trim() : "", kubeconfig: await kubeconfigNow() };
  };
  const kubeconfigNow = () => readFile(join(folder, "kc.yaml"), "utf8");
  const first = await serveOnce();
  expect(await serveOnce()).toEqual(first);
  const before = Number(new URL(first.url).port);
  const taken = createServer().listen(before, "127.0.0.1");
  await once(taken, "listening");
  const moved = await serveOnce();
  const after = Number(new URL(moved.url).port);
  expect(after).toBeGreaterThan(before);
  expect(moved.complaints).toMatch(new RegExp(`^lattice: port ${before}, .* it now listens on port ${after}: [^\\n]+\\n$`));
  expect(moved.kubeconfig).toBe(first.kubeconfig.replace(String(before), String(after)));
  const refusal = await serveOnce("--port", String(before));
  expect([refusal.code, refusal.complaints]).toEqual([2, expect.stringContaining(`cannot listen on 127.0.0.1:${before}: `)]);
  expect(await serveOnce()).toMatchObject({ url: moved.url, complaints: "" });
  taken.close();
  expect(await serveOnce("--port", String(before))).toEqual(first);
  expect(await serveOnce()).toEqual(first);
});

test("a server without a token file or kubeconfig prints a warning", async () => {
  const { ready, stop, ended, complaints } = run("--http");
  await ready;
  stop.abort();
  await ended;
  expect(complaints.join("")).toContain("no client can authenticate");
});

const refused: readonly { name: string; argv: readonly string[]; want: string }[] = [
  { name: "an invalid port", argv: ["--port", "x"], want: '--port: "x" is not a port' },
  { name: "an invalid pod limit", argv: ["--pod-limit", "0"], want: '--pod-limit: "0" is not a number from 1 to 9999999' },
  { name: "a port that is too high", argv: ["--port", "70000"], want: "--port" },
  { name: "a missing token file", argv: ["--token-file", "nope.csv"], want: "nope.csv: there is no such file" },
  { name: "an invalid token file", argv: ["--token-file", "bad.csv"], want: "the token file: line 1" },
  {
    name: "a kubeconfig that cannot be written",
    argv: ["--http", "--kubeconfig-out", "no/such/folder/kc"],
    want: "cannot be written: ENOENT",
  },
  { name: "an invalid address", argv: ["--bind", "localhost"], want: '--bind: "localhost" is not an IP address; write 127.0.0.1' },
  { name: "plain HTTP for other machines", argv: ["--http", "--bind", "0.0.0.0"], want: "plain HTTP is for loopback only" },
  { name: "an address of another machine", argv: ["--bind", "192.0.2.1"], want: "cannot listen on 192.0.2.1:0" },
  { name: "missing definitions", argv: ["--crds", "nope"], want: "nope" },
  { name: "a data folder that is a file", argv: ["--data-dir", "bad.csv"], want: "bad.csv is not a folder; choose a folder" },
  { name: "a data folder below a file", argv: ["--data-dir", "bad.csv/a/b"], want: "bad.csv is not a folder; choose a folder" },
  {
    name: "a data folder that the system refuses to create",
    argv: ["--data-dir", "/proc/lattice"],
    want: "/proc/lattice cannot be created: E",
  },
];

test.each(refused)("$name is one line and exit code 2", async ({ argv, want }) => {
  await writeFile(join(folder, "bad.csv"), "secret");
  const { ended, complaints } = run(...argv);
  expect(await ended).toBe(2);
  expect(complaints.at(-1)).toContain(want);
  expect(complaints.at(-1)).toMatch(/^lattice: [^\n]+\n$/);
  expect(complaints.join("")).not.toContain("secret");
});

test("the error for a damaged data folder names --repair, and --repair starts it", async () => {
  const options = ["--data-dir", "data", "--kubeconfig-out", "kc.yaml", "--no-controllers"];
  const first = run(...options);
  await first.ready;
  first.stop.abort();
  await first.ended;
  await damage(join(folder, "data"));
  const refusal = run(...options);
  expect(await refusal.ended).toBe(2);
  expect(refusal.complaints).toHaveLength(1);
  expect(refusal.complaints[0]).toMatch(/^lattice: \S+ is damaged at byte \d+: .* start once with --repair /);
  const repaired = run(...options, "--repair");
  expect(await repaired.ready).toMatch(/^https:/);
  repaired.stop.abort();
  expect(await repaired.ended).toBe(0);
});

/** Changes a byte in the middle of the newest log. */
async function damage(data: string): Promise<void> {
  const name =
    (await readdir(data))
      .filter((one) => one.startsWith("log-"))
      .toSorted()
      .at(-1) ?? "";
  const bytes = await readFile(join(data, name));
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  await writeFile(join(data, name), bytes);
}

/** A program for `-- node -e`: sends requests to the server of KUBECONFIG, over plain HTTP. */
const client = (then: string) => `
  const text = require("fs").readFileSync(process.env.KUBECONFIG, "utf8");
  const [url, token] = [/server: (\\S+)/.exec(text)[1], /token: (\\S+)/.exec(text)[1]];
  const ask = (path, method = "GET") => fetch(url + path, { method, headers: { authorization: "Bearer " + token } });
  (async () => { ${then} })();`;
const CRDS = resolve("docs/guides/test-your-operator/crds");
const asCommand = (program: string) => ["--", process.execPath, "-e", program];

test("a command runs with KUBECONFIG and the definitions, and its exit code is passed on", async () => {
  const program = client(`
    const list = await ask("/apis/example.com/v1/greetings");
    process.exit(list.status === 200 && process.env.USE_EXISTING_CLUSTER === "true" ? 7 : 1);`);
  const { ended, out } = run("--http", "--no-controllers", "--crds", CRDS, ...asCommand(program));
  expect(await ended).toBe(7);
  expect(out).toEqual([]);
});

test("a command can use the kubeconfig of --kubeconfig-out, and reset the server", async () => {
  const program = client(`
    const create = () => fetch(url + "/api/v1/namespaces/default/configmaps", {
      method: "POST",
      headers: { authorization: "Bearer " + token, "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name: "kube" } }),
    });
    const get = () => ask("/api/v1/namespaces/default/configmaps/kube");
    const reset = () => ask("/lattice/reset", "POST");
    const codes = [];
    for (const step of [create, create, reset, get, create]) codes.push((await step()).status);
    process.exit(codes.join() === "201,409,200,404,201" && process.env.KUBECONFIG.endsWith("kc.yaml") ? 0 : 1);`);
  const { ended } = run("--http", "--no-controllers", "--allow-reset", "--kubeconfig-out", "kc.yaml", ...asCommand(program));
  expect(await ended).toBe(0);
});

test("the exit code of a command that a signal ends, that is missing or cannot be started is that of a shell", async () => {
  await writeFile(join(folder, "plain"), "no program", { mode: 0o600 });
  const ends = async (...command: readonly string[]) => {
    const { ended, complaints } = run("--no-controllers", ...command);
    return [await ended, complaints.join("")];
  };
  expect(await ends(...asCommand(`process.kill(process.pid, "SIGKILL")`))).toEqual([137, ""]);
  expect(await ends("--", "/no/such/command", "x")).toEqual([127, "lattice: /no/such/command: there is no such command\n"]);
  const [code, complaint] = await ends("--", join(folder, "plain"));
  expect([code, complaint]).toEqual([126, expect.stringMatching(/^lattice: \S+\/plain: cannot be started: [^\n]+\n$/)]);
});

test("a signal is forwarded to the command, whose exit code is returned", async () => {
  const started = join(folder, "started");
  const program = `
    process.on("SIGTERM", () => process.exit(9));
    require("fs").writeFileSync(${JSON.stringify(started)}, "");
    setInterval(() => {}, 1000);`;
  const { ended, stop } = run("--no-controllers", ...asCommand(program));
  await vi.waitFor(() => stat(started), { timeout: 20_000, interval: 20 });
  stop.abort("SIGTERM");
  expect(await ended).toBe(9);
});

test("a second signal is forwarded too, a third kills the command, and the server runs until the command has ended", async () => {
  const received = join(folder, "received");
  const program = `
    const fs = require("fs");
    for (const name of ["SIGINT", "SIGTERM"])
      process.on(name, () => {
        fs.appendFileSync(${JSON.stringify(received)}, name + "\\n");
        fs.readFileSync(process.env.KUBECONFIG);
      });
    fs.writeFileSync(${JSON.stringify(received)}, "started\\n");
    setInterval(() => {}, 1000);`;
  let repeat: RepeatHandler | undefined;
  const handleRepeats = (handler: RepeatHandler) => {
    repeat = handler;
    return () => void (repeat = undefined);
  };
  const { ended, stop } = runWith({ handleRepeats }, "--no-controllers", ...asCommand(program));
  const untilReceived = (text: string) =>
    vi.waitFor(async () => expect(await readFile(received, "utf8")).toBe(text), { timeout: 20_000, interval: 20 });
  await untilReceived("started\n");
  stop.abort("SIGTERM");
  await untilReceived("started\nSIGTERM\n");
  expect(repeat?.("SIGTERM")).toBe("wait");
  await untilReceived("started\nSIGTERM\nSIGTERM\n");
  expect(repeat?.("SIGINT")).toBe("wait");
  expect(await ended).toBe(137);
  expect(repeat).toBeUndefined();
});

test("--bind listens on the given address, with a warning when other machines can reach it", async () => {
  const { ready, stop, ended, complaints } = run("--bind", "0.0.0.0", "--kubeconfig-out", "kc.yaml", "--no-controllers");
  expect(await ready).toMatch(/^https:\/\/127\.0\.0\.1:\d+\n$/);
  stop.abort();
  expect(await ended).toBe(0);
  expect(complaints.join("")).toMatch(/^lattice: other machines can reach this server at port \d+\n$/);
});
