/** Errors of opening a store on disk, and their remedies. */
export type StoreOpenError =
  | { readonly kind: "locked"; readonly file: string; readonly pid: number; readonly since: string }
  /** Damaged records before complete ones: truncation would lose acknowledged writes. */
  | { readonly kind: "corrupt"; readonly file: string; readonly offset: number; readonly problem: string }
  | { readonly kind: "storage"; readonly message: string };

export function describeOpenError(error: StoreOpenError): string {
  switch (error.kind) {
    case "locked":
      return `${error.file}: process ${error.pid} has been using this folder since ${error.since}; stop it or choose another folder`;
    case "corrupt":
      return (
        `${error.file} is damaged at byte ${error.offset}: ${error.problem}. Nothing was changed. ` +
        `Restore the folder from a copy, or start once with --repair (in code: repair: true), which keeps every whole record and sets ` +
        `the damaged files aside`
      );
    case "storage":
      return error.message;
  }
}
