/**
 * The values of Secrets that services need, and only those: compiling a service finds out which they are. Informers have the
 * metadata of all Secrets and the values of none.
 *
 * A value is copied from here into a compiled Secret and nowhere else. No message contains one. Reading (`valuesFor`, `using`, `read`) changes
 * nothing here: `keep` and `setNeeds` do.
 */
import { err, ok, type Result } from "#base";
import type { ServiceKey } from "#compile";
import type { CacheReader, ReadRuntime } from "#controller-runtime";
import { keyText, parseKey, secrets, secretsByMetadata, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { isShareable, secretNotShared, secretOfPath, secretText, secretTexts, type SecretTexts } from "#service-compiler";

/** "namespace/name". */
type SecretName = string;

export type CachedSecret = {
  /** The version in the informer's cache when it was read; undefined: there was no such Secret. */
  readonly seen: string | undefined;
  readonly version: string | undefined;
  readonly values: SecretTexts;
};

export type SecretValues = ReadonlyMap<SecretName, CachedSecret>;

/** The Secrets that one compilation looked up. */
export type SecretNeeds = {
  readonly values: ReadonlySet<SecretName>;
  /** Secrets of which only the version counts: External Secrets maintains them. */
  readonly versions: ReadonlySet<SecretName>;
};

const NO_NEEDS: SecretNeeds = { values: new Set(), versions: new Set() };

export class SecretCache {
  readonly #kept = new Map<SecretName, CachedSecret>();
  readonly #needs = new Map<ServiceKey, SecretNeeds>();
  readonly #users = new Map<SecretName, Set<ServiceKey>>();
  #cache: CacheReader | undefined;
  #inUse: SecretValues | undefined;
  #recorded: { readonly values: Set<SecretName>; readonly versions: Set<SecretName> } | undefined;

  follow(cache: CacheReader): void {
    this.#cache = cache;
  }

  /** Current values of the Secrets that the service is known to need. Those that changed since they were kept are read from the cluster. */
  async valuesFor(service: ServiceKey, source: Pick<ReadRuntime, "cache" | "client" | "signal">): Promise<Result<SecretValues, KubeError>> {
    const values = new Map<SecretName, CachedSecret>();
    for (const name of this.needsOf(service).values) {
      const seen = source.cache.get(secretsByMetadata, parseKey(name))?.metadata.resourceVersion;
      const kept = this.#kept.get(name);
      const current = kept !== undefined && (seen === kept.seen || (seen !== undefined && seen === kept.version));
      const read = current ? ok(kept) : await readSecret(name, seen, source);
      if (!read.ok) return read;
      values.set(name, read.value);
    }
    return ok(values);
  }

  /** `read` uses these values while `work` runs. */
  using<T>(values: SecretValues, work: () => T): T {
    this.#inUse = values;
    try {
      return work();
    } finally {
      this.#inUse = undefined;
    }
  }

  /**
   * `postgres/main-db/password` is key `password` of Secret `postgres-main-db` in the namespace of the workload. For a service that is written
   * in another namespace, `source`, the Secret must be labelled shareable.
   */
  read(namespace: string, path: string, source: string): Result<string, string> {
    const { name, key } = secretOfPath(path);
    const secret = keyText({ namespace, name });
    if (source !== namespace && !this.#isShared({ namespace, name }, source)) {
      this.#recorded?.versions.add(secret);
      return err(secretNotShared(namespace, name, source));
    }
    this.#recorded?.values.add(secret);
    const found = this.#inUse?.get(secret) ?? this.#kept.get(secret);
    const text = secretText(found?.values ?? NO_VALUES, { namespace, name, key });
    if (!text.ok) return text;
    if (text.value !== undefined) return ok(text.value);
    const exists = found?.version === undefined ? "" : `: Secret ${secret} has no key '${key}'`;
    return err(`there is no secret '${path}'${exists}\nmake Secret ${name} in namespace ${namespace} with a key '${key}'`);
  }

  #isShared(secret: { readonly namespace: string; readonly name: string }, source: string): boolean {
    return isShareable(this.#cache?.get(secretsByMetadata, secret)?.metadata.labels, source);
  }

  syncedVersion(namespace: string, name: string): string | undefined {
    this.#recorded?.versions.add(keyText({ namespace, name }));
    return this.#cache?.get(secretsByMetadata, { namespace, name })?.metadata.resourceVersion;
  }

  /** Runs `work` and returns the Secrets that it looked up. */
  record<T>(work: () => T): { readonly result: T; readonly needs: SecretNeeds } {
    const needs = { values: new Set<SecretName>(), versions: new Set<SecretName>() };
    this.#recorded = needs;
    try {
      return { result: work(), needs };
    } finally {
      this.#recorded = undefined;
    }
  }

  needsOf(service: ServiceKey): SecretNeeds {
    return this.#needs.get(service) ?? NO_NEEDS;
  }

  /** Sets the Secrets that a service needs. Values that no service needs any more are removed. */
  setNeeds(service: ServiceKey, needs: SecretNeeds): void {
    const next = namesIn(needs);
    const before = namesIn(this.needsOf(service));
    if (next.size === 0) this.#needs.delete(service);
    else this.#needs.set(service, needs);
    for (const name of next) this.#usersOf(name).add(service);
    for (const name of before) if (!next.has(name)) this.#drop(name, service);
  }

  /** Keeps values of Secrets that some service needs: the next pass reads only those that changed. */
  keep(values: SecretValues): void {
    for (const [name, value] of values) if (this.#users.has(name)) this.#kept.set(name, value);
  }

  /** Services that a change of this Secret affects. */
  usedBy(secret: KubeObject): readonly ServiceKey[] {
    return [...(this.#users.get(keyText(secret.metadata)) ?? [])];
  }

  #usersOf(name: SecretName): Set<ServiceKey> {
    const users = this.#users.get(name) ?? new Set<ServiceKey>();
    this.#users.set(name, users);
    return users;
  }

  #drop(name: SecretName, service: ServiceKey): void {
    const users = this.#users.get(name);
    users?.delete(service);
    if (users?.size !== 0) return;
    this.#users.delete(name);
    this.#kept.delete(name);
  }
}

function namesIn({ values, versions }: SecretNeeds): ReadonlySet<SecretName> {
  return new Set([...values, ...versions]);
}

const NO_VALUES: SecretTexts = new Map();

async function readSecret(
  name: SecretName,
  seen: string | undefined,
  { client, signal }: Pick<ReadRuntime, "client" | "signal">,
): Promise<Result<CachedSecret, KubeError>> {
  if (seen === undefined) return ok({ seen, version: undefined, values: NO_VALUES });
  const found = await client.get<KubeObject>(secrets, parseKey(name), { signal });
  if (found.ok) return ok({ seen, version: found.value.metadata.resourceVersion, values: secretTexts(found.value) });
  return found.error.kind === "not-found" ? ok({ seen, version: undefined, values: NO_VALUES }) : found;
}
