/** `lattice validate`: are these files what the API server will accept, or Score that Lattice can read? Offline, and all mistakes at once. */
import { isForeign, isScore, loadWorld, parseScore, type SourceFiles, type WorldDocument } from "#compile";
import { parseLatticeObject, type FieldError, type LatticeObject } from "#crds";
import { describeObject, fieldAt, isJsonObject, type Json, type KubeObject } from "#kube";
import { declaredProvisioner, paramMistakes, registryWith, type Provisioner, type Registry } from "#service-compiler";
import type { CliIo, ExitCode } from "./io.ts";
import { readResourceFiles, type FileDocument } from "./resource-files.ts";
import { sourceFiles } from "./source-files.ts";

export type Checked =
  | { readonly file: string; readonly index: number; readonly ok: true; readonly object: LatticeObject; readonly score?: true }
  | { readonly file: string; readonly index: number; readonly ok: true; readonly other: string }
  | { readonly file: string; readonly index: number; readonly ok: false; readonly errors: readonly Pick<FieldError, "path" | "message">[] };

export async function validate(io: CliIo, { filename, output }: { filename: readonly string[]; output: string }): Promise<ExitCode> {
  const checked = await checkFiles(io, filename);
  const bad = checked.filter((one) => !one.ok).length;
  const own = checked.filter((one) => !("other" in one)).length;
  if (output === "json") io.stdout(`${JSON.stringify(checked.map(withoutObject), null, 2)}\n`);
  else
    io.stdout(
      `${checked.map(formatChecked).join("")}${bad === 0 ? `${own} in order` : `${bad} of ${own} not in order`}${others(checked.length - own)}\n`,
    );
  // a folder with nothing of ours in it is not the one that was meant
  return bad === 0 && own > 0 ? 0 : 1;
}

function others(count: number): string {
  return count === 0 ? "" : `, ${count} of other kinds`;
}

/** One entry per document, and one per file that could not be read. */
export async function checkFiles(io: CliIo, paths: readonly string[]): Promise<readonly Checked[]> {
  const { documents, problems } = await readResourceFiles(io, paths);
  const registry = registryWith(documents.flatMap(({ value }) => declaredAmong(value)));
  const refused = Map.groupBy(loadWorld(documents.map(namedDocument)).refused, ({ from }) => from);
  const unreadable = problems.map(({ file, message }): Checked => ({ file, index: 1, ok: false, errors: [{ path: "", message }] }));
  const files = sourceFiles(io.cwd, (file) => file);
  return [
    ...unreadable,
    ...documents.map((document) => {
      const checked = withParams(isScore(document.value) ? checkScore(files, document) : checkDocument(document), registry);
      return withRefusals(checked, refused.get(namedDocument(document).from) ?? []);
    }),
  ];
}

function namedDocument({ file, index, value }: FileDocument): WorldDocument {
  return { value, from: `${file} (document ${index})` };
}

/** A namespace that cannot be closed, as far as the files show it. */
function withRefusals(checked: Checked, errors: readonly Pick<FieldError, "path" | "message">[]): Checked {
  return checked.ok && errors.length > 0 ? { file: checked.file, index: checked.index, ok: false, errors } : checked;
}

function declaredAmong(value: Json): readonly Provisioner[] {
  const declared =
    isForeign(value) && isJsonObject(fieldAt(value, "metadata")) ? declaredProvisioner(value as unknown as KubeObject) : undefined;
  return declared?.ok === true ? [declared.value] : [];
}

/** Params are free in the schema; what a type does not know, or an agreement cannot mean, is a mistake all the same. */
function withParams(checked: Checked, registry: Registry): Checked {
  if (!checked.ok || "other" in checked || checked.object.kind !== "LatticeService") return checked;
  const mistakes = paramMistakes(checked.object, registry);
  if (mistakes.length === 0) return checked;
  const at = (resource: string) => (checked.score === true ? `resources.${resource}` : `spec.resources[${resource}]`);
  const errors = mistakes.map(({ resource, message }) => ({ path: at(resource), message }));
  return { file: checked.file, index: checked.index, ok: false, errors };
}

/** Secrets and ConfigMaps may lie beside services, which read them; a type of resource that is declared is checked as well. */
function checkForeign({ file, index, value }: FileDocument): Checked {
  const object = value as unknown as KubeObject;
  const named = typeof fieldAt(value, "metadata", "name") === "string";
  if (!named) return { file, index, ok: false, errors: [{ path: "metadata.name", message: "is required" }] };
  const declared = declaredProvisioner(object);
  if (declared?.ok === false) return { file, index, ok: false, errors: [{ path: "data", message: declared.error }] };
  const what = declared === undefined ? "is not a kind of Lattice, and not checked" : `declares resources of type ${declared.value.type}`;
  return { file, index, ok: true, other: `${describeObject(object)} ${what}` };
}

function checkDocument({ file, index, value }: FileDocument): Checked {
  if (isForeign(value)) return checkForeign({ file, index, value });
  const parsed = parseLatticeObject(value);
  return parsed.ok ? { file, index, ok: true, object: parsed.value } : { file, index, ok: false, errors: parsed.error };
}

function checkScore(files: SourceFiles, { file, index, value }: FileDocument): Checked {
  const readFile = (source: string) => files.read(files.locate(source, file));
  const parsed = parseScore(value, { readFile, image: () => "." });
  return parsed.ok ? { file, index, ok: true, object: parsed.value, score: true } : { file, index, ok: false, errors: parsed.error };
}

function describeChecked(checked: Checked & { readonly ok: true }): string {
  if ("other" in checked) return checked.other;
  const { object, score } = checked;
  return `${describeObject(object)}${score === true ? ", from Score" : ""}`;
}

export function formatChecked(checked: Checked): string {
  const where = checked.index === 1 ? checked.file : `${checked.file} (document ${checked.index})`;
  if (checked.ok) return `${"other" in checked ? "other" : "ok   "} ${where}: ${describeChecked(checked)}\n`;
  const lines = checked.errors.map(({ path, message }) => `      ${path === "" ? "" : `${path}: `}${message}\n`);
  return `error ${where}\n${lines.join("")}`;
}

/** The JSON form says which object was meant, not all of it: the reader has the file. */
function withoutObject(checked: Checked): unknown {
  return checked.ok ? { file: checked.file, index: checked.index, ok: true, object: describeChecked(checked) } : checked;
}
