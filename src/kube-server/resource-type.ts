/**
 * What the REST layer asks of a kind, built in or custom: everything about it that is not HTTP and not storage.
 *
 * Pure: time and identity come in with the request. Objects are never changed in place; each step returns a new one.
 */
import type { Later, Result } from "#base";
import type { Json, KubeObject, Resource } from "#kube";
import type { PatchSchema } from "#patch";
import type { TypeSchema } from "./apply/index.ts";
import type { CollectionName } from "./store/index.ts";

/** One entry of `details.causes`, and one line of the message, of a 422. `detail` is the text behind "path: ". */
export type FieldCause = {
  readonly reason:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueTypeInvalid"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueNotFound"
    | "InternalError";
  readonly field: string;
  /** As the real server words it: `Invalid value: "x": must be …`. */
  readonly detail: string;
};

/** What a client said that the schema does not know: `unknown field "spec.x"`, `duplicate field "a"`, in the server's words. */
export type StrictFinding = string;

export type Decoded = { readonly object: KubeObject; readonly findings: readonly StrictFinding[] };

export type TableColumn = {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
};

export type DeletePolicy = {
  /** DELETE answers the object instead of a Status (KUBE-FACTS 10). */
  readonly answersObject: boolean;
  readonly defaultPropagation: "Background" | "Orphan";
  /** Pods: seconds until it is gone; 0 when it goes at once. */
  readonly gracePeriodSeconds: (object: KubeObject) => number;
};

/** A patch schema that is brought along, for kinds that #patch has no table of. */
export type StrategicSchema = { readonly schema: PatchSchema; readonly lists: "patch-metadata" | "list-types" };

export type ConversionOptions = {
  /** From or to storage, where objects have no resourceVersion. */
  readonly storage?: boolean;
};

export interface Conversion {
  readonly storageVersion: string;
  /**
   * The same objects in the same order; those that are in this version already are left alone. Conversions of stored objects are cached. The
   * error is for the client.
   */
  into(objects: readonly KubeObject[], apiVersion: string, how?: ConversionOptions): Later<Result<readonly KubeObject[], string>>;
  /** The same with a new call for every object, whatever is cached; the cache is not changed. */
  ask(objects: readonly KubeObject[], apiVersion: string, how?: ConversionOptions): Later<Result<readonly KubeObject[], string>>;
  /** Its conversion is known or under way. */
  isCached(object: KubeObject, apiVersion: string): boolean;
  /** Adds a known conversion to the cache. */
  remember(object: KubeObject, converted: KubeObject): void;
}

export type ResourceType = {
  readonly resource: Resource;
  readonly singular: string;
  /** The kind of its lists, where it is not the kind and "List". */
  readonly listKind?: string | undefined;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** What discovery says instead, where that is less: of a definition that is going. */
  readonly listedVerbs?: readonly string[] | undefined;
  /** Served subresources: "status", "scale", "log", … */
  readonly subresources: ReadonlySet<string>;
  readonly custom: boolean;
  readonly collection: CollectionName;
  /** What is in storage, as this version of the kind; and back. None conversion rewrites apiVersion only. */
  readonly fromStorage: (stored: KubeObject) => KubeObject;
  readonly toStorage: (object: KubeObject) => KubeObject;
  /** Somebody outside converts, so it takes time and can fail. Then it is asked instead of the two above: see protocol/convert-objects.ts. */
  readonly conversion?: Conversion | undefined;
  /** For strategic merge patch: the name under which #patch knows the kind; undefined: 415. */
  readonly strategicSchema: { readonly group: string; readonly version: string; readonly kind: string } | StrategicSchema | undefined;
  /** For server-side apply. */
  readonly typeSchema: TypeSchema;
  /**
   * Types checked, unknown fields dropped and reported; a wrong type is a 400 in the server's words. `like` is an object that went through
   * this and through defaulting before: parts of it that are also parts of the value need not be looked at again.
   */
  readonly decode: (
    value: Json,
    like?: KubeObject,
  ) => { readonly ok: true; readonly value: Decoded } | { readonly ok: false; readonly error: string };
  readonly applyDefaults: (object: KubeObject, like?: KubeObject) => KubeObject;
  /** Drops what a client may not set (status on create, spec on a status write) and carries over what it may not change. */
  readonly prepareForCreate: (object: KubeObject) => KubeObject;
  /** `now`: the time of the write, for the few things that the server dates itself. */
  readonly prepareForUpdate: (next: KubeObject, previous: KubeObject, subresource: string | undefined, now?: string) => KubeObject;
  readonly validate: (next: KubeObject, previous: KubeObject | undefined, subresource: string | undefined) => readonly FieldCause[];
  /** The same with pauses, for kinds whose validation can take long: the rules of a custom resource. */
  readonly validatePaced?: (
    next: KubeObject,
    previous: KubeObject | undefined,
    subresource: string | undefined,
  ) => Later<readonly FieldCause[]>;
  readonly warnings: (next: KubeObject, previous: KubeObject | undefined) => readonly string[];
  /** metadata.generation is kept, and moves when this differs. undefined: the kind has no generation. */
  readonly generationOf: ((object: KubeObject) => Json | undefined) | undefined;
  /** It is born without a generation, and has one from its first change on. */
  readonly generationAfterChange?: boolean;
  /** PUT on a name that is not there creates it (KUBE-FACTS 11). */
  readonly createOnUpdate: boolean;
  readonly unconditionalUpdate: boolean;
  readonly deletion: DeletePolicy;
  /** Beyond metadata.name and metadata.namespace. A field with several values is selected by each of them. */
  readonly fieldSelectors: ReadonlyMap<string, (object: KubeObject) => string | readonly string[]>;
  readonly columns: readonly TableColumn[];
  readonly cells: (object: KubeObject, now: number) => readonly Json[];
  /** What a row says beside its cells: that a Pod has come to its end. */
  readonly rowConditions?: (object: KubeObject) => readonly Json[];
  /** What Go's converter makes of a value on its way through a patch, and what it says when it cannot; see codec/from-unstructured.ts. */
  readonly fromUnstructured?: (value: Json) => Result<Json, string>;
  /** Reads what an apply has merged, if that is another thing than what a client sends; see custom-resources/resource/coerce.ts. */
  readonly decodeMerged?: (value: Json) => Result<Decoded, string>;
  /** The object with its fields in the order in which Go writes them, for messages that quote it. */
  readonly asGoWrites?: (object: Json) => Json;
  /** Its table knows nothing but names and ages: an empty one has no rows at all. */
  readonly plainTable?: boolean;
  /** Annotations that only this version writes: who asks for metadata alone does not see them. */
  readonly versionAnnotations?: readonly string[];
};
