/**
 * What a template becomes, and where each part of it came from.
 *
 * Sensitivity follows the value and never the name: whatever touches a sensitive part is sensitive whole. A value that only External Secrets
 * knows stays a recipe: it is put together in the cluster and never passes through here.
 */
import { reveal, sensitive, type Sensitive } from "#base";

/** The place in the namespace where the value will be: a property of a key in a store. */
export type ExternalReference = {
  readonly store: { readonly kind: "SecretStore" | "ClusterSecretStore"; readonly name: string };
  readonly key: string;
  readonly property: string;
  readonly refreshInterval: string;
};

/** A text, a text that must not be seen, or a recipe for one that only External Secrets knows. */
export type Value =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "sensitive"; readonly text: Sensitive<string> }
  | { readonly kind: "external"; readonly parts: readonly (string | ExternalReference)[] };

/** One thing that a text was made of. */
export type Origin = {
  /** As the template names it: `resources.db.password`. */
  readonly placeholder: string;
  /** A description of its source: `output "password" of postgres "main-db"`. */
  readonly source: string;
  readonly sensitive: boolean;
};

export type Rendered = { readonly value: Value; readonly origins: readonly Origin[] };

/**
 * A text that everybody may read.
 *
 * @example new Map([["host", () => ({ ok: true, value: plain("bucket.example.com") })]])
 */
export function plain(text: string): Value {
  return { kind: "plain", text };
}

/**
 * A text that goes into a Secret, with everything that it becomes part of.
 *
 * @example new Map([["key", () => ({ ok: true, value: secret("s3cr3t") })]])
 */
export function secret(text: string): Value {
  return { kind: "sensitive", text: sensitive(text) };
}

export function isSensitive({ kind }: Value): boolean {
  return kind !== "plain";
}

/** undefined: one part is in a Secret and another in a store outside; no object could hold both without showing the first. */
export function joined(values: readonly Value[]): Value | undefined {
  const only = values[0];
  if (values.length === 1 && only !== undefined) return only;
  let text = "";
  for (const value of values) {
    if (value.kind !== "plain") return joinedCarefully(values);
    text += value.text;
  }
  return plain(text);
}

function joinedCarefully(values: readonly Value[]): Value | undefined {
  if (values.every((value) => value.kind !== "external")) return secret(values.map(revealed).join(""));
  if (values.some((value) => value.kind === "sensitive")) return undefined;
  return { kind: "external", parts: values.flatMap((value) => (value.kind === "external" ? value.parts : [revealed(value)])) };
}

function revealed(value: Value): string {
  if (value.kind === "external") return "";
  return value.kind === "plain" ? value.text : reveal(value.text);
}
