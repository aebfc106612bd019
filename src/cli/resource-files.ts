/** Files and folders given with `-f`, read as Kubernetes objects that remember where they came from. "-" is standard input. */
import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { describeThrown, err, fromPromise, fromThrowing, ok, type Result } from "#base";
import { parseYaml, type Json } from "#kube";
import type { CliIo } from "./io.ts";

export type FileDocument = { readonly file: string; /** Counts from 1 within the file. */ readonly index: number; readonly value: Json };
export type FileProblem = { readonly file: string; readonly message: string };
export type FilesRead = { readonly documents: readonly FileDocument[]; readonly problems: readonly FileProblem[] };

const EXTENSIONS = new Set([".yaml", ".yml", ".json"]);

/** Every problem is collected: one bad file does not hide what is wrong with the next. */
export async function readResourceFiles(io: CliIo, paths: readonly string[]): Promise<FilesRead> {
  const documents: FileDocument[] = [];
  const problems: FileProblem[] = [];
  for (const path of paths) {
    const files = await filesOf(io, path);
    if (!files.ok) problems.push(files.error);
    for (const file of files.ok ? files.value : []) {
      const read = await readOne(io, file);
      if (read.ok) documents.push(...read.value);
      else problems.push(read.error);
    }
  }
  return { documents, problems };
}

async function filesOf(io: CliIo, path: string): Promise<Result<readonly string[], FileProblem>> {
  if (path === "-") return ok([path]);
  const full = resolve(io.cwd, path);
  const info = await fromPromise(stat(full), () => ({ file: path, message: "there is no such file or folder" }));
  if (!info.ok) return info;
  if (!info.value.isDirectory()) return ok([path]);
  const entries = await fromPromise(readdir(full, { recursive: true, withFileTypes: true }), (thrown) => ({
    file: path,
    message: describeThrown(thrown),
  }));
  if (!entries.ok) return entries;
  const files = entries.value.filter((entry) => entry.isFile() && EXTENSIONS.has(extname(entry.name)));
  if (files.length === 0) return err({ file: path, message: "the folder holds no .yaml, .yml or .json file" });
  return ok(files.map((entry) => join(path, join(entry.parentPath, entry.name).slice(full.length))).toSorted());
}

async function readOne(io: CliIo, file: string): Promise<Result<readonly FileDocument[], FileProblem>> {
  const text = await readText(io, file);
  if (!text.ok) return text;
  const parsed = parseYaml(text.value);
  if (parsed.ok) return ok(parsed.value.map((value, index) => ({ file, index: index + 1, value })));
  const { message, line, column } = parsed.error;
  return err({ file: line === undefined ? file : `${file}:${line}:${column}`, message });
}

/** A command has nothing else to do meanwhile, and a promise for each of a thousand files costs more than reading them. */
async function readText(io: CliIo, file: string): Promise<Result<string, FileProblem>> {
  const unreadable = (thrown: unknown) => ({ file, message: `cannot be read: ${describeThrown(thrown)}` });
  if (file === "-") return fromPromise(io.stdin(), unreadable);
  return fromThrowing(() => readFileSync(resolve(io.cwd, file), "utf8"), unreadable);
}
