import { expect, test } from "vitest";
import { err, expectOk, ok, type Result } from "#base";
import type { CacheReader } from "#controller-runtime";
import { keyText, type KubeObject, type ObjectKey } from "#kube";
import type { KubeError, KubeReader } from "#kube-client";
import { SecretCache } from "./secret-cache.ts";

/** Secrets of a cluster, an informer's metadata of them, and what was read. */
class Cluster {
  readonly secrets = new Map<string, { readonly version: string; readonly data: Readonly<Record<string, string>> }>();
  readonly reads: string[] = [];
  failure: KubeError | undefined;
  /** The cache is behind: it does not know what came last. */
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

test("what is asked for is noted, read once, and read again when it changed", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/postgres-db", { version: "1", data: { password: btoa("one") } });
  const first = cache.record(() => cache.read("shop", PATH, "shop"));
  expect(first.result).toMatchObject({ ok: false });
  expect([...first.asked.values]).toEqual(["shop/postgres-db"]);
  expect(expectOk(await cache.refresh(first.asked.values, cluster.source))).toBe(true);
  expect(cache.read("shop", PATH, "shop")).toEqual(ok("one"));
  expect(expectOk(await cache.refresh(first.asked.values, cluster.source))).toBe(false);
  cluster.secrets.set("shop/postgres-db", { version: "2", data: { password: btoa("two") } });
  expect(expectOk(await cache.refresh(first.asked.values, cluster.source))).toBe(true);
  expect(cache.read("shop", PATH, "shop")).toEqual(ok("two"));
  expect(cluster.reads).toHaveLength(2);
});

test("one that is not there is not asked for, and a sentence says what to make", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  expect(expectOk(await cache.refresh(["shop/postgres-db"], cluster.source))).toBe(true);
  expect(cache.read("shop", PATH, "shop")).toEqual(
    err("there is no secret 'postgres/db/password'\nmake Secret postgres-db in namespace shop with a key 'password'"),
  );
  expect([cluster.reads, expectOk(await cache.refresh(["shop/postgres-db"], cluster.source))]).toEqual([[], false]);
});

test("a value that is not UTF-8 text is refused, with what to do instead", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/postgres-db", { version: "1", data: { password: btoa("\xff\xfe") } });
  await cache.refresh(["shop/postgres-db"], cluster.source);
  expect(cache.read("shop", PATH, "shop")).toEqual(
    err(
      "key 'password' of Secret shop/postgres-db is not UTF-8 text, so no template can contain it\nmount it as a volume (secret:postgres-db)",
    ),
  );
});

test("a missing key and a value that is not base64 are absent", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  const data = { broken: "%%%", number: 5 as unknown as string };
  cluster.secrets.set("shop/postgres-db", { version: "1", data });
  await cache.refresh(["shop/postgres-db"], cluster.source);
  for (const key of ["broken", "number", "password"]) {
    expect(cache.read("shop", `postgres/db/${key}`, "shop")).toMatchObject({
      ok: false,
      error: expect.stringContaining(`Secret shop/postgres-db has no key '${key}'`) as string,
    });
  }
});

test("a cache that is behind costs no second read, a Secret that went meanwhile is gone, and a failure is passed on", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/a", { version: "2", data: { k: btoa("new") } });
  cluster.behind.set("shop/a", "1");
  expect(expectOk(await cache.refresh(["shop/a"], cluster.source))).toBe(true);
  expect(expectOk(await cache.refresh(["shop/a"], cluster.source))).toBe(false);
  cluster.behind.clear();
  expect(expectOk(await cache.refresh(["shop/a"], cluster.source))).toBe(false);
  cluster.behind.set("shop/b", "1");
  expect(expectOk(await cache.refresh(["shop/b"], cluster.source))).toBe(true);
  expect(cache.read("shop", "b/k", "shop")).toMatchObject({ ok: false });
  cluster.failure = { kind: "unavailable", message: "later" };
  cluster.behind.set("shop/c", "1");
  expect(await cache.refresh(["shop/c"], cluster.source)).toMatchObject({ ok: false, error: { kind: "unavailable" } });
});

test("what nobody needs any more is forgotten, and a change concerns those who need it", async () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "shop" } };
  cluster.secrets.set("shop/a", { version: "1", data: { k: btoa("v") } });
  await cache.refresh(["shop/a"], cluster.source);
  cache.setNeeds("shop/one", need("shop/a"));
  cache.setNeeds("shop/two", need("shop/a"));
  expect(cache.usedBy(secret)).toEqual(["shop/one", "shop/two"]);
  cache.setNeeds("shop/one", need());
  expect(cache.read("shop", "a/k", "shop")).toEqual(ok("v"));
  cache.setNeeds("shop/two", need("shop/b"));
  expect(cache.usedBy(secret)).toEqual([]);
  expect(cache.read("shop", "a/k", "shop")).toMatchObject({ ok: false });
});

test("of a Secret that External Secrets keeps, the version is known and the value never asked for", () => {
  const [cluster, cache] = [new Cluster(), new SecretCache()];
  cluster.secrets.set("shop/synced", { version: "7", data: {} });
  expect(cache.syncedVersion("shop", "synced")).toBeUndefined();
  cache.follow(cluster.source.cache);
  const { result, asked } = cache.record(() => cache.syncedVersion("shop", "synced"));
  expect([result, [...asked.values], [...asked.versions]]).toEqual(["7", [], ["shop/synced"]]);
});
