/**
 * The record of a patched Deployment: every field that was changed, with the value before. It is the annotation `lattice.dev/patched-fields`.
 */
import type { Json } from "#kube";
import type { PatchedPath } from "./patched-path.ts";

/** The annotation that holds the record. It is not part of the pod template: changing it starts no rollout. */
export const RECORD_ANNOTATION = "lattice.dev/patched-fields";
/** The annotation by which the controller sends an existing Deployment through the webhook. A revert removes it. */
export const REQUEST_ANNOTATION = "lattice.dev/patch-requested";

/** The manager that set a field to another value again and again. The field has that manager's value until `until`. */
export type Backoff = {
  readonly until: string;
  /** How many times in a row the field was given up; the wait grows with it. */
  readonly count: number;
  /** From managedFields; absent: unknown. */
  readonly manager?: string;
  readonly operation?: string;
};

/** One changed field. */
export type PatchedField = {
  readonly path: PatchedPath;
  /** The owner's value. Absent: the field was not there. */
  readonly before?: Json;
  /** The patched value. Absent: the patch removed the field. */
  readonly after?: Json;
  /** A list or an object that was created to hold other patched fields. It is removed when it is empty again. */
  readonly created?: true;
  /** Of a removed field: its position among its siblings. */
  readonly index?: number;
  /** RFC 3339. */
  readonly since: string;
  /** When another manager changed the field, the last three times. */
  readonly flips?: readonly string[];
  readonly backoff?: Backoff;
};

/** Every field of a Deployment that a service changed. */
export type PatchRecord = {
  readonly version: 1;
  /** "namespace/name" of the LatticeService. */
  readonly service: string;
  readonly fields: readonly PatchedField[];
};
