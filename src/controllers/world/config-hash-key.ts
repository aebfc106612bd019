/**
 * The key under which secret contents enter the config hash of a Deployment: a bare hash of a weak password can be guessed from it.
 *
 * Made once per cluster and never changed: another key gives other hashes, and every pod with a secret would be started anew.
 */
import { base64OfBytes, bytesOfBase64, err, ok, sensitive, type Result, type Sensitive } from "#base";
import type { FailureCause } from "#controller-runtime";
import { fieldAt, secrets, type KubeObject } from "#kube";
import type { KubeReader, KubeWriter } from "#kube-client";

export const HASH_KEY_SECRET = "lattice-config-hash-key";
const FIELD = "key";
export const HASH_KEY_BYTES = 32;

export type HashKeyOptions = {
  /** Where the operator is at home. */
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

  /** Before `ensure` there is none, and compiling a service then is a bug. */
  get value(): Sensitive<string> {
    if (this.#key === undefined) throw new Error("a service was compiled before the config hash key was read");
    return this.#key;
  }

  /** Reads the key, or makes it. Of several that make it at once, the first wins and the others read what it made. */
  async ensure(client: KubeReader & KubeWriter, signal: AbortSignal): Promise<Result<void, FailureCause>> {
    if (this.#key !== undefined) return ok(undefined);
    const { namespace } = this.#options;
    const found = await client.get<KubeObject>(secrets, { namespace, name: HASH_KEY_SECRET }, { signal });
    if (found.ok) return this.#take(found.value);
    if (found.error.kind !== "not-found") return found;
    const made = await client.create<KubeObject>(secrets, this.#fresh(), { signal });
    if (made.ok) return this.#take(made.value);
    if (made.error.kind !== "already-exists") return made;
    const theirs = await client.get<KubeObject>(secrets, { namespace, name: HASH_KEY_SECRET }, { signal });
    return theirs.ok ? this.#take(theirs.value) : theirs;
  }

  #fresh(): KubeObject {
    const metadata = {
      name: HASH_KEY_SECRET,
      namespace: this.#options.namespace,
      labels: { "app.kubernetes.io/managed-by": "lattice" },
    };
    const data = { [FIELD]: base64OfBytes(this.#options.randomBytes(HASH_KEY_BYTES)) };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", immutable: true, data };
    return secret;
  }

  #take(secret: KubeObject): Result<void, FailureCause> {
    const text = fieldAt(secret, "data", FIELD);
    const bytes = typeof text === "string" ? bytesOfBase64(text) : undefined;
    if (bytes?.ok !== true || bytes.value.byteLength < HASH_KEY_BYTES) {
      const where = `Secret ${this.#options.namespace}/${HASH_KEY_SECRET}`;
      const message = `${where} has no '${FIELD}' of ${HASH_KEY_BYTES} bytes; delete it, and a new one is made (pods with secrets start anew)`;
      return err({ kind: "hash-key", message });
    }
    this.#key = sensitive(base64OfBytes(bytes.value));
    return ok(undefined);
  }
}
