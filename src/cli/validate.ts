/**
 * `lattice validate`: reports every error of `lattice compile`, and warns of likely mistakes, with file, line and column. Values of secrets
 * are not needed. Only the files are read.
 */
import { compileAll, documentWarnings, type LoadedDocument, type WorldDocument } from "#compile";
import type { LatticeObject } from "#crds";
import { describeObject, fieldAt, type KubeObject } from "#kube";
import { declaredProvisioner } from "#service-compiler";
import { allProblems } from "./compile.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { formatProblem, type LocatedProblem } from "./located-problems.ts";
import { readWorld, type FilesWorld, type SecretFlags, type WorldFlags } from "./world-files.ts";

export type ValidateFlags = WorldFlags &
  Pick<SecretFlags, "assumeShareable"> & { readonly filename: readonly string[]; readonly output: string };

/** One document, or a file that could not be read. */
export type CheckedDocument = {
  readonly from: string;
  readonly object: LatticeObject | undefined;
  /** An object of another kind, and its use. */
  readonly other: string | undefined;
  readonly score: boolean;
  readonly value: WorldDocument["value"];
  readonly errors: readonly LocatedProblem[];
  readonly warnings: readonly LocatedProblem[];
};

export async function validate(io: CliIo, flags: ValidateFlags): Promise<ExitCode> {
  const loaded = await readWorld(io, flags.filename, { ...flags, placeholderSecrets: true, partialDocuments: true, anyImage: true });
  if (!loaded.ok) return reportFailure(io, loaded.error);
  const checked = checkAll(loaded.value);
  const bad = checked.filter(({ errors }) => errors.length > 0).length;
  const own = checked.filter(({ other }) => other === undefined).length;
  if (flags.output === "json") io.stdout(`${JSON.stringify(checked.map(asJson), null, 2)}\n`);
  else io.stdout(`${checked.map(formatChecked).join("")}${bad === 0 ? `${own} valid` : `${bad} of ${own} invalid`}${rest(checked)}\n`);
  if (loaded.value.unreadable) return 2;
  // a folder without a resource of Lattice is most likely the wrong one
  return bad === 0 && own > 0 ? 0 : 1;
}

function rest(checked: readonly CheckedDocument[]): string {
  const others = checked.filter(({ other }) => other !== undefined).length;
  const warnings = checked.reduce((sum, one) => sum + one.warnings.length, 0);
  return `${others === 0 ? "" : `, ${others} of other kinds`}${warnings === 0 ? "" : `, ${warnings === 1 ? "1 warning" : `${warnings} warnings`}`}`;
}

/** Resources of Lattice as written; undefined: one of them is invalid. */
export async function readValid(io: CliIo, paths: readonly string[]): Promise<readonly LatticeObject[] | undefined> {
  const loaded = await readWorld(io, paths, { placeholderSecrets: true });
  if (!loaded.ok || allProblems(loaded.value, compileAll(loaded.value.world)).length > 0) return undefined;
  return [...loaded.value.documents.values()].flatMap(({ object }) => object ?? []);
}

/** Files that could not be read come first. */
function checkAll(loaded: FilesWorld): readonly CheckedDocument[] {
  const compiled = compileAll(loaded.world);
  const errors = Map.groupBy(allProblems(loaded, compiled), ({ from }) => from);
  const warnings = Map.groupBy(documentWarnings(loaded, compiled).map(loaded.locate), ({ from }) => from);
  const unread = [...errors.keys()].filter((from) => !loaded.documents.has(from));
  const nothing = { object: undefined, value: null };
  const documents = [...unread.map((from) => [from, nothing] as const), ...loaded.documents];
  return documents.map(([from, { object, value }]) => {
    const own = errors.get(from) ?? [];
    const other = object === undefined && own.length === 0 ? describeOther(value) : undefined;
    return { from, object, other, value, score: loaded.scores.has(from), errors: own, warnings: warnings.get(from) ?? [] };
  });
}

/** Secrets and ConfigMaps may be among the files: services read them. */
function describeOther(value: LoadedDocument["value"]): string {
  const object = value as unknown as KubeObject;
  const declared = declaredProvisioner(object);
  const what = declared?.ok === true ? `declares resources of type ${declared.value.type}` : "is not a kind of Lattice, and not checked";
  return `${describeObject(object)} ${what}`;
}

function describeChecked({ object, other, score }: CheckedDocument): string {
  return other ?? `${object === undefined ? "" : describeObject(object)}${score ? ", from Score" : ""}`;
}

function formatChecked(checked: CheckedDocument): string {
  const { from, other, errors, warnings } = checked;
  const problems = [...errors.map((one) => formatProblem("error", one)), ...warnings.map((one) => formatProblem("warn ", one))];
  const head = errors.length > 0 ? "" : `${other === undefined ? "ok   " : "other"} ${from}: ${describeChecked(checked)}\n`;
  return `${head}${problems.join("")}`;
}

/** The JSON output identifies the object without its content. */
function asJson(checked: CheckedDocument): unknown {
  const { from, errors, warnings, value } = checked;
  const text = (field: unknown) => (typeof field === "string" ? field : undefined);
  const identity = {
    kind: checked.object?.kind ?? text(fieldAt(value, "kind")),
    namespace: text(fieldAt(value, "metadata", "namespace")),
    name: text(fieldAt(value, "metadata", "name")),
  };
  const problem = ({ file, line, column, path, message }: LocatedProblem) => ({ file, line, column, path, message, ...identity });
  const object = errors.length > 0 ? {} : { object: describeChecked(checked) };
  return { document: from, ok: errors.length === 0, ...identity, ...object, errors: errors.map(problem), warnings: warnings.map(problem) };
}
