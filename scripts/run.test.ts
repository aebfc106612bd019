/** scripts/run.cjs as a child process, in a small project, with real npm and without downloads. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, lchown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { fileTree } from "../test/builders/file-tree.ts";
import { projectRoot } from "./process/project.ts";
import { runNode, runProgram, type Ran } from "./process/run-program.ts";

type Project = {
  readonly root: string;
  /** The shared temporary folder. */
  readonly temp: string;
  /** Of the user. */
  readonly cache: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...args: readonly string[]) => Promise<Ran>;
};

/** All that run.cjs needs. */
const SCRIPTS = ["run", "clone/lock", "clone/private-folder", "clone/program-bundle", "clone/sources", "clone/steps"].map(
  (name) => `scripts/${name}.cjs`,
);

/** One dependency, in a local folder: `npm ci` needs no registry. */
async function project(more: NodeJS.ProcessEnv = {}): Promise<Project> {
  const root = await fileTree({
    ...Object.fromEntries(await Promise.all(SCRIPTS.map(async (file) => [file, await readFile(join(projectRoot, file), "utf8")] as const))),
    "scripts/check.ts": `const args: readonly string[] = process.argv.slice(2);\nconsole.log(JSON.stringify(args));\n`,
    "package.json": JSON.stringify({ name: "x", version: "1.0.0", type: "module", dependencies: { dep: "file:dep" } }),
    "package-lock.json": JSON.stringify({
      name: "x",
      version: "1.0.0",
      lockfileVersion: 3,
      requires: true,
      packages: {
        "": { name: "x", version: "1.0.0", dependencies: { dep: "file:dep" } },
        dep: { version: "1.0.0" },
        "node_modules/dep": { resolved: "dep", link: true },
      },
    }),
    "dep/package.json": JSON.stringify({ name: "dep", version: "1.0.0" }),
    "temp/keep": "",
    "npm-cache/keep": "",
  });
  const [temp, cache] = [join(root, "temp"), join(root, "cache")];
  const npm = { npm_config_cache: join(root, "npm-cache"), npm_config_offline: "true" };
  const env = { ...process.env, TMPDIR: temp, LATTICE_CACHE: cache, ...npm, ...more };
  return { root, temp, cache, env, run: (...args) => runNode(join(root, "scripts/run.cjs"), args, { cwd: root, env }) };
}

const lockOf = ({ root, cache }: Project) => join(cache, "setup", createHash("sha256").update(root).digest("hex").slice(0, 16));
const SETUP = "lattice: installing dependencies from package-lock.json (once)\n";

