/**
 * Short hashes of templates for names and labels.
 *
 * ControllerRevisions of StatefulSets have the same hash as in Kubernetes (FNV-1 over the JSON text). `pod-template-hash` cannot:
 * Kubernetes hashes a dump of Go's memory there. Ours is FNV-1a over canonical JSON, as stable and as long. Nothing compares the two:
 * a ReplicaSet is recognised by its template, never by its hash.
 */
import { canonicalJson } from "#kube";

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const encoder = new TextEncoder();

export function fnv1(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => (Math.imul(hash, PRIME) ^ byte) >>> 0, OFFSET);
}

export function fnv1a(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, PRIME) >>> 0, OFFSET);
}

/** Without vowels and look-alikes, so that hashes contain no readable text. */
const SAFE = "bcdfghjklmnpqrstvwxz2456789";

export function safeEncode(text: string): string {
  return Array.from(encoder.encode(text), (byte) => SAFE[byte % SAFE.length] ?? "").join("");
}

export function templateHash(template: unknown, collisions: number | undefined): string {
  const text = canonicalJson(template) + (collisions === undefined ? "" : String(collisions));
  return safeEncode(String(fnv1a(encoder.encode(text))));
}

/** `data` as Go writes it: keys sorted, and `<`, `>` and `&` escaped. */
export function revisionHash(data: unknown, collisions: number): string {
  const text = canonicalJson(data).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e").replaceAll("&", "\\u0026");
  return safeEncode(String(fnv1(encoder.encode(text + String(collisions)))));
}
