/** Files and folders given with `-f`, read as Kubernetes objects that remember where they came from. "-" is standard input. */
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
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
    for (const read of await readSome(io, files.ok ? files.value : [])) {
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

/** More at once would run out of file handles somewhere. */
const AT_ONCE = 64;

async function readSome(io: CliIo, files: readonly string[]): Promise<readonly Result<readonly FileDocument[], FileProblem>[]> {
  const all: Result<readonly FileDocument[], FileProblem>[] = [];
  for (let start = 0; start < files.length; start += AT_ONCE)
    all.push(...(await Promise.all(files.slice(start, start + AT_ONCE).map((file) => readOne(io, file)))));
  return all;
}

async function readOne(io: CliIo, file: string): Promise<Result<readonly FileDocument[], FileProblem>> {
  const reading = file === "-" ? io.stdin() : readFile(resolve(io.cwd, file), "utf8");
  const text = await fromPromise(reading, (thrown) => ({ file, message: `cannot be read: ${describeThrown(thrown)}` }));
  if (!text.ok) return text;
  const parsed = parseYaml(text.value);
  if (parsed.ok) return ok(parsed.value.map((value, index) => ({ file, index: index + 1, value })));
  const { message, line, column } = parsed.error;
  return err({ file: line === undefined ? file : `${file}:${line}:${column}`, message });
}
