/**
 * The key that is hashed with secret contents into the config hash of a Deployment: a weak password could be guessed from a plain hash.
 *
 * Created once per cluster and never changed: another key gives other hashes, and would restart every pod with a secret.
 */
import { base64OfBytes, bytesOfBase64, err, ok, sensitive, type Result, type Sensitive } from "#base";
import type { FailureCause } from "#controller-runtime";
import { fieldAt, secrets, type KubeObject } from "#kube";
import type { KubeReader, KubeWriter } from "#kube-client";

export const HASH_KEY_SECRET = "lattice-config-hash-key";
const FIELD = "key";
export const HASH_KEY_BYTES = 32;

export type HashKeyOptions = {
  /** The operator's own namespace. */
  readonly namespace: string;
  /** Unpredictable bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
};

export class ConfigHashKey {
  readonly #options: HashKeyOptions;
  #key: Sensitive<string> | undefined;

  constructor(options: HashKeyOptions) {
    this.#options = options;
  }

  /** The key; undefined when the cluster has none yet. It is read from the cluster until `keep` is called. */
  async read(client: KubeReader, signal: AbortSignal): Promise<Result<Sensitive<string> | undefined, FailureCause>> {
    if (this.#key !== undefined) return ok(this.#key);
    const { namespace } = this.#options;
    const found = await client.get<KubeObject>(secrets, { namespace, name: HASH_KEY_SECRET }, { signal });
    if (found.ok) return this.#keyIn(found.value);
    return found.error.kind === "not-found" ? ok(undefined) : found;
  }

  /** The key never changes, so that one read per process is enough. */
  keep(key: Sensitive<string>): void {
    this.#key = key;
  }

  /** Creates the Secret, and never overwrites one: of several processes the first succeeds and the others read its key. */
  async create(client: KubeWriter, signal: AbortSignal): Promise<Result<void, FailureCause>> {
    const made = await client.create<KubeObject>(secrets, this.#newSecret(), { signal });
    return made.ok || made.error.kind === "already-exists" ? ok(undefined) : made;
  }

  #newSecret(): KubeObject {
    const metadata = {
      name: HASH_KEY_SECRET,
      namespace: this.#options.namespace,
      labels: { "app.kubernetes.io/managed-by": "lattice" },
    };
    const data = { [FIELD]: base64OfBytes(this.#options.randomBytes(HASH_KEY_BYTES)) };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", immutable: true, data };
    return secret;
  }

  #keyIn(secret: KubeObject): Result<Sensitive<string>, FailureCause> {
    const text = fieldAt(secret, "data", FIELD);
    const bytes = typeof text === "string" ? bytesOfBase64(text) : undefined;
    if (bytes?.ok !== true || bytes.value.byteLength < HASH_KEY_BYTES) {
      const where = `Secret ${this.#options.namespace}/${HASH_KEY_SECRET}`;
      const message = `${where} has no '${FIELD}' of ${HASH_KEY_BYTES} bytes; delete it, and a new one is made (pods with secrets start anew)`;
      return err({ kind: "unusable-secret", message });
    }
    return ok(sensitive(base64OfBytes(bytes.value)));
  }
}
