/**
 * What one kind has beyond its schema. Everything is optional: a kind without rules is checked against its types, has
 * its defaults and its metadata rules, and keeps its status apart if it has such a subresource.
 */
import type { Json, KubeObject } from "#kube";
import type { DeletePolicy } from "../resource-type.ts";
import type { Draft } from "./draft.ts";
import type { Causes } from "./rules/causes.ts";
import type { TextRule } from "./rules/formats.ts";

export type KindRules = {
  /** The form of metadata.name; absent: a DNS subdomain. */
  readonly name?: TextRule;
  /** What moves metadata.generation when it changes. Absent: the kind has no generation. */
  readonly generation?: (object: KubeObject) => Json | undefined;
  /** New objects have no generation; the first change sets it (CSIDriver). */
  readonly generationAfterChange?: boolean;
  /** A client may set the status when it creates the object (Node). */
  readonly keepsStatusOnCreate?: boolean;
  /** Values that Go's conversion adds when it decodes, before owners are tracked. `isComplete` avoids a copy. */
  readonly complete?: (draft: Draft) => void;
  readonly isComplete?: (object: KubeObject) => boolean;
  /** Changes made to what a client sent, after the status was reset. */
  readonly prepareCreate?: (draft: Draft) => void;
  readonly prepareUpdate?: (draft: Draft, previous: KubeObject) => void;
  /** `now`: for what the server dates itself. */
  readonly prepareStatus?: (draft: Draft, previous: KubeObject, now: string | undefined) => void;
  /** The spec, on create and on update; metadata is checked by the caller. */
  readonly validate?: (object: KubeObject, previous: KubeObject | undefined) => Causes;
  /** What may not change. */
  readonly validateUpdate?: (next: KubeObject, previous: KubeObject) => Causes;
  readonly validateStatus?: (next: KubeObject, previous: KubeObject) => Causes;
  /** Subresources with rules of their own, by name; the others work on the whole object. */
  readonly views?: Readonly<Record<string, SubresourceView>>;
  /** The order of checks on an update; absent: the spec between metadata and immutable fields. */
  readonly onUpdate?:
    | "spec-between"
    | "spec-last"
    | "meta-and-spec-first"
    | "meta-and-spec-last"
    | "meta-then-all"
    | "all-anew"
    | "no-spec";
  /** The kind's own metadata rules, in addition to those of all kinds: some are less strict about finalizers, some have none. */
  readonly ownMeta?: "with-finalizers" | "plain" | "none";
  /** The same for a write of the status: some have no rules, some validate the whole object again. */
  readonly onStatus?: "meta" | "nothing" | "all";
  /** A write of the status changes no metadata. */
  readonly statusKeepsMeta?: boolean;
  /** Any prefix will do for generateName: the rule of the name is checked elsewhere. */
  readonly anyGenerateName?: boolean;
  readonly warnings?: (next: KubeObject, previous: KubeObject | undefined) => readonly string[];
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion is refused. */
  readonly needsVersionOnUpdate?: boolean;
  readonly deletion?: Partial<DeletePolicy>;
  readonly fieldSelectors?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** A row of its table; absent: name and age. */
  readonly cells?: (object: KubeObject, now: number) => readonly Json[];
  /** Conditions of its table row. */
  readonly rowConditions?: (object: KubeObject) => readonly Json[];
  /** Annotations that conversion writes and that are not stored. */
  readonly versionAnnotations?: readonly string[];
};

/** A subresource through which one part of the object is changed. */
export type SubresourceView = {
  /** Takes over that part and drops everything else. */
  readonly prepare: (draft: Draft, previous: KubeObject, now: string | undefined) => void;
  readonly validate: (next: KubeObject, previous: KubeObject) => Causes;
};

export type RulesByKind = Readonly<Record<string, KindRules>>;
