/** The process of a machine with real files and a real shell; a script takes the place of Lattice. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { err, expectOk, ok } from "#base";
import { machineEnvironment } from "./machine-environment.ts";
import {
  createMachine,
  deleteMachine,
  isCompleted,
  machineNames,
  machinePaths,
  readMachine,
  type MachineRecord,
} from "./machine-folder.ts";
import { runMachine } from "./run-machine.ts";

let machines = "";
beforeEach(() => {
  machines = join(mkdtempSync(join(tmpdir(), "lattice machine-")), "machines");
});
afterEach(() => rmSync(join(machines, ".."), { recursive: true, force: true }));

const RECORD: MachineRecord = {
  id: "u1",
  name: "m1",
  cluster: "child",
  namespace: "capi-child",
  controlPlane: true,
  version: "v1.36.3",
  owner: "mgmt",
};
const never = new AbortController().signal;

function setUp(userData: string) {
  const paths = machinePaths({ machines }, "m1");
  expectOk(createMachine(paths, RECORD, userData));
  // prints what it was called with
  const fake = join(machines, "..", "lattice.sh");
  writeFileSync(fake, 'echo "lattice $*" >> "$LATTICE_ROOT/called"\n');
  const lines: string[] = [];
  const env = machineEnvironment({ LANG: "C", NODE_OPTIONS: "--x", SECRET: "s" }, { folder: paths.folder, socket: "/s", token: "t" });
  const run = (signal = never, pid = process.pid) =>
    runMachine({
      folder: paths.folder,
      program: { node: "/bin/sh", args: [fake] },
      env: { ...env, NODE_OPTIONS: "--x" },
      pid,
      print: (line) => lines.push(line),
      signal,
    });
  const read = (name: string) => readFileSync(join(paths.folder, name), "utf8");
  return { paths, run, read, lines };
}

describe("the process of a machine", () => {
  it("writes the files, runs the commands with its own tools, and marks the success", async () => {
    const { run, read, paths, lines } = setUp(`#cloud-config
write_files:
- path: /etc/lattice/token
  permissions: '0600'
  content: secret
- path: /etc/motd
  append: true
  content: |
    hello
- path: /etc/motd
  append: true
  content: |
    you
runcmd:
- kubeadm init --config "/run/kubeadm/a b.yaml"
- [kubectl, get, "it's"]
- env > /tmp/env; cat /etc/lattice/token > /var/copy
users: []
`);
    expect(await run()).toEqual(ok(0));
    const { folder } = paths;
    expect(read("called")).toBe(`lattice kubeadm -- init --config ${folder}/run/kubeadm/a b.yaml\nlattice kubectl -- get it's\n`);
    expect([read("etc/motd"), read("var/copy"), statSync(join(folder, "etc/lattice/token")).mode & 0o777]).toEqual([
      "hello\nyou\n",
      "secret",
      0o600,
    ]);
    const names = read("tmp/env")
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0] ?? "");
    expect(names.filter((name) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(name)).toSorted()).toEqual([
      "HOME",
      "LANG",
      "LATTICE_FLEET_SOCKET",
      "LATTICE_MACHINE_PID",
      "LATTICE_MACHINE_TOKEN",
      "LATTICE_ROOT",
      "PATH",
      "TMPDIR",
    ]);
    expect(read("run/cluster-api/bootstrap-success.complete")).toBe("success\n");
    expect(isCompleted(paths)).toBe(true);
    expect(lines).toEqual(["users of the bootstrap data is ignored: a local machine has only write_files and runcmd"]);
    // never repeated
    expect(await run()).toEqual(ok(0));
    expect(read("called").split("\n")).toHaveLength(3);
  });

  it("ends with the exit code of the command that fails, and another attempt repeats all commands", async () => {
    const { run, read, paths } = setUp(`#cloud-config
write_files: [{path: /etc/list, append: true, content: "a\\n"}]
runcmd: ["echo one >> /tmp/out", "test -e /tmp/go || exit 7", "echo two >> /tmp/out"]
`);
    expect(await run()).toEqual(ok(7));
    expect([isCompleted(paths), existsSync(join(paths.folder, "run/cluster-api"))]).toEqual([false, false]);
    writeFileSync(join(paths.folder, "tmp/go"), "");
    expect(await run()).toEqual(ok(0));
    expect([read("tmp/out"), read("etc/list")]).toEqual(["one\none\ntwo\n", "a\n"]);
  });

  it.each([
    { name: "is no cloud-config", text: "x", want: "the bootstrap data is not a cloud-config: it has no line #cloud-config" },
    {
      name: "replaces files of Lattice",
      text: "#cloud-config\nwrite_files: [{path: /bin/kubectl}]\n",
      want: "write_files: /bin/kubectl is reserved for Lattice; use another path",
    },
  ])("does nothing with bootstrap data that $name", async ({ text, want }) => {
    const { run, paths } = setUp(text);
    expect(await run()).toEqual(err(want));
    expect(existsSync(paths.script)).toBe(false);
  });

  it("reports files that cannot be written or read", async () => {
    const { run, paths } = setUp("#cloud-config\nwrite_files: [{path: /etc/a, content: x}, {path: /etc/a/b, content: z}]\n");
    expect(await run()).toMatchObject({ ok: false, error: expect.stringContaining("is not a folder") as string });
    rmSync(paths.userData);
    expect(await run()).toMatchObject({ ok: false, error: expect.stringMatching(/^the bootstrap data cannot be read: /) as string });
    writeFileSync(paths.record, "{}");
    expect(await run()).toEqual(err(`${paths.record} cannot be read`));
  });

  it("ends its command with its signal", async () => {
    const { run, paths } = setUp("#cloud-config\nruncmd: ['echo on > /tmp/started; while [ -e /tmp/started ]; do sleep 0.05; done']\n");
    const stop = new AbortController();
    const ran = run(stop.signal);
    await expect.poll(() => existsSync(join(paths.folder, "tmp/started")), { timeout: 20_000 }).toBe(true);
    stop.abort();
    expect(await ran).toEqual(err("the machine was stopped"));
    rmSync(join(paths.folder, "tmp/started")); // its process group is the test's, which nothing ends
    expect(isCompleted(paths)).toBe(false);
  });
});

describe("the folder of a machine", () => {
  it("is deleted with its record last, and keeps the files of Pods that run", async () => {
    const { paths } = setUp("#cloud-config\n");
    expect([machineNames({ machines }), readMachine(paths)]).toEqual([["m1"], ok(RECORD)]);
    const pod = join(paths.folder, "pods", "u9");
    expectOk(createMachine(machinePaths({ machines: join(paths.folder, "pods") }, "u9"), RECORD, ""));
    expectOk(await deleteMachine(paths));
    expect([existsSync(paths.record), existsSync(pod), machineNames({ machines })]).toEqual([false, true, []]);
    rmSync(pod, { recursive: true });
    expectOk(await deleteMachine(paths));
    expect(existsSync(paths.folder)).toBe(false);
    expect(machineNames({ machines: "/nonexistent" })).toEqual([]);
  });
});
