/** The result of a check. A check without errors has passed; warnings and notes are shown and do not fail it. */
export type Finding = {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly level?: "error" | "warning" | "note";
};

/** A check reads the tree under `root` and does not change it. */
export type Check = (root: string) => Promise<readonly Finding[]>;

export function isError(finding: Finding): boolean {
  return (finding.level ?? "error") === "error";
}

export function formatFinding(finding: Finding): string {
  const place = finding.file === undefined ? "" : `${finding.file}${finding.line === undefined ? "" : `:${finding.line}`}  `;
  return `${finding.level === "warning" ? "warning: " : ""}${place}${finding.message}`;
}
