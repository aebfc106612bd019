/** What this process remembers of each service between passes: the last compilation. Kept here, because the status must not be written on every pass. */
import type { ServiceKey } from "#compile";

export type CompileRecord = {
  /** Of the objects, and when they last changed; absent: the service was never compiled by this process. */
  readonly compiled?: { readonly digest: string; readonly at: string } | undefined;
  /** When this process first had errors for the service, in milliseconds. */
  readonly firstErrorAt?: number | undefined;
  /** The service has config objects that it is compiled without, so that ReplicaSets are read (`retained.ts`). */
  readonly hasStaleConfig?: boolean | undefined;
};

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
