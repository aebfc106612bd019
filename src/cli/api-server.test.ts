import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "#base";
import type { CliIo } from "./io.ts";
import { runLattice } from "./program.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lattice-cli-"));
});

afterEach(async () => rm(folder, { recursive: true }));

/** Runs the command; `ready` resolves with what it printed first. */
function run(...argv: readonly string[]) {
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
  } as unknown as CliIo;
  const ended = runLattice(["api-server", ...argv], io);
  return { stop, ready, ended, complaints, out };
}

test("it says where it is, serves until it is stopped, and ends well", async () => {
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

test("without tokens it makes an administrator, whose token is in the kubeconfig and nowhere else", async () => {
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

test("a server whose token nobody knows says so", async () => {
  const { ready, stop, ended, complaints } = run("--http");
  await ready;
  stop.abort();
  await ended;
  expect(complaints.join("")).toContain("nobody knows the token of this server");
});

const refused: readonly { name: string; argv: readonly string[]; want: string }[] = [
  { name: "a port that is none", argv: ["--port", "x"], want: '--port: "x" is not a port' },
  { name: "a pod limit that is none", argv: ["--pod-limit", "0"], want: '--pod-limit: "0" is not a number from 1 to 9999999' },
  { name: "a port that is too high", argv: ["--port", "70000"], want: "--port" },
  { name: "a token file that is not there", argv: ["--token-file", "nope.csv"], want: "nope.csv: there is no such file" },
  { name: "a token file that cannot be read", argv: ["--token-file", "bad.csv"], want: "the token file: line 1" },
  {
    name: "a kubeconfig that cannot be written",
    argv: ["--http", "--kubeconfig-out", "no/such/folder/kc"],
    want: "cannot be written: ENOENT",
  },
  { name: "a data folder that is a file", argv: ["--data-dir", "bad.csv"], want: "bad.csv is not a folder; choose a folder" },
  { name: "a data folder below a file", argv: ["--data-dir", "bad.csv/a/b"], want: "bad.csv is not a folder; choose a folder" },
  {
    name: "a data folder where the system allows none",
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

test("a damaged data folder is refused with the option that repairs it, and --repair starts it", async () => {
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
