import { expect, test } from "vitest";
import { expectOk, ok, reveal } from "#base";
import { failWith, resources, startEmbeddedCluster } from "#embedded-cluster";
import type { KubeClient } from "#kube-client";
import { ConfigHashKey, HASH_KEY_BYTES, HASH_KEY_SECRET } from "./config-hash-key.ts";

const never = new AbortController().signal;
const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
const keyOf = (first: number) =>
  new ConfigHashKey({ namespace: "lattice-system", randomBytes: (count) => Uint8Array.from({ length: count }, (_, at) => first + at) });

/** As in the passes of one process: read it, create it if missing, and read it again. */
async function obtain(key: ConfigHashKey, client: KubeClient) {
  const found = await key.read(client, never);
  if (!found.ok || found.value !== undefined) return found;
  const created = await key.create(client, never);
  return created.ok ? key.read(client, never) : created;
}

test("it is created once; processes that start later, or at the same time, read the same key", async () => {
  await using cluster = await startEmbeddedCluster({ objects: [home] });
  const both = await Promise.all([obtain(keyOf(1), cluster.client), obtain(keyOf(100), cluster.client)]);
  const all = [...both, await obtain(keyOf(200), cluster.client)].map((key) => expectOk(key));
  const values = all.map((key) => (key === undefined ? "" : reveal(key)));
  expect(new Set(values).size).toBe(1);
  expect(String(all[0])).toBe("[redacted]");
  expect(Buffer.from(values[0] ?? "", "base64")).toHaveLength(HASH_KEY_BYTES);
});

test("reading it creates nothing, and a key in memory is not read again", async () => {
  await using cluster = await startEmbeddedCluster({ objects: [home] });
  const key = keyOf(1);
  expect(await key.read(cluster.client, never)).toEqual(ok(undefined));
  expect(await key.read(cluster.client, never)).toEqual(ok(undefined));
  const made = expectOk(await obtain(key, cluster.client));
  if (made !== undefined) key.keep(made);
  cluster.intercept({ verb: "get", resource: "secrets" }, failWith("forbidden"));
  expect(await key.read(cluster.client, never)).toEqual(ok(made));
});

test.each([
  { name: "none", data: {} },
  { name: "one that is too short", data: { key: btoa("short") } },
])("a Secret with $name in it is reported, and not used", async ({ data }) => {
  const metadata = { name: HASH_KEY_SECRET, namespace: "lattice-system" };
  await using cluster = await startEmbeddedCluster({ objects: [home, { apiVersion: "v1", kind: "Secret", metadata, data }] });
  expect(await obtain(keyOf(1), cluster.client)).toMatchObject({
    ok: false,
    error: {
      kind: "unusable-secret",
      message: expect.stringContaining("Secret lattice-system/lattice-config-hash-key has no 'key'") as string,
    },
  });
});

test("without its namespace it cannot be created, and the server's error is returned", async () => {
  await using cluster = await startEmbeddedCluster();
  expect(await obtain(keyOf(1), cluster.client)).toMatchObject({ ok: false, error: { kind: "not-found" } });
  await cluster.client.create(resources.namespaces, home);
  cluster.intercept({ verb: "get", resource: "secrets", times: 1 }, failWith("forbidden"));
  expect(await obtain(keyOf(1), cluster.client)).toMatchObject({ ok: false, error: { kind: "forbidden" } });
  expect(await obtain(keyOf(1), cluster.client)).toMatchObject({ ok: true });
});