describe("run.cjs", () => {
  it("lists the scripts when the script is unknown", async () => {
    const { run } = await project();
    const ran = await run("tset");
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(/^lattice: unknown script "tset"; known: cli, start, test, .*\n$/);
  });

  it("does not treat properties of every object as scripts", async () => {
    const { run } = await project();
    expect(await run("constructor")).toMatchObject({ code: 1, stdout: "" });
  });

  it("installs once, passes the arguments on, and leaves stdout to the program", async () => {
    const { run } = await project();
    const first = await run("check", "--only", "a b");
    expect(first).toMatchObject({ code: 0, stdout: `["--only","a b"]\n` });
    expect(first.stderr).toContain(SETUP);
    expect(await run("check")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  it("installs again when the lockfile changed", async () => {
    const { root, run } = await project();
    await run("check");
    const lock = join(root, "package-lock.json");
    await writeFile(lock, `${await readFile(lock, "utf8")}\n`);
    expect((await run("check")).stderr).toContain(SETUP);
  });

  it("installs once when two start together", async () => {
    const { run } = await project();
    const both = await Promise.all([run("check"), run("check")]);
    expect(both.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: "[]\n" },
      { code: 0, stdout: "[]\n" },
    ]);
    expect(both.filter(({ stderr }) => stderr.includes(SETUP))).toHaveLength(1);
  });

  it("takes over the lock of a run that died, and removes it", async () => {
    const made = await project();
    await mkdir(dirname(lockOf(made)), { recursive: true, mode: 0o700 });
    await writeFile(lockOf(made), "4194304999"); // no process can have this number
    expect(await made.run("check")).toMatchObject({ code: 0 });
    expect(await readdir(dirname(lockOf(made)))).toEqual([]);
  });

  it("writes nothing into the shared temporary folder: its lock is where only the user can write", async () => {
    const { temp, cache, run } = await project();
    await mkdir(cache);
    await chmod(cache, 0o777);
    expect(await run("check")).toMatchObject({ code: 0 });
    expect(await readdir(temp)).toEqual(["keep"]);
    const modes = await Promise.all([cache, join(cache, "setup")].map(async (folder) => (await stat(folder)).mode & 0o777));
    expect(modes).toEqual([0o755, 0o700]);
  });

  it("follows a link of the user to a folder of the user", async () => {
    const { root, cache, run } = await project();
    await mkdir(join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), cache);
    expect(await run("check")).toMatchObject({ code: 0 });
    expect(await readdir(join(root, "elsewhere"))).toContain("setup");
  });

  it("explains what to do when the folder cannot be used", async () => {
    const { cache, run } = await project();
    await writeFile(cache, "a file");
    const ran = await run("check");
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(/^lattice: cannot use the folder .*; set LATTICE_CACHE to a folder of your own\n$/);
  });

  it.runIf(process.getuid?.() === 0)("refuses a folder, or a link, of another user", async () => {
    const made = await project();
    await mkdir(join(made.root, "planted"));
    await symlink(join(made.root, "planted"), made.cache);
    await lchown(made.cache, 12_345, 12_345);
    expect((await made.run("check")).stderr).toContain(`${made.cache} belongs to the user with id 12345, not to you`);
    await rm(made.cache);
    await mkdir(join(made.cache, "setup"), { recursive: true });
    await lchown(join(made.cache, "setup"), 12_345, 12_345);
    expect((await made.run("check")).stderr).toContain(`${join(made.cache, "setup")} belongs to the user with id 12345, not to you`);
    expect(await readdir(join(made.root, "planted"))).toEqual([]);
  });

  it("explains what to do when npm ci fails, and retries the next time", async () => {
    const { root, run } = await project();
    await writeFile(join(root, "package-lock.json"), "{}");
    for (const _ of ["first", "second"]) {
      const ran = await run("check");
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toContain("npm ci failed");
    }
  });
});

/** An npm that installs until it gets a signal. */
const SLOW_NPM = `#!/bin/sh
mkdir -p node_modules && touch node_modules/half
exec sleep 60
`;

describe("run.cjs that gets a signal during the set-up", () => {
  it.each([
    { name: "Ctrl-C, which the terminal sends to the whole group", signal: "SIGINT", group: true },
    { name: "SIGTERM to the group", signal: "SIGTERM", group: true },
    { name: "SIGTERM to the process alone", signal: "SIGTERM", group: false },
    { name: "a closed terminal", signal: "SIGHUP", group: true },
  ] as const)("$name: ends npm and itself, and the next run installs", async ({ signal, group }) => {
    const bin = await fileTree({ npm: SLOW_NPM });
    await chmod(join(bin, "npm"), 0o755);
    const made = await project();
    const env = { ...made.env, PATH: `${bin}:${process.env["PATH"]}` };
    const child = spawn(process.execPath, [join(made.root, "scripts/run.cjs"), "check"], { cwd: made.root, env, detached: true });
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve)); // its output is closed by npm too
    await vi.waitFor(() => stat(join(made.root, "node_modules/half")), { timeout: 20_000, interval: 20 });
    const { pid = 0 } = child;
    process.kill(group ? -pid : pid, signal);
    expect(await closed).toBe(130);
    expect(() => process.kill(-pid, 0)).toThrow("ESRCH");
    expect(await readdir(dirname(lockOf(made)))).toEqual([]);
    expect(await made.run("check")).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  it("a signal to the group that ends npm before this process receives it", async () => {
    const bin = await fileTree({ npm: "#!/bin/sh\nkill -TERM $$\n" });
    await chmod(join(bin, "npm"), 0o755);
    const made = await project();
    const env = { ...made.env, PATH: `${bin}:${process.env["PATH"]}` };
    const child = spawn(process.execPath, [join(made.root, "scripts/run.cjs"), "check"], { cwd: made.root, env });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(130);
    expect(await readdir(dirname(lockOf(made)))).toEqual([]);
  });

  it("a run that waits for another one's installation ends at once", async () => {
    const made = await project();
    await mkdir(dirname(lockOf(made)), { recursive: true, mode: 0o700 });
    await writeFile(lockOf(made), String(process.pid));
    const child = spawn(process.execPath, [join(made.root, "scripts/run.cjs"), "check"], { cwd: made.root, env: made.env });
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    const waits = `${lockOf(made)}.${child.pid}`;
    await vi.waitFor(() => stat(waits), { timeout: 20_000, interval: 20 });
    child.kill("SIGTERM");
    expect(await closed).toBe(130);
    expect(await readdir(dirname(lockOf(made)))).toEqual([basename(lockOf(made))]);
  });
});

