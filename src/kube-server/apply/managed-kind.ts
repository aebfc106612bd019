/** The inputs of field tracking: the kind, the manager, and the objects. */
import type { JsonObject } from "#kube";
import type { ResetFields } from "./field-filter.ts";
import type { TypeSchema } from "./schema.ts";
import type { ConvertObject } from "./versions.ts";

/** Constant for all writes to one resource in one version. */
export type ManagedKind = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: TypeSchema;
  /** "status", "scale", …; absent for the main resource. */
  readonly subresource?: string | undefined;
  readonly resetFields?: ResetFields | undefined;
  readonly convert?: ConvertObject | undefined;
  /** A stored object is converted together with its managedFields, so that a webhook receives them. */
  readonly convertsManagedFields?: boolean | undefined;
  /**
   * The kind without any fields set, except apiVersion and kind. A built-in kind always has its structs (`spec: {}`), so the creator of an
   * object does not own them.
   */
  readonly emptyObject?: JsonObject | undefined;
};

export type TrackedWrite = ManagedKind & {
  /** The field manager; "" becomes "unknown". */
  readonly manager: string;
  /** `2026-01-31T12:00:00Z` */
  readonly now: string;
};

/** Objects are in the version of the request; `undefined`: the object does not exist yet. */
export type ApplyRequest = TrackedWrite & { readonly live: JsonObject | undefined; readonly applied: JsonObject; readonly force: boolean };
export type UpdateRequest = TrackedWrite & { readonly old: JsonObject | undefined; readonly next: JsonObject };
