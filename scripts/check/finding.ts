/** What a check has to say. A check that finds no error has passed; warnings and notes are shown and fail nothing. */
export type Finding = {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly level?: "error" | "warning" | "note";
};

/** A check looks at the tree under `root` and changes nothing in it. */
export type Check = (root: string) => Promise<readonly Finding[]>;

export function isError(finding: Finding): boolean {
  return (finding.level ?? "error") === "error";
}

export function formatFinding(finding: Finding): string {
  const place = finding.file === undefined ? "" : `${finding.file}${finding.line === undefined ? "" : `:${finding.line}`}  `;
  return `${finding.level === "warning" ? "warning: " : ""}${place}${finding.message}`;
}
