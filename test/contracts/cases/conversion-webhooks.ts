/** When a conversion webhook is called, and with which objects. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import type { Hook } from "../client/hook-host.ts";
import { area } from "../contract.ts";
import type { Things } from "./definitions.ts";
import { twoVersions, type Sent } from "./two-versions.ts";

/** "v2: v1" for each call: the desired version, and the versions of its objects. */
const shown = (hook: Hook, from: number) =>
  hook.calls.slice(from).map(({ request }) => {
    const { desiredAPIVersion, objects } = request as unknown as { desiredAPIVersion: string; objects: readonly Sent[] };
    return `${desiredAPIVersion.split("/")[1]}: ${objects.map(({ apiVersion }) => apiVersion.split("/")[1]).join(" ")}`;
  });

/** Created in v1, and known to the watch cache of v2. */
async function createKnown(api: Api, { v2, things }: { readonly v2: string; readonly things: Things }): Promise<void> {
  (await things.post("a", { n: 1 })).gives(201);
  await api.until(
    () => api.get(`${v2}?resourceVersion=0`),
    ({ text }) => text.includes('"name":"a"'),
  );
}

export const conversionWebhooks = area("conversion webhooks", {
  "a conversion webhook gets stored objects without their resourceVersion, with managedFields, and with sorted fields": async (api) => {
    const { hook, v1: one, v2 } = await twoVersions(api);
    (
      await api.post(`${v2}?fieldManager=m`, {
        kind: "Thing",
        apiVersion: `${api.id}.contracts.test/v2`,
        metadata: { name: "a" },
        spec: { n: 1 },
      })
    ).gives(201);
    (await api.get(`${v2}/a`)).gives(200);
    const metadata = ["creationTimestamp", "generation", "managedFields", "name", "namespace", "uid"];
    const sent = hook.calls.flatMap(({ request }) => request["objects"] as unknown as readonly Sent[]);
    expect(sent.length).toBeGreaterThan(2);
    for (const { metadata: given, spec } of sent) {
      expect(Object.keys(given)).toEqual(metadata);
      expect(JSON.stringify(spec)).toBe('{"a":"x","n":1}');
    }
    (await api.get(`${one}/a`)).gives(200, { spec: { n: 1 } });
  },

  "a get in another version calls a conversion webhook once, each time; a get in the stored version never": async (api) => {
    const made = await twoVersions(api);
    await createKnown(api, made);
    const before = made.hook.calls.length;
    (await api.get(`${made.v1}/a`)).gives(200);
    (await api.get(`${made.v2}/a`)).gives(200);
    (await api.get(`${made.v2}/a`)).gives(200);
    expect(shown(made.hook, before)).toEqual(["v2: v1", "v2: v1"]);
  },

  "a dry run calls a conversion webhook like a write": async (api) => {
    const { hook, v2, things } = await twoVersions(api);
    const before = hook.calls.length;
    const thing = { ...things.thing("a", { n: 1 }), apiVersion: `${things.group}/v2` };
    const answer = (await api.post(`${v2}?dryRun=All`, thing)).gives(201, { apiVersion: `${things.group}/v2`, spec: { n: 1 } });
    expect(answer.at("metadata.resourceVersion")).toBe(undefined);
    expect(shown(hook, before)).toEqual(["v1: v2", "v2: v1"]);
  },

  "watches of one version share the responses of a conversion webhook": async (api) => {
    const made = await twoVersions(api);
    await createKnown(api, made);
    const watches = [await api.watch(`${made.v2}?watch=1`), await api.watch(`${made.v2}?watch=1`)];
    for (const watch of watches) await watch.next();
    const before = made.hook.calls.length;
    (await api.mergePatch(`${made.v1}/a`, { spec: { n: 2 } })).gives(200);
    for (const watch of watches) expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { spec: { n: 2 } } });
    (await api.get(`${made.v1}/a`)).gives(200);
    expect(shown(made.hook, before)).toEqual(["v2: v1"]);
  },
});
