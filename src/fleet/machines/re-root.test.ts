import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { machineScript, shellQuoted } from "./machine-script.ts";
import { reRootCommand, reRootKnownPath, reRootPath } from "./re-root.ts";

const ROOT = "/data/my machine";

test.each([
  { path: "/etc/kubernetes/admin.conf", want: `${ROOT}/etc/kubernetes/admin.conf` },
  { path: "/anything/else", want: `${ROOT}/anything/else` },
  { path: "/etc/../../../root/.ssh/id", want: `${ROOT}/root/.ssh/id` },
  { path: `${ROOT}/etc/a`, want: `${ROOT}/etc/a` },
  { path: ROOT, want: ROOT },
  { path: "relative", want: "relative" },
])("the path $path of a machine is $want", ({ path, want }) => {
  expect(reRootPath(ROOT, path)).toBe(want);
});

test("only paths of known folders are moved in arguments of tools", () => {
  expect(["/etc/a", "/dev/null", "/etcetera", "/usr/local/bin", "/usr/bin/env"].map((path) => reRootKnownPath(ROOT, path))).toEqual([
    `${ROOT}/etc/a`,
    "/dev/null",
    "/etcetera",
    `${ROOT}/usr/local/bin`,
    "/usr/bin/env",
  ]);
});

const R = '"${LATTICE_ROOT}"';
test.each([
  { command: "sh /etc/lattice/bootstrap.sh", want: `sh ${R}/etc/lattice/bootstrap.sh` },
  { command: "echo success > /run/cluster-api/x", want: `echo success > ${R}/run/cluster-api/x` },
  { command: "echo a>/tmp/b;cat</var/c", want: `echo a>${R}/tmp/b;cat<${R}/var/c` },
  { command: "/opt/bin/run --config=/etc/a", want: `${R}/opt/bin/run --config=${R}/etc/a` },
  { command: 'cat "/etc/a b"', want: 'cat "${LATTICE_ROOT}/etc/a b"' },
  { command: "cat '/etc/a b'", want: `cat '''${R}'/etc/a b'`.replace("'''", "''") },
  { command: "curl -H @/etc/header https://host/etc/x", want: `curl -H @${R}/etc/header https://host/etc/x` },
  { command: "cat ${LATTICE_ROOT:-}/etc/a $root/etc/b ./etc/c", want: "cat ${LATTICE_ROOT:-}/etc/a $root/etc/b ./etc/c" },
  { command: "ls /usr/local /usr/bin /dev/null /etcetera /variable", want: `ls ${R}/usr/local /usr/bin /dev/null /etcetera /variable` },
  { command: String.raw`echo \'/etc/a`, want: `echo \\'${R}/etc/a` },
  { command: "cd /tmp", want: `cd ${R}/tmp` },
  { command: 'sh -c "cat /etc/a"', want: 'sh -c "cat ${LATTICE_ROOT}/etc/a"' },
  { command: "", want: "" },
])("the command $command becomes $want", ({ command, want }) => {
  expect(reRootCommand(command)).toBe(want);
});

const run = (script: string) =>
  execFileSync("/bin/sh", ["-c", script], { env: { LATTICE_ROOT: ROOT, PATH: "/usr/bin:/bin" }, encoding: "utf8", stdio: "pipe" });

test("a path is one argument of a shell in every kind of quotes, also below a folder with spaces", () => {
  const line = reRootCommand(`printf '%s|' /etc/a "/etc/b" '/etc/c' x=/etc/d`);
  expect(run(line)).toBe(`${ROOT}/etc/a|${ROOT}/etc/b|${ROOT}/etc/c|x=${ROOT}/etc/d|`);
});

test("a list is a program and its arguments, whatever they contain", () => {
  const argument = fc.string({ unit: fc.constantFrom("a", " ", "'", '"', "$", "`", "\\", ";", "\n", "*", "é"), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(argument, { minLength: 1, maxLength: 3 }), (parts) => {
      expect(run(machineScript([["printf", "%s|", ...parts]]))).toBe(parts.map((part) => `${part}|`).join(""));
    }),
    { numRuns: 20 },
  );
  expect(shellQuoted("it's")).toBe(`'it'\\''s'`);
});

test("the commands of a machine share variables, and the first that fails ends them", () => {
  const exitCode = (commands: readonly string[]) => run(`(${machineScript(commands)}) ; echo "exit $?"`);
  expect(exitCode(["", "# a comment", "a=1", "cd /", 'echo "$a $PWD"'])).toBe("1 /\nexit 0\n");
  expect(exitCode(["echo one", "false", "echo two"])).toBe("one\nexit 1\n");
  expect(exitCode(["echo one\n(exit 7)", "echo two"])).toBe("one\nexit 7\n");
});
