/** `lattice validate`: are these files what the API server will accept, or Score that Lattice can read? Offline, and all mistakes at once. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describeThrown, fromThrowing } from "#base";
import { isScore, parseScore } from "#compile";
import { parseLatticeObject, type FieldError, type LatticeObject } from "#crds";
import { describeObject } from "#kube";
import type { CliIo, ExitCode } from "./io.ts";
import { readResourceFiles, type FileDocument } from "./resource-files.ts";

export type Checked =
  | { readonly file: string; readonly index: number; readonly ok: true; readonly object: LatticeObject; readonly score?: true }
  | { readonly file: string; readonly index: number; readonly ok: false; readonly errors: readonly Pick<FieldError, "path" | "message">[] };

export async function validate(io: CliIo, { filename, output }: { filename: readonly string[]; output: string }): Promise<ExitCode> {
  const checked = await checkFiles(io, filename);
  const bad = checked.filter((one) => !one.ok).length;
  if (output === "json") io.stdout(`${JSON.stringify(checked.map(withoutObject), null, 2)}\n`);
  else
    io.stdout(
      `${checked.map(formatChecked).join("")}${bad === 0 ? `${checked.length} in order` : `${bad} of ${checked.length} not in order`}\n`,
    );
  return bad === 0 ? 0 : 1;
}

/** One entry per document, and one per file that could not be read. */
export async function checkFiles(io: CliIo, paths: readonly string[]): Promise<readonly Checked[]> {
  const { documents, problems } = await readResourceFiles(io, paths);
  const unreadable = problems.map(({ file, message }): Checked => ({ file, index: 1, ok: false, errors: [{ path: "", message }] }));
  return [...unreadable, ...documents.map((document) => (isScore(document.value) ? checkScore(io, document) : checkDocument(document)))];
}

function checkDocument({ file, index, value }: FileDocument): Checked {
  const parsed = parseLatticeObject(value);
  return parsed.ok ? { file, index, ok: true, object: parsed.value } : { file, index, ok: false, errors: parsed.error };
}

function checkScore(io: CliIo, { file, index, value }: FileDocument): Checked {
  const readFile = (source: string) => fromThrowing(() => readFileSync(resolve(io.cwd, dirname(file), source)), describeThrown);
  const parsed = parseScore(value, { readFile });
  return parsed.ok ? { file, index, ok: true, object: parsed.value, score: true } : { file, index, ok: false, errors: parsed.error };
}

function describeChecked({ object, score }: Checked & { readonly ok: true }): string {
  return `${describeObject(object)}${score === true ? ", from Score" : ""}`;
}

export function formatChecked(checked: Checked): string {
  const where = checked.index === 1 ? checked.file : `${checked.file} (document ${checked.index})`;
  if (checked.ok) return `ok    ${where}: ${describeChecked(checked)}\n`;
  const lines = checked.errors.map(({ path, message }) => `      ${path === "" ? "" : `${path}: `}${message}\n`);
  return `error ${where}\n${lines.join("")}`;
}

/** The JSON form says which object was meant, not all of it: the reader has the file. */
function withoutObject(checked: Checked): unknown {
  return checked.ok ? { file: checked.file, index: checked.index, ok: true, object: describeChecked(checked) } : checked;
}
