/**
 * The records in the files of a store: JSON, one value per record. All file content is validated here.
 *
 * A log: its head, then changes and skips. A snapshot: its head, the objects as changes, and the end with their number.
 */
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { field, isJsonObject, type KubeObject } from "#kube";
import type { ChangeRecord } from "../store-state.ts";

const FORMAT = 1;

export type DiskRecord =
  /** Changes after revision `base`. */
  | { readonly kind: "log"; readonly base: number }
  | { readonly kind: "snapshot"; readonly revision: number }
  | { readonly kind: "change"; readonly change: ChangeRecord }
  /** Revisions up to this one may have been assigned and are lost: they must not be reused. */
  | { readonly kind: "skip"; readonly to: number }
  | { readonly kind: "end"; readonly objects: number }
  /** The head of a file that a later version of this program wrote. */
  | { readonly kind: "newer"; readonly format: number };

/** Records that this program writes. */
export type KnownRecord = Exclude<DiskRecord, { readonly kind: "newer" }>;

export function encodeRecord(record: KnownRecord): string {
  switch (record.kind) {
    case "log":
      return JSON.stringify({ format: FORMAT, log: record.base });
    case "snapshot":
      return JSON.stringify({ format: FORMAT, snapshot: record.revision });
    case "change": {
      const { revision, collection, key, object } = record.change;
      return JSON.stringify({ r: revision, c: collection, k: key, o: object });
    }
    case "skip":
      return JSON.stringify({ skip: record.to });
    case "end":
      return JSON.stringify({ end: record.objects });
  }
}

export function decodeRecord(bytes: Buffer): Result<DiskRecord, string> {
  // not parseJson: an accepted object must be readable at any depth
  const parsed = fromThrowing(
    (): unknown => JSON.parse(bytes.toString("utf8")),
    (thrown) => `not JSON: ${describeThrown(thrown)}`,
  );
  if (!parsed.ok) return parsed;
  const number = (name: string) => {
    const value = field(parsed.value, name);
    return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
  };
  const format = number("format");
  if (format !== undefined && format !== FORMAT) return ok({ kind: "newer", format });
  const [base, revision, to, objects] = [number("log"), number("snapshot"), number("skip"), number("end")];
  if (base !== undefined) return ok({ kind: "log", base });
  if (revision !== undefined) return ok({ kind: "snapshot", revision });
  if (to !== undefined) return ok({ kind: "skip", to });
  if (objects !== undefined) return ok({ kind: "end", objects });
  return decodeChange({
    revision: number("r"),
    collection: field(parsed.value, "c"),
    key: field(parsed.value, "k"),
    object: field(parsed.value, "o"),
  });
}

function decodeChange({ revision, collection, key, object }: Record<keyof ChangeRecord, unknown>): Result<DiskRecord, string> {
  if (typeof revision !== "number" || typeof collection !== "string" || typeof key !== "string") return err("not a record of a store");
  if (object === undefined) return ok({ kind: "change", change: { revision, collection, key, object } });
  if (!isJsonObject(object)) return err("not a record of a store");
  // its fields were checked by the writer, and the checksum shows that they are unchanged
  return ok({ kind: "change", change: { revision, collection, key, object: object as unknown as KubeObject } });
}
