import { expect, test } from "vitest";
import { err, expectOk, ok, type Result } from "#base";
import type { CacheReader } from "#controller-runtime";
import { keyText, type KubeObject, type ObjectKey } from "#kube";
import type { KubeError, KubeReader } from "#kube-client";
import { SecretCache } from "./secret-cache.ts";

/** Secrets of a cluster, an informer's metadata of them, and the recorded reads. */
class Cluster {
  readonly secrets = new Map<string, { readonly version: string; readonly data: Readonly<Record<string, string>> }>();
  readonly reads: string[] = [];
  failure: KubeError | undefined;
  /** The informer is behind: it has an older version. */
  readonly behind = new Map<string, string>();

  get source() {
    const cache = {
      get: (_resource: unknown, key: ObjectKey) => {
        const version = this.behind.get(keyText(key)) ?? this.secrets.get(keyText(key))?.version;
        return version === undefined ? undefined : { metadata: { name: key.name, resourceVersion: version } };
      },
    } as unknown as CacheReader;
    const get = (_resource: unknown, key: ObjectKey): Promise<Result<KubeObject, KubeError>> => {
      this.reads.push(keyText(key));
      const found = this.secrets.get(keyText(key));
      if (this.failure !== undefined) return Promise.resolve(err(this.failure));
      if (found === undefined) return Promise.resolve(err({ kind: "not-found", message: "gone" }));
      const secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { ...key, resourceVersion: found.version } as KubeObject["metadata"],
        data: found.data,
      };
      return Promise.resolve(ok(secret));
    };
    return { cache, client: { get } as unknown as KubeReader, signal: new AbortController().signal };
  }
}

const PATH = "postgres/db/password";
const need = (...names: readonly string[]) => ({ values: new Set(names), versions: new Set<string>() });

/** The steps of a pass: read the needed values, use them for some work, and keep them. */
async function pass<T>(cache: SecretCache, cluster: Cluster, work: () => T): Promise<T> {
  const values = expectOk(await cache.valuesFor("shop/api", cluster.source));
  const { result, needs } = cache.using(values, () => cache.record(work));
  cache.setNeeds("shop/api", needs);
  cache.keep(values);
  return result;
}

test("a Secret that is looked up is recorded, read once, and read again when it changed", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/postgres-db", { version: "1", data: { password: btoa("one") } });
  const read = () => cache.read("shop", PATH, "shop");
  expect(await pass(cache, cluster, read)).toMatchObject({ ok: false });
  expect([...cache.needsOf("shop/api").values]).toEqual(["shop/postgres-db"]);
  expect(await pass(cache, cluster, read)).toEqual(ok("one"));
  expect(await pass(cache, cluster, read)).toEqual(ok("one"));
  cluster.secrets.set("shop/postgres-db", { version: "2", data: { password: btoa("two") } });
  expect(await pass(cache, cluster, read)).toEqual(ok("two"));
  expect(cluster.reads).toHaveLength(2);
});

test("reading values keeps nothing: only keep and setNeeds change the cache", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/postgres-db", { version: "1", data: { password: btoa("one") } });
  cache.setNeeds("shop/api", need("shop/postgres-db"));
  const values = expectOk(await cache.valuesFor("shop/api", cluster.source));
  expect(cache.using(values, () => cache.read("shop", PATH, "shop"))).toEqual(ok("one"));
  expect(cache.read("shop", PATH, "shop")).toMatchObject({ ok: false });
  cache.keep(values);
  expect(cache.read("shop", PATH, "shop")).toEqual(ok("one"));
});

test("a Secret that does not exist is not requested, and the error names the Secret to create", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cache.setNeeds("shop/api", need("shop/postgres-db"));
  expect(await pass(cache, cluster, () => cache.read("shop", PATH, "shop"))).toEqual(
    err("there is no secret 'postgres/db/password'\nmake Secret postgres-db in namespace shop with a key 'password'"),
  );
  expect(cluster.reads).toEqual([]);
});

test("a value that is not UTF-8 text is rejected, with what to do instead", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/postgres-db", { version: "1", data: { password: btoa("\xff\xfe") } });
  cache.setNeeds("shop/api", need("shop/postgres-db"));
  expect(await pass(cache, cluster, () => cache.read("shop", PATH, "shop"))).toEqual(
    err(
      "key 'password' of Secret shop/postgres-db is not UTF-8 text, so no template can contain it\nmount it as a volume (secret:postgres-db)",
    ),
  );
});

test("a missing key and a value that is not base64 are absent", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  const data = { broken: "%%%", number: 5 as unknown as string };
  cluster.secrets.set("shop/postgres-db", { version: "1", data });
  cache.setNeeds("shop/api", need("shop/postgres-db"));
  for (const key of ["broken", "number", "password"]) {
    expect(await pass(cache, cluster, () => cache.read("shop", `postgres/db/${key}`, "shop"))).toMatchObject({
      ok: false,
      error: expect.stringContaining(`Secret shop/postgres-db has no key '${key}'`) as string,
    });
  }
});

test("an informer that is behind causes no second read, a Secret deleted meanwhile has no values, and a failure is returned", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/a", { version: "2", data: { k: btoa("new") } });
  cluster.behind.set("shop/a", "1");
  const read = () => cache.read("shop", "a/k", "shop");
  cache.setNeeds("shop/api", need("shop/a"));
  for (const _ of [1, 2]) expect(await pass(cache, cluster, read)).toEqual(ok("new"));
  cluster.behind.clear();
  expect(await pass(cache, cluster, read)).toEqual(ok("new"));
  expect(cluster.reads).toEqual(["shop/a"]);
  cluster.behind.set("shop/b", "1");
  cache.setNeeds("shop/api", need("shop/b"));
  expect(await pass(cache, cluster, () => cache.read("shop", "b/k", "shop"))).toMatchObject({ ok: false });
  cluster.failure = { kind: "unavailable", message: "later" };
  cluster.behind.set("shop/c", "1");
  cache.setNeeds("shop/api", need("shop/c"));
  expect(await cache.valuesFor("shop/api", cluster.source)).toMatchObject({ ok: false, error: { kind: "unavailable" } });
});

test("a value that no service needs any more is removed, and a change affects the services that need it", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "shop" } };
  cluster.secrets.set("shop/a", { version: "1", data: { k: btoa("v") } });
  cache.setNeeds("shop/one", need("shop/a"));
  cache.setNeeds("shop/two", need("shop/a"));
  const values = expectOk(await cache.valuesFor("shop/one", cluster.source));
  cache.keep(values);
  expect(cache.usedBy(secret)).toEqual(["shop/one", "shop/two"]);
  cache.setNeeds("shop/one", need());
  expect(cache.read("shop", "a/k", "shop")).toEqual(ok("v"));
  cache.setNeeds("shop/two", need("shop/b"));
  expect(cache.usedBy(secret)).toEqual([]);
  expect(cache.read("shop", "a/k", "shop")).toMatchObject({ ok: false });
  cache.keep(values);
  expect(cache.read("shop", "a/k", "shop")).toMatchObject({ ok: false });
});

test("of a Secret that External Secrets maintains, the version is known and the value is never requested", () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/synced", { version: "7", data: {} });
  expect(cache.syncedVersion("shop", "synced")).toBeUndefined();
  cache.follow(cluster.source.cache);
  const { result, needs } = cache.record(() => cache.syncedVersion("shop", "synced"));
  expect([result, [...needs.values], [...needs.versions]]).toEqual(["7", [], ["shop/synced"]]);
});
