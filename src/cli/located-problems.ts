/** Errors and warnings with file, line and column. */
import type { DocumentProblem, LoadedDocument } from "#compile";
import { findField, yamlPositions, type Position, type YamlPositions } from "#kube";
import type { FileDocument, FileProblem } from "./resource-files.ts";

export type LocatedProblem = {
  readonly file: string;
  /** Both are absent when the file itself could not be read. */
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly message: string;
  /** The document. */
  readonly from: string;
};

export type Locate = (problem: DocumentProblem) => LocatedProblem;

type Sources = {
  readonly files: readonly (FileDocument & { readonly from: string })[];
  readonly problems: readonly FileProblem[];
  readonly documents: ReadonlyMap<string, LoadedDocument>;
};

/** Positions of a file are computed only if there is a problem in it. */
export function locator({ files, problems, documents }: Sources): Locate {
  const sources = new Map(files.map((file) => [file.from, file]));
  const unreadable = new Map(problems.map((problem) => [fileText(problem), problem]));
  const known = new Map<string, YamlPositions>();
  const positionsOf = ({ file, text }: FileDocument): YamlPositions => {
    const positions = known.get(file) ?? yamlPositions(text);
    known.set(file, positions);
    return positions;
  };
  return ({ from, path, field = path, message }) => {
    const document = documents.get(from);
    const source = sources.get(document?.within.from ?? from);
    const { file, line, column } = unreadable.get(from) ?? { file: source?.file ?? from, line: undefined, column: undefined };
    const steps = document === undefined ? [] : [...document.within.steps, ...findField(document.value, field).steps];
    const position = source === undefined ? undefined : positionsOf(source)(source.index, steps);
    return { file, ...(position ?? withPosition(line, column)), path, message, from };
  };
}

function withPosition(line: number | undefined, column: number | undefined): Partial<Position> {
  return line === undefined || column === undefined ? {} : { line, column };
}

/** `shop/api.yaml:12:7`, the format that editors and terminals recognize. */
export function fileText({ file, line, column }: Pick<LocatedProblem, "file" | "line" | "column">): string {
  return line === undefined || column === undefined ? file : `${file}:${line}:${column}`;
}

/** Files in the order in which they have their first problem. */
export function inFileOrder(problems: readonly LocatedProblem[]): readonly LocatedProblem[] {
  const byFile = [...Map.groupBy(problems, ({ file }) => file).values()];
  return byFile.flatMap((all) => all.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)));
}

/** `kind` is `error` or `warn `: messages begin in the same column. Lines after the first are hints. */
export function formatProblem(kind: string, problem: LocatedProblem): string {
  const { path, message } = problem;
  const text = path === "" ? message : `${path}: ${message}`;
  return `${kind} ${fileText(problem)}: ${text.replaceAll("\n", "\n        ")}\n`;
}
