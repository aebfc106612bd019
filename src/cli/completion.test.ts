/** Completion: the candidates of `__complete`, and the scripts in the shells that are installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "#base";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { runCli } from "../../test/builders/cli-io.ts";
import { latticeService } from "../../test/builders/lattice-objects.ts";

let cluster: EmbeddedCluster;
let cwd: string;
beforeAll(async () => {
  cluster = await startEmbeddedCluster({ objects: latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject) });
  await cluster.add(latticeService("default/cart"), latticeService("default/catalog"), latticeService("team/web"));
  cwd = mkdtempSync(join(tmpdir(), "lattice-completion-"));
  writeFileSync(join(cwd, "kubeconfig"), await cluster.kubeconfig({ http: true }));
});
afterAll(async () => {
  await cluster.close();
  rmSync(cwd, { recursive: true });
});

async function completed(...words: readonly string[]): Promise<{ readonly texts: readonly string[]; readonly last: string | undefined }> {
  const { code, stdout, stderr } = await runCli(["__complete", "--", ...words], {
    cwd,
    clock: systemClock,
    env: { KUBECONFIG: join(cwd, "kubeconfig") },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  return { texts: lines.slice(0, -1).map((line) => line.split("\t")[0] ?? ""), last: lines.at(-1) };
}

describe("candidates", () => {
  test.each([
    { name: "commands", words: ["va"], want: ["validate"] },
    { name: "flags", words: ["graph", "--a"], want: ["--all-namespaces"] },
    { name: "flags of the program", words: ["--ver"], want: ["--version"] },
    { name: "choices of a flag", words: ["status", "-o", ""], want: ["text", "wide", "json", "yaml"] },
    { name: "choices of an argument", words: ["completion", ""], want: ["bash", "zsh", "fish"] },
    { name: "kinds", words: ["crds", "LatticeSer"], want: ["LatticeService", "LatticeServiceRegistration", "LatticeServiceConfig"] },
    { name: "services of the namespace", words: ["why", "ca"], want: ["cart", "catalog"] },
    { name: "the second service", words: ["why", "cart", "cat"], want: ["catalog"] },
    { name: "services of another namespace", words: ["status", "-n", "team", ""], want: ["web"] },
    { name: "services to detach", words: ["detach", "-n", "team", ""], want: ["web"] },
    { name: "services of all namespaces", words: ["status", "-A", "t"], want: ["team/web"] },
    { name: "namespaces", words: ["status", "-n", "te"], want: ["team"] },
    { name: "commands after help", words: ["help", "gra"], want: ["graph"] },
    { name: "nothing after an unknown command", words: ["nonsense", ""], want: [] },
  ])("$name", async ({ words, want }) => {
    expect((await completed(...words)).texts.toSorted()).toEqual(want.toSorted());
  });

  test.each([
    { name: "files after -f", words: ["validate", "-f", ""], want: ":files" },
    { name: "more files", words: ["compile", "-f", "a.yaml", ""], want: ":files" },
    { name: "a folder", words: ["up", "--data-dir", ""], want: ":files" },
    { name: "no files for flags that take none", words: ["why", "--method", ""], want: ":none" },
    { name: "no files after flags without a value", words: ["status", "-A", ""], want: ":none" },
  ])("$name", async ({ words, want }) => expect((await completed(...words)).last).toBe(want));

  test("the hidden command is not offered and not in the help", async () => {
    expect((await completed("")).texts).not.toContain("__complete");
    expect((await runCli(["--help"])).stdout).not.toContain("__complete");
  });

  test("without a cluster there are no names, and no error", async () => {
    expect(await runCli(["__complete", "--", "why", ""], { cwd: "/", clock: systemClock })).toEqual({
      code: 0,
      stdout: ":none\n",
      stderr: "",
    });
  });
});

const has = (shell: string) => spawnSync(shell, ["-c", "exit 0"]).status === 0;

describe("scripts", () => {
  /** A stub that prints what the real lattice prints, and starts faster. */
  function stub(): string {
    const file = join(cwd, "lattice");
    writeFileSync(
      file,
      '#!/bin/sh\nshift 2\ncase "$*" in\n  "") printf "validate\\tcheck files\\nversion\\n:none\\n" ;;\n  "validate -f ku") echo :files ;;\n  *) printf "validate\\tcheck files\\nversion\\n:none\\n" ;;\nesac\n',
    );
    chmodSync(file, 0o755);
    return file;
  }

  test.skipIf(!has("bash"))("bash completes commands and files", async () => {
    const { stdout: script } = await runCli(["completion", "bash"]);
    writeFileSync(join(cwd, "completion.bash"), script);
    stub();
    const driver = (words: string) => `
      source ./completion.bash
      COMP_WORDS=(${words}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      _lattice 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const run = (words: string) =>
      execFileSync("bash", ["-c", driver(words)], { cwd, encoding: "utf8", env: { PATH: `${cwd}:/usr/bin:/bin` } });
    expect(execFileSync("bash", ["-c", "source ./completion.bash; complete -p lattice"], { cwd, encoding: "utf8" })).toContain(
      "complete -F _lattice lattice",
    );
    expect(run("lattice va")).toBe("validate\n");
    expect(run('lattice ""')).toBe("validate\nversion\n");
    expect(run("lattice validate -f ku")).toBe("kubeconfig\n");
  });

  test.skipIf(!has("zsh"))("zsh reads its script", async () => {
    const { stdout: script } = await runCli(["completion", "zsh"]);
    expect(spawnSync("zsh", ["-n"], { input: script, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  test.skipIf(!has("fish"))("fish reads its script", async () => {
    const { stdout: script } = await runCli(["completion", "fish"]);
    writeFileSync(join(cwd, "lattice.fish"), script);
    expect(spawnSync("fish", ["--no-execute", "lattice.fish"], { cwd, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  test("there is a script for each documented shell, and no other", async () => {
    for (const shell of ["bash", "zsh", "fish"]) expect((await runCli(["completion", shell])).stdout).toContain("__complete --");
    expect(await runCli(["completion", "tcsh"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Allowed choices are bash, zsh, fish") as string,
    });
  });
});
