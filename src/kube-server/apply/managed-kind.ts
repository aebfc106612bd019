/** What the tracking of fields is asked: about which kind, who writes, and what. */
import type { JsonObject } from "#kube";
import type { ResetFields } from "./field-filter.ts";
import type { TypeSchema } from "./schema.ts";
import type { ConvertObject } from "./versions.ts";

/** What is the same for all writes to one resource in one version. */
export type ManagedKind = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: TypeSchema;
  /** "status", "scale", …; absent for the object itself. */
  readonly subresource?: string | undefined;
  readonly resetFields?: ResetFields | undefined;
  readonly convert?: ConvertObject | undefined;
  /** A stored object is converted together with its managedFields: a webhook gets to see them. */
  readonly convertsManagedFields?: boolean | undefined;
  /**
   * What the kind looks like with nothing set, beside apiVersion and kind. A built-in kind always has its structs (`spec: {}`), so
   * creating the object does not make the creator their owner.
   */
  readonly emptyObject?: JsonObject | undefined;
};

export type TrackedWrite = ManagedKind & {
  /** The field manager; "" becomes "unknown". */
  readonly manager: string;
  /** `2026-01-31T12:00:00Z` */
  readonly now: string;
};

/** Objects are in the version of the request; `undefined` means that there is none yet. */
export type ApplyRequest = TrackedWrite & { readonly live: JsonObject | undefined; readonly applied: JsonObject; readonly force: boolean };
export type UpdateRequest = TrackedWrite & { readonly old: JsonObject | undefined; readonly next: JsonObject };
