/** What applying, reverting and previewing a workload patch return. */
import type { Json, KubeObject } from "#kube";
import type { FieldOwner } from "./field-owner.ts";
import type { PatchedPath } from "./patched-path.ts";

/** The write that an application is part of. */
export type PatchWrite = {
  /** The time of the write, RFC 3339. */
  readonly at: string;
  /** The stored object that the write replaces: the old object of an UPDATE. Without it no conflict is counted. */
  readonly previous?: KubeObject | undefined;
  /** The field manager of the request, if the client sent one. */
  readonly manager?: string | undefined;
  /** A dry run counts no conflict: its result must equal what a write would store. */
  readonly dryRun?: boolean | undefined;
};

/** A field that another manager keeps setting to another value; it has that value until `until`. */
export type FieldConflict = {
  readonly path: PatchedPath;
  /** From managedFields; absent: unknown. */
  readonly manager?: string;
  readonly operation?: string;
  /** RFC 3339. */
  readonly until: string;
};

/** A field that the patch leaves as its owner wrote it. */
export type SkippedField = {
  readonly path: PatchedPath;
  /** Why, and what to change. It contains names, never values. */
  readonly reason: string;
};

/** The result of an application. */
export type AppliedPatch = {
  readonly deployment: KubeObject;
  /** false: the Deployment had the patch already. */
  readonly changed: boolean;
  /** Containers of the patch that the Deployment does not have. */
  readonly missingContainers: readonly string[];
  readonly conflicts: readonly FieldConflict[];
  /** Fields that cannot be patched so that the owner's writes stay valid without the webhook. */
  readonly skipped: readonly SkippedField[];
  /** The Deployment lacks the label that the patch needs, and has no patch now. */
  readonly withoutConsent?: true;
  /** Of a patch with `detach`, or without consent. */
  readonly reverted?: Pick<RevertedPatch, "restored" | "kept">;
  /** The record of the Deployment cannot be read and was replaced: values before are those of now. */
  readonly recordProblem?: string;
};

/** Why nothing was changed. */
export type PatchProblem = {
  readonly kind: "not-a-deployment" | "record-too-large" | "lists-too-long" | "selector";
  readonly message: string;
};

/** A field that a revert leaves alone, because its value is no longer the patched one. The values can be sensitive: never print them. */
export type KeptField = { readonly path: PatchedPath; readonly before?: Json; readonly after?: Json; readonly now?: Json };

/** The result of a revert. */
export type RevertedPatch = {
  readonly deployment: KubeObject;
  readonly restored: readonly PatchedPath[];
  readonly kept: readonly KeptField[];
  /** The record cannot be read: only the record itself and the label that selects the Deployment were removed. */
  readonly recordProblem?: string;
};

/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Json }
  | { readonly op: "remove"; readonly path: string };

/** One field that a workload patch would change. */
export type FieldPreview = {
  /** `spec.template.spec.containers[main].image`. */
  readonly path: string;
  /** Hidden when its name looks like that of a secret. */
  readonly before?: Json;
  readonly after?: Json;
  /** The field manager that owns it now. Absent: none. */
  readonly owner?: FieldOwner;
};

/** What a workload patch would change. */
export type PatchPreview = {
  readonly fields: readonly FieldPreview[];
  /** Containers of the patch that the Deployment does not have. */
  readonly missingContainers: readonly string[];
  /** The Deployment has the patch already. */
  readonly isApplied: boolean;
  /** Fields that are given up at present. */
  readonly conflicts: readonly FieldConflict[];
  /** Fields that stay as their owner wrote them. */
  readonly skipped: readonly SkippedField[];
};
