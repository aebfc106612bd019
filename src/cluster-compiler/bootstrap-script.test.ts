/** The script under a real `sh`, with programs on PATH that record how they were called. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { bootstrapFields, bootstrapScript, MOST_FILE_CHARACTERS } from "./bootstrap-script.ts";

const TOKEN = "one-time-token-0123456789";
const script = bootstrapScript({ cluster: "child", host: "10.0.0.5", port: 8_443 });

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Programs = {
  /** Shell code; `$root` is the folder of the machine. */
  readonly kubectl: string;
  readonly curl: string;
};

/** What was called, with arguments, one per line; what was sent to /report; what the script printed. */
function run({ kubectl, curl }: Programs, { token = true, shell = "sh" } = {}) {
  const root = mkdtempSync(join(tmpdir(), "lattice-bootstrap-"));
  folders.push(root);
  const bin = join(root, "bin");
  for (const folder of [bin, join(root, "etc/lattice"), join(root, "etc/kubernetes")]) mkdirSync(folder, { recursive: true });
  if (token) writeFileSync(join(root, "etc/lattice/token"), TOKEN);
  writeFileSync(join(root, "etc/lattice/bootstrap.sh"), script);
  const record = `root='${root}'; echo "$(basename "$0") $*" >> '${root}/calls'; for a in "$@"; do last="$a"; done`;
  const programs = { kubectl, curl, sleep: "exit 0" };
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${record}\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync(shell, [join(root, "etc/lattice/bootstrap.sh")], {
    env: { PATH: `${bin}:/usr/bin:/bin`, LATTICE_ROOT: root },
    encoding: "utf8",
    timeout: 60_000,
  });
  const read = (name: string) => (existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : "");
  const calls = read("calls").split("\n").filter(Boolean);
  return { root, status, output: stdout + stderr, calls, read };
}

const called = (calls: readonly string[], name: string) => calls.filter((call) => call.startsWith(`${name} `));

/** Saves the body of a report, and the header that curl was given. */
const ANSWERS = `
for a in "$@"; do case "$a" in @*header) cat "\${a#@}" > "$root/seen-header";; @*report) cat "\${a#@}" > "$root/seen-report";; esac; done
out=""; for a in "$@"; do if [ "$out" = next ]; then out="$a"; break; fi; if [ "$a" = --output ]; then out=next; fi; done
case "$last" in */register) echo 'kind: List' > "$out";; esac
exit 0`;
const ABSENT = `case "$*" in *"get deployment"*) exit 1;; esac`;

