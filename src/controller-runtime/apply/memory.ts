/**
 * Remembers the state of an object right after it was applied. The server rewrites some values ("0.5" becomes "500m"), so
 * wanted ⊆ live never holds for them; if wanted and live are the same as last time, no second request is needed.
 *
 * Losing this costs requests, never correctness: it is only in memory, and the oldest entries are removed first.
 */
import { sha256Hex } from "#base";
import { canonicalJson, type KubeObject } from "#kube";
import { annotationOf, APPLIED_ANNOTATION } from "../identity.ts";

const LIMIT = 50_000;

export class AppliedMemory {
  readonly #entries = new Map<string, { readonly seen: string; readonly version: string }>();
  readonly #limit: number;

  constructor(limit = LIMIT) {
    this.#limit = limit;
  }

  remember(id: string, wanted: KubeObject, live: KubeObject): void {
    this.#entries.delete(id);
    this.#entries.set(id, { seen: fingerprint(wanted, live), version: versionOf(wanted, live) });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#limit && oldest.done !== true) this.#entries.delete(oldest.value);
  }

  isAsApplied(id: string, wanted: KubeObject, live: KubeObject): boolean {
    return this.#entries.has(id) && this.#entries.get(id)?.seen === fingerprint(wanted, live);
  }

  /** For objects of which the cache has only metadata: the resourceVersion must be unchanged. */
  isUntouched(id: string, wanted: KubeObject, live: KubeObject): boolean {
    return this.#entries.has(id) && this.#entries.get(id)?.version === versionOf(wanted, live);
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }
}

/** Without fields that others write all the time: the status, and metadata that changes with it. */
function fingerprint(wanted: KubeObject, live: KubeObject & { readonly status?: unknown }): string {
  const { status: _status, metadata, ...rest } = live;
  const { resourceVersion: _version, managedFields: _managed, generation: _generation, ...kept } = metadata;
  return `${digestOf(wanted)}:${sha256Hex(canonicalJson({ ...rest, metadata: kept }))}`;
}

function versionOf(wanted: KubeObject, { metadata }: KubeObject): string {
  return `${digestOf(wanted)}:${metadata.uid ?? ""}:${metadata.resourceVersion ?? ""}`;
}

/** The annotation omits the values of a Secret; here, in memory, they count. */
function digestOf(wanted: KubeObject): string {
  if (wanted.kind === "Secret") return sha256Hex(canonicalJson(wanted));
  return annotationOf(wanted, APPLIED_ANNOTATION) ?? "";
}
