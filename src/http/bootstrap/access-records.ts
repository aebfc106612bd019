/**
 * The records of all children: in memory for reading, in Secrets for writing.
 *
 * Reading costs no request, so that clients with wrong tokens cause none. A change reads the Secret again and writes it with its resourceVersion; after
 * a conflict it starts over. Own writes are visible in memory at once, and the informer brings those of others.
 */
import { err, ok, type Clock, type Logger, type Metrics, type Result } from "#base";
import { Informer } from "#controller-runtime";
import { secrets, type KubeObject } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { ACCESS_LABEL, accessOfSecret, accessSecret, accessSecretName, clusterOfSecretName, type ClusterAccess } from "./cluster-access.ts";

export type AccessRecordsOptions = {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

/** Decide by `kind`; `message` is for the operator's log and never contains a token. */
export type AccessError = {
  readonly kind:
    | "not-found"
    /** The rules refuse it: for a client this is a failed authentication. */
    | "refused"
    | "invalid-request"
    /** The Secret is not readable; it must be deleted or restored. */
    | "invalid-record"
    | "busy"
    /** The API server did not take the change, or whether it did is not known. Try again. */
    | "unavailable";
  readonly message: string;
};

/** `next` absent: nothing is written. */
export type AccessChange<T> = { readonly next?: ClusterAccess | undefined; readonly value: T };
type Decide<T> = (access: ClusterAccess) => Result<AccessChange<T>, AccessError> | Promise<Result<AccessChange<T>, AccessError>>;

const ATTEMPTS = 8;

export class AccessRecords {
  readonly #options: AccessRecordsOptions;
  readonly #known = new Map<string, { readonly access: ClusterAccess; readonly version: string; readonly uid: string }>();
  readonly #informer: Informer<KubeObject>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: AccessRecordsOptions) {
    this.#options = options;
    const labelSelector = `${ACCESS_LABEL}=true`;
    this.#informer = new Informer({ ...options, resource: secrets, labelSelector, place: options.namespace });
    this.#informer.subscribe(({ before, after }) => {
      if (after !== undefined) this.#learn(after);
      else if (before !== undefined) this.#forget(before);
    });
  }

  /** Resolves true when all records are in memory, false when the signal fires first. */
  open(signal: AbortSignal): Promise<boolean> {
    this.#running ??= this.#informer.run(this.#stop.signal);
    return this.#informer.synced(signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#informer.removeMetrics();
  }

  get(cluster: string): ClusterAccess | undefined {
    return this.#known.get(cluster)?.access;
  }

  clusters(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** False: there is a record already. */
  async create(access: ClusterAccess): Promise<Result<boolean, AccessError>> {
    const created = await this.#options.client.create(secrets, accessSecret(access, this.#options.namespace));
    if (created.ok) this.#learn(created.value);
    else if (created.error.kind === "already-exists") return ok(false);
    return created.ok ? ok(true) : err(unavailable(created.error));
  }

  /** `decide` is called again after a conflict; it must have no other effect than its result. */
  async change<T>(cluster: string, decide: Decide<T>): Promise<Result<T, AccessError>> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const read = await this.#read(cluster);
      if (!read.ok) return read;
      const { secret, access } = read.value;
      const decided = await decide(access);
      if (!decided.ok) return decided;
      const { next, value } = decided.value;
      if (next === undefined || next === access) return ok(value);
      const written = await this.#options.client.update(secrets, accessSecret(next, this.#options.namespace, secret));
      if (written.ok) {
        this.#learn(written.value);
        return ok(value);
      }
      if (written.error.kind !== "conflict") return err(unavailable(written.error));
    }
    return err({ kind: "busy", message: `the record of cluster ${cluster} changes too often` });
  }

  async remove(cluster: string): Promise<Result<void, AccessError>> {
    const deleted = await this.#options.client.delete(secrets, this.#keyOf(cluster));
    if (!deleted.ok) return err(unavailable(deleted.error));
    this.#known.delete(cluster);
    return ok(undefined);
  }

  async #read(cluster: string): Promise<Result<{ readonly secret: KubeObject; readonly access: ClusterAccess }, AccessError>> {
    const found = await this.#options.client.get(secrets, this.#keyOf(cluster));
    if (!found.ok && found.error.kind === "not-found") {
      this.#known.delete(cluster);
      return err({ kind: "not-found", message: `cluster ${cluster} has no record` });
    }
    if (!found.ok) return err(unavailable(found.error));
    const access = this.#learn(found.value);
    if (!access.ok) return err({ kind: "invalid-record", message: `Secret ${found.value.metadata.name}: ${access.error}` });
    return ok({ secret: found.value, access: access.value });
  }

  #keyOf(cluster: string) {
    return { namespace: this.#options.namespace, name: accessSecretName(cluster) };
  }

  #learn(secret: KubeObject): Result<ClusterAccess, string> {
    const access = accessOfSecret(secret);
    const { name, resourceVersion: version = "", uid = "" } = secret.metadata;
    if (!access.ok) {
      this.#forget(secret);
      this.#options.logger.error("record of a cluster is not readable", { secret: name, error: access.error });
      return access;
    }
    const { cluster } = access.value;
    // a watch may be behind the own writes
    if (!isOlder(version, this.#known.get(cluster)?.version)) this.#known.set(cluster, { access: access.value, version, uid });
    return access;
  }

  /** By uid: the deletion of a previous record may arrive after the next one was written. */
  #forget({ metadata }: KubeObject): void {
    const cluster = clusterOfSecretName(metadata.name);
    if (this.#known.get(cluster)?.uid === metadata.uid) this.#known.delete(cluster);
  }
}

/** Compared as text of equal length: a resourceVersion has 64 bits. Others than integers have no order. */
function isOlder(version: string, than: string | undefined): boolean {
  if (than === undefined || !/^[0-9]+$/.test(version) || !/^[0-9]+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}

function unavailable({ kind, message }: KubeError): AccessError {
  return { kind: "unavailable", message: `${kind}: ${message}` };
}
