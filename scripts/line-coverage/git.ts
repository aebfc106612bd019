/**
 * Determines the changed lines with git: the commit to compare with, and the lines that differ from it.
 *
 * The comparison is with the working tree, not with HEAD: the gate runs before the commit, and must include untracked files.
 */
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "#base";
import { runProgram } from "../process/run-program.ts";
import { parseDiff, type ChangedLines } from "./changed-lines.ts";

export type Base =
  | { readonly kind: "commit"; readonly commit: string; readonly name: string }
  | { readonly kind: "everything"; readonly why: string }
  | { readonly kind: "no-git"; readonly why: string };

/** `wanted` is LATTICE_BASE: a base that does not exist is an error, without a fallback. */
export async function chooseBase(root: string, wanted: string | undefined): Promise<Result<Base, string>> {
  const top = await git(root, "rev-parse", "--show-toplevel");
  if (top === undefined || (await realpath(top)) !== (await realpath(root))) {
    return ok({ kind: "no-git", why: "this is not a git clone" });
  }
  if (wanted !== undefined && wanted !== "") {
    const commit = await commitOf(root, wanted);
    return commit === undefined ? err(`LATTICE_BASE is ${wanted}, which is not a commit`) : ok(commitBase(commit, wanted));
  }
  const head = await commitOf(root, "HEAD");
  if (head === undefined) return ok({ kind: "everything", why: "there is no commit yet" });
  const merged = await git(root, "merge-base", "HEAD", "origin/main");
  if (merged !== undefined && merged !== head) return ok(commitBase(merged, "the merge base with origin/main"));
  const parent = await commitOf(root, "HEAD~1");
  return ok(parent === undefined ? { kind: "everything", why: "there is only one commit" } : commitBase(parent, "HEAD~1"));
}

function commitBase(commit: string, name: string): Base {
  return { kind: "commit", commit, name };
}

/** Lines of `src` that differ from the commit; all lines of untracked files. */
export async function changedSince(root: string, commit: string): Promise<Result<ChangedLines, string>> {
  // prefixes and quoting are settings of the user that would change the output
  const fixed = ["-c", "core.quotePath=false", "diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames"];
  const diff = await git(root, ...fixed, "--src-prefix=a/", "--dst-prefix=b/", commit, "--", "src");
  const unknown = await git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", "src");
  if (diff === undefined || unknown === undefined) return err(`git could not compare the working tree with ${commit}`);
  const changed = new Map(parseDiff(diff));
  for (const file of unknown.split("\0").filter((name) => name !== "")) {
    changed.set(file, everyLine(await readFile(join(root, file), "utf8")));
  }
  return ok(changed);
}

function everyLine(text: string): Set<number> {
  return new Set(text.split("\n").map((_, index) => index + 1));
}

function commitOf(root: string, name: string): Promise<string | undefined> {
  return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
}

async function git(root: string, ...args: readonly string[]): Promise<string | undefined> {
  const ran = await runProgram("git", args, { cwd: root, env: withoutGit(process.env) });
  return ran.code === 0 ? ran.stdout.trimEnd() : undefined;
}

/** Inside a git hook GIT_DIR and its like name the repository of the commit, whatever the folder is. */
export function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("GIT_")));
}