describe("the bootstrap script", { timeout: 60_000 }, () => {
  test("does nothing where the operator is installed", () => {
    const { status, calls, output } = run({ kubectl: "exit 0", curl: "exit 7" });
    expect({ status, curl: called(calls, "curl"), output }).toEqual({
      status: 0,
      curl: [],
      output: "lattice: the operator is installed\n",
    });
    expect(called(calls, "kubectl")).toHaveLength(1);
  });

  test("registers and applies the answer", () => {
    const { root, status, calls, read, output } = run({ kubectl: `${ABSENT}\ncat "$last" > "$root/applied"`, curl: ANSWERS });
    expect({ status, output }).toEqual({ status: 0, output: "lattice: the operator was installed\n" });
    expect(read("applied")).toBe("kind: List\n");
    expect(read("seen-header")).toBe(`Authorization: Bearer ${TOKEN}\n`);
    expect(called(calls, "curl")).toEqual([expect.stringContaining("https://10.0.0.5:8443/api/clusters/register")]);
    expect(called(calls, "curl").join()).toContain(`--cacert ${root}/etc/lattice/cell-ca.crt`);
  });

  test("gives up after a limited number of tries without a parent, and exits with 0", () => {
    const { status, calls, output } = run({ kubectl: "exit 1", curl: "exit 7" });
    expect(status).toBe(0);
    expect(called(calls, "sleep")).toHaveLength(120);
    expect(output).toContain("gave up after 120 tries");
    expect(output).toContain("the parent cannot be reached");
  });

  test("stops when another machine installs the operator", () => {
    const kubectl = `if [ -e "$root/second" ]; then exit 0; fi; if [ -e "$root/first" ]; then : > "$root/second"; fi; : > "$root/first"; exit 1`;
    const { status, calls, output } = run({ kubectl, curl: "exit 22" });
    expect({ status, output }).toEqual({ status: 0, output: "lattice: the operator is installed\n" });
    expect(called(calls, "curl")).toHaveLength(1);
  });

  test.each(["sh", "bash"])("reports an apply that fails again, with the first lines of the error as JSON, under %s", (shell) => {
    if (spawnSync(shell, ["-c", "true"]).status !== 0) return;
    const errors = String.raw`printf 'error: "quoted" \\ and\tt\303\251xt\n%s\n' "$(printf '%0500d' 0)" >&2; echo third >&2; echo fourth >&2; exit 1`;
    const { status, calls, read, output } = run(
      { kubectl: `${ABSENT}\necho 'node-1' > "$root/etc/hostname"\n${errors}`, curl: ANSWERS },
      { shell },
    );
    expect(status).toBe(0);
    expect(JSON.parse(read("seen-report"))).toEqual({
      step: "apply",
      message: `error:  quoted    and t  xt ${"0".repeat(300)} third `,
      node: "node-1",
    });
    expect(called(calls, "curl").filter((call) => call.endsWith("/api/clusters/child/report"))).toHaveLength(2);
    expect(output).toContain("step apply failed");
  });

  test("a report without a host name and without an error is JSON", () => {
    const { read } = run({ kubectl: `${ABSENT}\nexit 1`, curl: ANSWERS });
    expect(JSON.parse(read("seen-report"))).toEqual({ step: "apply", message: "", node: "" });
  });

  test("an apply that succeeds at the second try is not reported", () => {
    const kubectl = `${ABSENT}\nif [ -e "$root/tried" ]; then exit 0; fi; : > "$root/tried"; exit 1`;
    const { calls, output } = run({ kubectl, curl: ANSWERS });
    expect(called(calls, "curl")).toHaveLength(1);
    expect(output).toBe("lattice: the operator was installed\n");
  });

  test("exits with 0 without a token", () => {
    const { status, calls, output } = run({ kubectl: "exit 1", curl: "exit 0" }, { token: false });
    expect({ status, curl: called(calls, "curl") }).toEqual({ status: 0, curl: [] });
    expect(output).toContain("the token cannot be read");
  });

  test.each([
    { name: "success", kubectl: ABSENT, curl: ANSWERS },
    { name: "a failing apply", kubectl: `${ABSENT}\nexit 1`, curl: ANSWERS },
    { name: "no parent", kubectl: "exit 1", curl: "exit 7" },
  ])("leaves the token neither in arguments nor in output nor in files, after $name", ({ kubectl, curl }) => {
    const { output, calls, read } = run({ kubectl, curl });
    expect(output + calls.join("\n")).not.toContain(TOKEN);
    for (const file of ["header", "manifests.yaml", "error", "report"]) expect(read(`run/lattice/${file}`)).toBe("");
  });

  test("is accepted as a file of cloud-init, which expands {{ }}, {% %} and {# #}", () => {
    expect(script).not.toMatch(/\{[{%#]/);
    expect(script.length).toBeLessThan(MOST_FILE_CHARACTERS);
  });

  test("writes an IPv6 address in brackets", () => {
    expect(bootstrapScript({ cluster: "child", host: "fd00::5", port: 443 })).toContain("api='https://[fd00::5]:443/api/clusters'");
  });
});

test("the command runs the file that is written", () => {
  const fields = bootstrapFields({ cluster: "child", host: "a.example.com", port: 8_443, caBundle: "CA", tokenSecret: "t" });
  expect(fields["postKubeadmCommands"]).toEqual(["sh /etc/lattice/bootstrap.sh"]);
  expect(fields["files"]).toContainEqual(expect.objectContaining({ path: "/etc/lattice/cell-ca.crt", content: "CA" }));
});
