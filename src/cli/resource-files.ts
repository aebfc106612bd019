/** Files and folders given with `-f`, read as Kubernetes objects with their position. "-" is standard input. */
import { readdir, stat } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { describeThrown, err, fromPromise, mapErr, ok, type Result } from "#base";
import { parseDocuments } from "#compile";
import type { Json } from "#kube";
import type { CliIo } from "./io.ts";
import { MAX_RESOURCE_FILE, readRegularText } from "./regular-file.ts";

export type FileDocument = {
  readonly file: string;
  /** Counts from 1 within the file. */
  readonly index: number;
  readonly value: Json;
  /** The text of the whole file, for positions in it. */
  readonly text: string;
};
export type FileProblem = {
  readonly file: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** The text could not be read, so its content is unknown. */
  readonly unreadable?: true;
};
export type FilesRead = { readonly documents: readonly FileDocument[]; readonly problems: readonly FileProblem[] };

const EXTENSIONS = new Set([".yaml", ".yml", ".json"]);
const MAX_FILES = 10_000;
/** Of all files together, in characters. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Every problem is collected: an invalid file does not hide the problems of the next. */
export async function readResourceFiles(io: CliIo, paths: readonly string[]): Promise<FilesRead> {
  const documents: FileDocument[] = [];
  const problems: FileProblem[] = [];
  let characters = 0;
  for (const path of paths) {
    const files = await filesOf(io, path);
    if (!files.ok) problems.push(files.error);
    for (const file of files.ok ? files.value : []) {
      const text = await readText(io, file, file === path);
      characters += text.ok ? text.value.length : 0;
      if (characters > MAX_CHARACTERS) {
        const message = `all files together have more than ${MAX_CHARACTERS / 1024 / 1024} MiB; give fewer at once`;
        return { documents, problems: [...problems, unreadable(file, message)] };
      }
      const read = text.ok ? parseFile(file, text.value) : text;
      if (read.ok) documents.push(...read.value);
      else problems.push(read.error);
    }
  }
  return { documents, problems };
}

async function filesOf(io: CliIo, path: string): Promise<Result<readonly string[], FileProblem>> {
  if (path === "-") return ok([path]);
  const full = resolve(io.cwd, path);
  const info = await fromPromise(stat(full), () => unreadable(path, "there is no such file or folder"));
  if (!info.ok) return info;
  if (!info.value.isDirectory()) return ok([path]);
  const entries = await fromPromise(readdir(full, { recursive: true, withFileTypes: true }), (thrown) =>
    unreadable(path, describeThrown(thrown)),
  );
  if (!entries.ok) return entries;
  const files = entries.value.filter((entry) => entry.isFile() && EXTENSIONS.has(extname(entry.name)));
  if (files.length === 0) return err(unreadable(path, "the folder holds no .yaml, .yml or .json file"));
  if (files.length > MAX_FILES) return err(unreadable(path, `the folder holds more than ${MAX_FILES} files; give fewer at once`));
  return ok(files.map((entry) => join(path, join(entry.parentPath, entry.name).slice(full.length))).toSorted());
}

function unreadable(file: string, message: string): FileProblem {
  return { file, message, unreadable: true };
}

function parseFile(file: string, text: string): Result<readonly FileDocument[], FileProblem> {
  const parsed = parseDocuments(text);
  if (parsed.ok) return ok(parsed.value.map((value, index) => ({ file, index: index + 1, value, text })));
  const { message, line, column } = parsed.error;
  return err({ file, message, ...(line === undefined || column === undefined ? {} : { line, column }) });
}

/** Synchronous: a command has no other work meanwhile, and a promise for each of a thousand files costs more than reading them. */
async function readText(io: CliIo, file: string, pipes: boolean): Promise<Result<string, FileProblem>> {
  if (file === "-") return fromPromise(io.stdin(), (thrown) => unreadable(file, `cannot be read: ${describeThrown(thrown)}`));
  return mapErr(readRegularText(resolve(io.cwd, file), { bytes: MAX_RESOURCE_FILE, pipes }), (message) => unreadable(file, message));
}
