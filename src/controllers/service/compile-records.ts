/** The last compilation of each service, kept in memory between passes, because the status must not be written on every pass. */
import type { ServiceKey } from "#compile";

export type CompileRecord = {
  /** Digest of the objects, and when they last changed; absent: the service was never compiled by this process. */
  readonly compiled?: { readonly digest: string; readonly at: string } | undefined;
  /** When this process first had errors for the service, in milliseconds. */
  readonly firstErrorAt?: number | undefined;
  /** The cluster has config objects that the service no longer compiles to, so ReplicaSets are read (`retained.ts`). */
  readonly hasStaleConfig?: boolean | undefined;
  /** In patch mode: the requests for the current patch that had no effect. */
  readonly request?: UnansweredRequest | undefined;
  /** In patch mode: whether the API server accepts the Deployment with the patch. */
  readonly checked?: CheckedPatch | undefined;
};

/** `id`: the patch and the version of the Deployment. */
export type CheckedPatch = { readonly id: string; readonly problem?: RefusedPatch | undefined };

/** `until`: it is not checked again before, in milliseconds. */
export type RefusedPatch = { readonly message: string; readonly until: number };

/** `at`: the last one, in milliseconds. */
export type UnansweredRequest = { readonly digest: string; readonly count: number; readonly at: number };

export type CompileRecordReader = { of(key: ServiceKey): CompileRecord };

const NOTHING: CompileRecord = {};

export class CompileRecords implements CompileRecordReader {
  readonly #records = new Map<ServiceKey, CompileRecord>();

  of(key: ServiceKey): CompileRecord {
    return this.#records.get(key) ?? NOTHING;
  }

  set(key: ServiceKey, record: CompileRecord): void {
    this.#records.set(key, record);
  }

  forget(key: ServiceKey): void {
    this.#records.delete(key);
  }
}
