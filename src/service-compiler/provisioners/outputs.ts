/** Helpers for the outputs of a provisioner. */
import { ok, reveal } from "#base";
import { plain, secret, type Value } from "../templates/index.ts";
import type { ResourceOutput } from "./provisioner.ts";

export function open(text: string): ResourceOutput {
  return () => ok(plain(text));
}

export function closed(value: Value): ResourceOutput {
  return () => ok(hidden(value));
}

/** Always sensitive, whatever its parts are: this includes user names. */
export function hidden(value: Value): Value {
  return value.kind === "plain" ? secret(value.text) : value;
}

/** URL-encoded. A value that only External Secrets knows cannot be encoded here, and is inserted as it is. */
export function encoded(value: Value): Value {
  if (value.kind === "external") return value;
  // half of a surrogate pair cannot be encoded
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  return value.kind === "plain" ? plain(encode(value.text)) : secret(encode(reveal(value.text)));
}

export function hostOf({ namespace, name }: { readonly namespace: string; readonly name: string }, clusterDomain: string): string {
  return `${name}.${namespace}.svc.${clusterDomain}`;
}
