/**
 * The result of a template, with the origin of each part.
 *
 * Sensitivity follows the value and never the name: a text with a sensitive part is sensitive as a whole. A value that only External Secrets
 * knows stays a list of references: External Secrets joins it in the cluster.
 */
import { reveal, sensitive, type Sensitive } from "#base";

/** A reference to a value in an external store: a property of a key. */
export type ExternalReference = {
  readonly store: { readonly kind: "SecretStore" | "ClusterSecretStore"; readonly name: string };
  readonly key: string;
  readonly property: string;
  readonly refreshInterval: string;
};

/** A plain text, a sensitive text, or references to values that only External Secrets knows. */
export type Value =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "sensitive"; readonly text: Sensitive<string> }
  | { readonly kind: "external"; readonly parts: readonly (string | ExternalReference)[] };

/** The origin of one part of a text. */
export type Origin = {
  /** As the template names it: `resources.db.password`. */
  readonly placeholder: string;
  /** A description of its source: `output "password" of postgres "main-db"`. */
  readonly source: string;
  readonly sensitive: boolean;
};

export type Rendered = { readonly value: Value; readonly origins: readonly Origin[] };

/**
 * A text that is not sensitive.
 *
 * @example new Map([["host", () => ({ ok: true, value: plain("bucket.example.com") })]])
 */
export function plain(text: string): Value {
  return { kind: "plain", text };
}

/**
 * A sensitive text: every text that contains it is stored in a Secret.
 *
 * @example new Map([["key", () => ({ ok: true, value: secret("s3cr3t") })]])
 */
export function secret(text: string): Value {
  return { kind: "sensitive", text: sensitive(text) };
}

export function isSensitive({ kind }: Value): boolean {
  return kind !== "plain";
}

/** undefined: one part is in a Secret and another in an external store; no object could contain both without disclosing the first. */
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
