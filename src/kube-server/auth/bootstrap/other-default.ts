/** The form of an initial object that is not part of RBAC. */
import type { JsonObject } from "#kube";
import type { DefaultObject } from "./rbac-defaults.ts";

export type OtherDefault = DefaultObject & {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly generation?: number | undefined;
  /** The field manager; absent: the server's own. */
  readonly manager?: string | undefined;
  /** The field manager of the condition in its status. */
  readonly status?: StatusOwner | undefined;
};

/** Placeholder in conditions for the time of the start. */
export const NOW = "";

export type StatusOwner = { readonly manager: string; readonly type: string; readonly fields: readonly string[] };

type Short = {
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string; readonly plural: string };
  readonly name: string;
  readonly content: JsonObject;
  readonly owned: JsonObject;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly generation?: number;
  readonly manager?: string;
  readonly status?: StatusOwner;
};

/** Cluster-scoped. */
export function defaultOf({ kind: { kind, group, version, plural }, name, labels = {}, annotations = {}, ...rest }: Short): OtherDefault {
  const head = { apiVersion: `${group}/${version}`, group, version, plural, collection: `${group}/${plural}`, key: name };
  return { ...head, kind, name, namespace: undefined, labels, annotations, ...rest };
}
