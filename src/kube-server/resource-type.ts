/**
 * The interface of a kind, built in or custom, to the REST layer: everything that is neither HTTP nor storage.
 *
 * Pure: time and user are parameters. Objects are never changed in place; each step returns a new one.
 */
import type { Later, Result } from "#base";
import type { Json, KubeObject, Resource } from "#kube";
import type { PatchSchema } from "#patch";
import type { TypeSchema } from "./apply/index.ts";
import type { CollectionName } from "./store/index.ts";

/** One entry of `details.causes`, and one line of the message, of a 422. `detail` is the text after "path: ". */
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
  /** As in a real server: `Invalid value: "x": must be …`. */
  readonly detail: string;
};

/** An unknown or duplicate field, as the server reports it: `unknown field "spec.x"`, `duplicate field "a"`. */
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
  /** DELETE returns the object instead of a Status. */
  readonly answersObject: boolean;
  readonly defaultPropagation: "Background" | "Orphan";
  /** For Pods: seconds until removal; 0: removed at once. */
  readonly gracePeriodSeconds: (object: KubeObject) => number;
};

/** A patch schema for kinds that are not in the tables of #patch. */
export type StrategicSchema = { readonly schema: PatchSchema; readonly lists: "patch-metadata" | "list-types" };

export type ConversionOptions = {
  /** From or to storage, where objects have no resourceVersion. */
  readonly storage?: boolean;
};

export interface Conversion {
  readonly storageVersion: string;
  /**
   * Returns the objects in the same order; those in this version are not converted. Conversions of stored objects are cached. The error is
   * sent to the client.
   */
  into(objects: readonly KubeObject[], apiVersion: string, how?: ConversionOptions): Later<Result<readonly KubeObject[], string>>;
  /** Converts every object with a new call; does not use or change the cache. */
  ask(objects: readonly KubeObject[], apiVersion: string, how?: ConversionOptions): Later<Result<readonly KubeObject[], string>>;
  /** The conversion is cached or in progress. */
  isCached(object: KubeObject, apiVersion: string): boolean;
  /** Adds a known conversion to the cache. */
  remember(object: KubeObject, converted: KubeObject): void;
}

export type ResourceType = {
  readonly resource: Resource;
  readonly singular: string;
  /** The kind of its lists, if it is not the kind with the suffix "List". */
  readonly listKind?: string | undefined;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** The verbs in discovery, if they are fewer: those of a definition that is being deleted. */
  readonly listedVerbs?: readonly string[] | undefined;
  /** Served subresources: "status", "scale", "log", … */
  readonly subresources: ReadonlySet<string>;
  readonly custom: boolean;
  readonly collection: CollectionName;
  /** Converts a stored object to this version of the kind, and back. Conversion strategy None changes apiVersion only. */
  readonly fromStorage: (stored: KubeObject) => KubeObject;
  readonly toStorage: (object: KubeObject) => KubeObject;
  /** A conversion webhook, which takes time and can fail. It replaces the two functions above: see protocol/convert-objects.ts. */
  readonly conversion?: Conversion | undefined;
  /** For strategic merge patch: the name of the kind in #patch; undefined: 415. */
  readonly strategicSchema: { readonly group: string; readonly version: string; readonly kind: string } | StrategicSchema | undefined;
  /** For server-side apply. */
  readonly typeSchema: TypeSchema;
  /**
   * Checks types, and drops and reports unknown fields; a wrong type is a 400 with a real server's message. `like` is an object that was
   * decoded and defaulted before: parts that the value shares with it are not checked again.
   */
  readonly decode: (
    value: Json,
    like?: KubeObject,
  ) => { readonly ok: true; readonly value: Decoded } | { readonly ok: false; readonly error: string };
  readonly applyDefaults: (object: KubeObject, like?: KubeObject) => KubeObject;
  /** Drops fields that a client must not set (status on create, spec on a status write) and keeps the old values of immutable ones. */
  readonly prepareForCreate: (object: KubeObject) => KubeObject;
  /** `now`: the time of the write, for the few timestamps that the server sets. */
  readonly prepareForUpdate: (next: KubeObject, previous: KubeObject, subresource: string | undefined, now?: string) => KubeObject;
  readonly validate: (next: KubeObject, previous: KubeObject | undefined, subresource: string | undefined) => readonly FieldCause[];
  /** The same with pauses, for kinds whose validation can take long: the rules of a custom resource. */
  readonly validatePaced?: (
    next: KubeObject,
    previous: KubeObject | undefined,
    subresource: string | undefined,
  ) => Later<readonly FieldCause[]>;
  readonly warnings: (next: KubeObject, previous: KubeObject | undefined) => readonly string[];
  /** metadata.generation increases when this value changes. undefined: the kind has no generation. */
  readonly generationOf: ((object: KubeObject) => Json | undefined) | undefined;
  /** New objects have no generation; the first change sets it. */
  readonly generationAfterChange?: boolean;
  /** PUT of a missing object creates it. */
  readonly createOnUpdate: boolean;
  readonly unconditionalUpdate: boolean;
  readonly deletion: DeletePolicy;
  /** In addition to metadata.name and metadata.namespace. A field with several values is selected by each of them. */
  readonly fieldSelectors: ReadonlyMap<string, (object: KubeObject) => string | readonly string[]>;
  readonly columns: readonly TableColumn[];
  readonly cells: (object: KubeObject, now: number) => readonly Json[];
  /** Conditions of a table row, such as Completed of a Pod. */
  readonly rowConditions?: (object: KubeObject) => readonly Json[];
  /** Go's conversion of a patched value into its type, with Go's error messages; see codec/from-unstructured.ts. */
  readonly fromUnstructured?: (value: Json) => Result<Json, string>;
  /** Decodes the result of an apply, if that differs from decoding a body; see custom-resources/resource/coerce.ts. */
  readonly decodeMerged?: (value: Json) => Result<Decoded, string>;
  /** The object with its fields in the order in which Go writes them, for messages that quote it. */
  readonly asGoWrites?: (object: Json) => Json;
  /** Its table has only names and ages: for an empty list `rows` is null. */
  readonly plainTable?: boolean;
  /** Annotations of this version that are not stored: PartialObjectMetadata omits them. */
  readonly versionAnnotations?: readonly string[];
};
