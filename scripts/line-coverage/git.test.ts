import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addFiles, fileTree } from "../../test/builders/file-tree.ts";
import { runProgram } from "../process/run-program.ts";
import { changedSince, chooseBase, withoutGit } from "./git.ts";

const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"];

async function git(root: string, ...args: readonly string[]): Promise<string> {
  const ran = await runProgram("git", [...identity, ...args], { cwd: root, env: withoutGit(process.env) });
  expect(ran.code, ran.stderr).toBe(0);
  return ran.stdout.trim();
}

async function commit(root: string, content: string): Promise<string> {
  await addFiles(root, { "src/a.ts": content });
  await git(root, "add", "-A");
  await git(root, "commit", "-q", "-m", content.slice(0, 8));
  return git(root, "rev-parse", "HEAD");
}

async function repository(): Promise<string> {
  const root = await fileTree({});
  await git(root, "init", "-q");
  return root;
}

describe("chooseBase", () => {
  it("has no base outside a clone", async () => {
    expect(await chooseBase(await fileTree({}), undefined)).toMatchObject({ ok: true, value: { kind: "no-git" } });
  });

  it("does not use a repository of a parent folder", async () => {
    const root = await repository();
    await addFiles(root, { "unpacked/package.json": "{}" });
    expect(await chooseBase(join(root, "unpacked"), undefined)).toMatchObject({ ok: true, value: { kind: "no-git" } });
  });

  it("counts everything before and at the first commit", async () => {
    const root = await repository();
    expect(await chooseBase(root, undefined)).toMatchObject({ ok: true, value: { kind: "everything" } });
    await commit(root, "one");
    expect(await chooseBase(root, "")).toMatchObject({ ok: true, value: { kind: "everything" } });
  });

  it("takes the last commit's parent on main itself", async () => {
    const root = await repository();
    const first = await commit(root, "one");
    await commit(root, "two");
    expect(await chooseBase(root, undefined)).toEqual({ ok: true, value: { kind: "commit", commit: first, name: "HEAD~1" } });
    await git(root, "update-ref", "refs/remotes/origin/main", "HEAD");
    expect(await chooseBase(root, undefined)).toMatchObject({ value: { name: "HEAD~1" } });
  });

  it("takes the merge base with origin/main on a branch", async () => {
    const root = await repository();
    const first = await commit(root, "one");
    await git(root, "update-ref", "refs/remotes/origin/main", "HEAD");
    await commit(root, "two");
    await commit(root, "three");
    expect(await chooseBase(root, undefined)).toMatchObject({ value: { commit: first, name: "the merge base with origin/main" } });
  });

  it("uses LATTICE_BASE, and refuses one that does not exist", async () => {
    const root = await repository();
    const first = await commit(root, "one");
    await commit(root, "two");
    await commit(root, "three");
    expect(await chooseBase(root, "HEAD~2")).toEqual({ ok: true, value: { kind: "commit", commit: first, name: "HEAD~2" } });
    expect(await chooseBase(root, "no-such-branch")).toMatchObject({ ok: false });
    expect(await chooseBase(root, "--version")).toMatchObject({ ok: false });
  });
});

describe("changedSince", () => {
  it("includes committed, uncommitted and untracked files", async () => {
    const root = await repository();
    const first = await commit(root, "one\ntwo\nthree\n");
    await commit(root, "one\nTWO\nthree\n");
    await writeFile(join(root, "src/a.ts"), "one\nTWO\nthree\nfour\n");
    await addFiles(root, { "src/ü.ts": "new\nfile\n", "docs/x.ts": "outside src\n" });
    const changed = await changedSince(root, first);
    expect(changed).toEqual({
      ok: true,
      value: new Map([
        ["src/a.ts", new Set([2, 4])],
        ["src/ü.ts", new Set([1, 2, 3])],
      ]),
    });
  });

  it("ignores the user's settings for diffs", async () => {
    const root = await repository();
    const first = await commit(root, "one\n");
    for (const setting of ["diff.noprefix", "diff.mnemonicPrefix"]) await git(root, "config", setting, "true");
    await git(root, "config", "color.ui", "always");
    await commit(root, "two\n");
    expect(await changedSince(root, first)).toEqual({ ok: true, value: new Map([["src/a.ts", new Set([1])]]) });
  });

  it("reports that git cannot compare", async () => {
    expect(await changedSince(await repository(), "0".repeat(40))).toMatchObject({ ok: false });
  });
});
