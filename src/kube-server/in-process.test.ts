import { describe, expect, test } from "vitest";
import { expectOk, FakeClock, seededRandom, silentLogger } from "#base";
import { defineResource, type KubeObject } from "#kube";
import { inProcessClient } from "./in-process.ts";
import { testServer } from "./rest/server.test-support.ts";

type Settings = KubeObject & { readonly data: Readonly<Record<string, string>> };

const configMaps = defineResource<Settings>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const key = { namespace: "default", name: "a" };
const settings: Settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key }, data: { x: "1" } };

function client() {
  return inProcessClient(testServer().server, { clock: new FakeClock(), random: seededRandom(1), logger: silentLogger });
}

describe("the in-process client", () => {
  test("every verb works", async () => {
    const own = client();
    expectOk(await own.create(configMaps, settings));
    expect(expectOk(await own.get(configMaps, key)).data).toEqual({ x: "1" });
    expect(expectOk(await own.list(configMaps, { namespace: "default" })).items).toHaveLength(1);
    expect(expectOk(await own.patch(configMaps, key, { type: "merge", patch: { data: { y: "2" } } })).data).toEqual({ x: "1", y: "2" });
    expect(
      expectOk(await own.apply(configMaps, { ...settings, data: { z: "3" } } as Settings, { fieldManager: "m", force: true })).metadata
        .name,
    ).toBe("a");
    expect(expectOk(await own.delete(configMaps, key))).toBe(true);
    expect(expectOk(await own.delete(configMaps, key))).toBe(false);
    expect(expectOk(await own.raw("/readyz"))).toBe("ok");
  });

  test("changes to a caller's objects do not affect stored objects", async () => {
    const own = client();
    const mine = structuredClone(settings) as { data: Record<string, string> } & Settings;
    const given = expectOk(await own.create(configMaps, mine)) as typeof mine;
    mine.data["x"] = "changed";
    given.data["x"] = "changed";
    expect(expectOk(await own.get(configMaps, key)).data).toEqual({ x: "1" });
  });

  test("an error is the same as over a socket", async () => {
    const missing = await client().get(configMaps, key);
    expect(missing).toMatchObject({ ok: false, error: { kind: "not-found", code: 404, message: 'configmaps "a" not found' } });
  });

  test("a cancelled or rejected call does nothing", async () => {
    const own = client();
    expect(await own.create(configMaps, settings, { signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      error: { kind: "cancelled" },
    });
    expect(await own.create(configMaps, settings, { mayLeave: () => false })).toMatchObject({ ok: false, error: { kind: "cancelled" } });
    expect(expectOk(await own.list(configMaps, { namespace: "default" })).items).toEqual([]);
    await own.close();
    expect(await own.list(configMaps)).toMatchObject({ ok: false, error: { kind: "cancelled" } });
  });

  test("a caller in an endless loop does not block the event loop", async () => {
    const own = client();
    let isOver = false;
    setTimeout(() => (isOver = true));
    while (!isOver) expect(await own.get(configMaps, key)).toMatchObject({ ok: false });
  });

  test("a watch receives writes", async () => {
    const own = client();
    const stop = new AbortController();
    const added = (async () => {
      for await (const item of own.watch(configMaps, { namespace: "default" }, stop.signal))
        if (expectOk(item).type === "ADDED") return item;
      return undefined;
    })();
    expectOk(await own.create(configMaps, settings));
    expect(await added).toMatchObject({ ok: true, value: { object: { metadata: { name: "a" } } } });
    stop.abort();
  });
});
