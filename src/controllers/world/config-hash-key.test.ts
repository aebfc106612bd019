import { expect, test } from "vitest";
import { reveal } from "#base";
import { failWith, resources, startEmbeddedCluster } from "#embedded-cluster";
import { ConfigHashKey, HASH_KEY_BYTES, HASH_KEY_SECRET } from "./config-hash-key.ts";

const never = new AbortController().signal;
const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
const keyOf = (first: number) =>
  new ConfigHashKey({ namespace: "lattice-system", randomBytes: (count) => Uint8Array.from({ length: count }, (_, at) => first + at) });

test("it is made once; those who come later, and those who come at the same time, have the same", async () => {
  await using cluster = await startEmbeddedCluster({ objects: [home] });
  const keys = [keyOf(1), keyOf(100), keyOf(200)];
  const [first, ...others] = keys;
  expect(await Promise.all([first?.ensure(cluster.client, never), others[0]?.ensure(cluster.client, never)])).toEqual([
    { ok: true, value: undefined },
    { ok: true, value: undefined },
  ]);
  await others[1]?.ensure(cluster.client, never);
  expect(await first?.ensure(cluster.client, never)).toEqual({ ok: true, value: undefined });
  const values = keys.map((key) => reveal(key.value));
  expect(new Set(values).size).toBe(1);
  expect(String(first?.value)).toBe("[redacted]");
  expect(Buffer.from(values[0] ?? "", "base64")).toHaveLength(HASH_KEY_BYTES);
});

test.each([
  { name: "none", data: {} },
  { name: "one that is too short", data: { key: btoa("short") } },
])("a Secret with $name in it is named, and not used", async ({ data }) => {
  const metadata = { name: HASH_KEY_SECRET, namespace: "lattice-system" };
  await using cluster = await startEmbeddedCluster({ objects: [home, { apiVersion: "v1", kind: "Secret", metadata, data }] });
  const key = keyOf(1);
  expect(await key.ensure(cluster.client, never)).toMatchObject({
    ok: false,
    error: { kind: "hash-key", message: expect.stringContaining("Secret lattice-system/lattice-config-hash-key has no 'key'") as string },
  });
  expect(() => key.value).toThrow("before the config hash key was read");
});

test("without its namespace it cannot be made, and the server's reason is passed on", async () => {
  await using cluster = await startEmbeddedCluster();
  expect(await keyOf(1).ensure(cluster.client, never)).toMatchObject({ ok: false, error: { kind: "not-found" } });
  await cluster.client.create(resources.namespaces, home);
  cluster.intercept({ verb: "get", resource: "secrets", times: 1 }, failWith("forbidden"));
  expect(await keyOf(1).ensure(cluster.client, never)).toMatchObject({ ok: false, error: { kind: "forbidden" } });
  expect(await keyOf(1).ensure(cluster.client, never)).toMatchObject({ ok: true });
});