/** An npm that has one package: a Node that prints its arguments. */
const NPM = `#!/bin/sh
if [ "$1" = pack ]; then cp "$FAKE_PACKAGE" "$5/node.tgz"; fi
if [ "$1" = ci ]; then mkdir -p node_modules; fi
`;
const OLD_NODE = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "14.21.3" } });\n`;

describe.runIf(process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64"))("run.cjs under an old Node", () => {
  async function oldProject() {
    const files = await fileTree({
      "old-node.cjs": OLD_NODE,
      "bin/npm": NPM,
      "package/bin/node": `#!/bin/sh\necho private "$(basename "$1")" "$2"\n`,
    });
    await chmod(join(files, "bin/npm"), 0o755);
    await chmod(join(files, "package/bin/node"), 0o755);
    const archive = join(files, "node.tgz");
    expect(await runProgram("tar", ["-czf", archive, "package"], { cwd: files })).toMatchObject({ code: 0 });
    const made = await project({
      PATH: `${join(files, "bin")}:${process.env["PATH"]}`,
      NODE_OPTIONS: `--require ${join(files, "old-node.cjs")}`,
      FAKE_PACKAGE: archive,
    });
    const integrity = `sha512-${createHash("sha512")
      .update(await readFile(archive))
      .digest("base64")}`;
    return { ...made, integrity };
  }

  it("runs the private Node whose bytes are the pinned ones, and fetches it once", async () => {
    const { root, run, integrity } = await oldProject();
    const script = join(root, "scripts/run.cjs");
    await writeFile(script, (await readFile(script, "utf8")).replaceAll(/"sha512-[^"]+"/g, `"${integrity}"`));
    const first = await run("check", "--fast");
    expect(first).toMatchObject({ code: 0, stdout: "private check.ts --fast\n" });
    expect(first.stderr).toContain("fetching a private Node 24.21.0");
    expect(await run("check", "--fast")).toEqual({ code: 0, stdout: "private check.ts --fast\n", stderr: "" });
  });

  it("does not unpack a package with other bytes, and reports it", async () => {
    const { cache, run, integrity } = await oldProject();
    const ran = await run("check");
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(`is not the package that Lattice was tested with, and was not unpacked: its integrity is ${integrity}`);
    expect(ran.stderr).not.toContain("    at ");
    expect(await readdir(cache)).toEqual([]);
  });

  it("a signal while the private Node is fetched leaves no incomplete one", async () => {
    const { root, cache, env } = await oldProject();
    const npm = join(root, "slow-bin");
    await mkdir(npm);
    await writeFile(join(npm, "npm"), `#!/bin/sh\ntouch "$5/half" && exec sleep 60\n`, { mode: 0o755 });
    const started = { cwd: root, env: { ...env, PATH: `${npm}:${process.env["PATH"]}` }, detached: true };
    const child = spawn(process.execPath, [join(root, "scripts/run.cjs"), "check"], started);
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    await vi.waitFor(async () => expect((await readdir(cache)).join()).toContain("node-linux"), { timeout: 20_000, interval: 20 });
    child.kill("SIGTERM");
    expect(await closed).toBe(130);
    expect((await readdir(cache)).filter((name) => name !== "compiled")).toEqual([]);
  });
});
