/** A kind with a stored version, v1, and a second version, v2, converted by a webhook of the contract. */
import type { JsonObject } from "#kube";
import type { Api } from "../client/api.ts";
import type { Hook } from "../client/hook-host.ts";
import { object, Things, v1 } from "./definitions.ts";

export type Sent = { readonly apiVersion: string; readonly metadata: JsonObject; readonly spec: JsonObject };
export type TwoVersions = { readonly hook: Hook; readonly v1: string; readonly v2: string; readonly things: Things };

/** v1 is stored, v2 is served too; the hook changes only the version. `more`: fields of both versions. */
export async function twoVersions(api: Api, more: object = {}): Promise<TwoVersions> {
  const hook = api.hook(({ apiVersion, kind, request }) => {
    const { uid, desiredAPIVersion, objects } = request as unknown as { uid: string; desiredAPIVersion: string; objects: readonly Sent[] };
    const convertedObjects = objects.map((one) => ({ ...one, apiVersion: desiredAPIVersion }));
    return { apiVersion, kind, response: { uid, result: { status: "Success" }, convertedObjects } };
  });
  const things = new Things(api);
  const spec = object({ n: { type: "integer" }, a: { type: "string", default: "x" } });
  const webhook = { clientConfig: hook.clientConfig, conversionReviewVersions: ["v1"] };
  const versions = [v1(spec, more), { ...v1(spec, more), name: "v2", storage: false }];
  await things.define(versions, { conversion: { strategy: "Webhook", webhook } });
  await things.served("v2");
  return { hook, v1: `${things.group}/v1/things`, v2: `${things.group}/v2/things`, things };
}
