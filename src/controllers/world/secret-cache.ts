/**
 * The values of Secrets that services need, and only those: which they are turns out while a service is compiled. Informers bring the metadata
 * of all Secrets and the values of none.
 *
 * A value goes from here into a compiled Secret and nowhere else. No message holds one.
 */
import { err, ok, type Result } from "#base";
import type { ServiceKey } from "#compile";
import type { CacheReader } from "#controller-runtime";
import { keyText, parseKey, secrets, secretsByMetadata, type KubeObject } from "#kube";
import type { KubeError, KubeReader } from "#kube-client";
import { isShareable, secretNotShared, secretOfPath, secretText, secretTexts, type SecretTexts } from "#service-compiler";

/** "namespace/name". */
type SecretName = string;

type Shelved = {
  /** What the cache said when it was read; undefined: there was no such Secret. */
  readonly seen: string | undefined;
  readonly version: string | undefined;
  readonly values: SecretTexts;
};

/** What one compilation asked for. */
export type SecretNeeds = {
  readonly values: ReadonlySet<SecretName>;
  /** Secrets of which only the version counts: External Secrets keeps them. */
  readonly versions: ReadonlySet<SecretName>;
};

type Source = { readonly cache: CacheReader; readonly client: KubeReader; readonly signal: AbortSignal };

export class SecretCache {
  readonly #shelf = new Map<SecretName, Shelved>();
  readonly #needs = new Map<ServiceKey, ReadonlySet<SecretName>>();
  readonly #users = new Map<SecretName, Set<ServiceKey>>();
  #cache: CacheReader | undefined;
  #asked: { readonly values: Set<SecretName>; readonly versions: Set<SecretName> } | undefined;

  follow(cache: CacheReader): void {
    this.#cache = cache;
  }

  /**
   * `postgres/main-db/password` is key `password` of Secret `postgres-main-db` in the namespace of the workload. For a service that is written
   * in another namespace, `source`, the Secret must be labelled shareable.
   */
  read(namespace: string, path: string, source: string): Result<string, string> {
    const { name, key } = secretOfPath(path);
    const secret = keyText({ namespace, name });
    if (source !== namespace && !this.#isShared({ namespace, name }, source)) {
      this.#asked?.versions.add(secret);
      return err(secretNotShared(namespace, name, source));
    }
    this.#asked?.values.add(secret);
    const shelved = this.#shelf.get(secret);
    const text = secretText(shelved?.values ?? NO_VALUES, { namespace, name, key });
    if (!text.ok) return text;
    if (text.value !== undefined) return ok(text.value);
    const there = shelved?.version === undefined ? "" : `: Secret ${secret} has no key '${key}'`;
    return err(`there is no secret '${path}'${there}\nmake Secret ${name} in namespace ${namespace} with a key '${key}'`);
  }

  #isShared(secret: { readonly namespace: string; readonly name: string }, source: string): boolean {
    return isShareable(this.#cache?.get(secretsByMetadata, secret)?.metadata.labels, source);
  }

  syncedVersion(namespace: string, name: string): string | undefined {
    this.#asked?.versions.add(keyText({ namespace, name }));
    return this.#cache?.get(secretsByMetadata, { namespace, name })?.metadata.resourceVersion;
  }

  /** Notes what is asked for while `work` runs. */
  record<T>(work: () => T): { readonly result: T; readonly asked: SecretNeeds } {
    const asked = { values: new Set<SecretName>(), versions: new Set<SecretName>() };
    this.#asked = asked;
    try {
      return { result: work(), asked };
    } finally {
      this.#asked = undefined;
    }
  }

  /** Reads those that are not as the cache knows them. True: something is another than before, and what used it is to be compiled again. */
  async refresh(names: Iterable<SecretName>, source: Source): Promise<Result<boolean, KubeError>> {
    let changed = false;
    for (const name of names) {
      const seen = source.cache.get(secretsByMetadata, parseKey(name))?.metadata.resourceVersion;
      const shelved = this.#shelf.get(name);
      if (shelved !== undefined && (seen === shelved.seen || (seen !== undefined && seen === shelved.version))) continue;
      const read = await readSecret(name, seen, source);
      if (!read.ok) return read;
      this.#shelf.set(name, read.value);
      changed = true;
    }
    return ok(changed);
  }

  /** What a service needs now. What nobody needs any more is forgotten. */
  setNeeds(service: ServiceKey, { values, versions }: SecretNeeds): void {
    const next = new Set([...values, ...versions]);
    const before = this.#needs.get(service) ?? new Set<SecretName>();
    if (next.size === 0) this.#needs.delete(service);
    else this.#needs.set(service, next);
    for (const name of next) this.#usersOf(name).add(service);
    for (const name of before) if (!next.has(name)) this.#drop(name, service);
  }

  /** Services that a change of this Secret concerns. */
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
    this.#shelf.delete(name);
  }
}

const NO_VALUES: SecretTexts = new Map();

async function readSecret(name: SecretName, seen: string | undefined, { client, signal }: Source): Promise<Result<Shelved, KubeError>> {
  if (seen === undefined) return ok({ seen, version: undefined, values: NO_VALUES });
  const found = await client.get<KubeObject>(secrets, parseKey(name), { signal });
  if (found.ok) return ok({ seen, version: found.value.metadata.resourceVersion, values: secretTexts(found.value) });
  return found.error.kind === "not-found" ? ok({ seen, version: undefined, values: NO_VALUES }) : found;
}
