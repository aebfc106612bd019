/** Fields that a mutating hook cannot change: metadata that the server owns, and the status. */
import { expect } from "vitest";
import type { Json } from "#kube";
import type { ApiResponse } from "../client/api-response.ts";
import type { Api } from "../client/api.ts";
import type { Review } from "../client/hook-host.ts";
import { area } from "../contract.ts";
import { Things, v1 } from "./definitions.ts";
import { configMap } from "./objects.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const UID = "11111111-2222-3333-4444-555555555555";
const LONG_AGO = "2001-01-01T00:00:00Z";
const IMMUTABLE = "field is immutable";

type Operation = { readonly op: "add" | "remove"; readonly path: string; readonly value?: Json };

/** A hook that responds with these operations to every write of an object named "a" or "also". */
async function mutateWith(api: Api, ...operations: readonly Operation[]): Promise<void> {
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  const hook = api.hook(({ apiVersion, kind, request }: Review) => {
    const change = request["name"] === "a" || request["name"] === "also" ? { patchType: "JSONPatch", patch } : {};
    return { apiVersion, kind, response: { uid: request["uid"], allowed: true, ...change } };
  });
  const rules = [
    {
      operations: ["CREATE", "UPDATE"],
      apiGroups: ["*"],
      apiVersions: ["*"],
      resources: ["configmaps", "networkpolicies", "poddisruptionbudgets", "things", "things/status"],
    },
  ];
  const webhook = {
    name: `hook.${api.id}.contracts.test`,
    clientConfig: hook.clientConfig,
    rules,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": api.namespace } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 5,
  };
  await api.created(`${REGISTRATION}/mutatingwebhookconfigurations`, { metadata: { name: `hooks-${api.id}` }, webhooks: [webhook] });
  await api.until(
    () => api.post("configmaps?dryRun=All", configMap("probe")),
    () => hook.calls.length > 0,
  );
}

const set = (field: string, value: Json): Operation => ({ op: "add", path: `/metadata/${field}`, value });
const drop = (field: string): Operation => ({ op: "remove", path: `/metadata/${field}` });

/** A ConfigMap that is created before the hook, and the response of an update with the hook. */
async function updated(
  api: Api,
  ...operations: readonly Operation[]
): Promise<{ readonly before: ApiResponse; readonly after: ApiResponse }> {
  const before = await api.created("configmaps", configMap("a"));
  await mutateWith(api, ...operations);
  return { before, after: await api.mergePatch("configmaps/a", { data: { x: "1" } }) };
}

export const webhookMetadata = area("metadata and mutating hooks", {
  "a hook cannot choose uid, creationTimestamp and selfLink of a new object": async (api) => {
    await mutateWith(api, set("uid", UID), set("creationTimestamp", LONG_AGO), set("selfLink", "/x"));
    const apply = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "also" } };
    for (const made of [await api.post("configmaps", configMap("a")), await api.apply("m", "configmaps/also", apply)]) {
      made.gives(201).has("metadata.selfLink", undefined);
      expect(made.textAt("metadata.uid")).not.toBe(UID);
      expect(made.textAt("metadata.creationTimestamp")).not.toBe(LONG_AGO);
    }
  },

  "a hook cannot choose the generation of a new object": async (api) => {
    await mutateWith(api, set("generation", 77));
    const policy = { metadata: { name: "a" }, spec: { podSelector: {} } };
    (await api.post("networking.k8s.io/v1/networkpolicies", policy)).gives(201).has("metadata.generation", 1);
  },

  "a hook cannot choose the resourceVersion of a new object": async (api) => {
    await mutateWith(api, set("resourceVersion", "7"));
    const refused = "resourceVersion should not be set on objects to be created";
    (await api.post("configmaps", configMap("a"))).refuses(500, undefined, refused);
  },

  "a hook cannot move a new object into another namespace": async (api) => {
    await mutateWith(api, set("namespace", "kube-system"));
    const refused = "the namespace of the provided object does not match the namespace sent on the request";
    (await api.post("configmaps", configMap("a"))).refuses(400, "BadRequest", refused);
  },

  "a hook cannot start the deletion of an object by an update": async (api) => {
    const { after } = await updated(api, set("deletionTimestamp", LONG_AGO));
    after.refuses(422, "Invalid", `ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "${LONG_AGO}": ${IMMUTABLE}`);
    (await api.get("configmaps/a")).gives(200).has("metadata.deletionTimestamp", undefined);
  },

  "a hook cannot set a grace period by an update": async (api) => {
    const { after } = await updated(api, set("deletionGracePeriodSeconds", 5));
    after.refuses(422, "Invalid", `ConfigMap "a" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 5: ${IMMUTABLE}`);
  },

  "a hook can neither cancel nor delay a deletion": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: ["contracts.test/keep"] }));
    const terminating = (await api.delete("configmaps/a")).gives(200);
    await mutateWith(api, set("deletionTimestamp", "2999-01-01T00:00:00Z"), drop("deletionGracePeriodSeconds"));
    const after = await api.mergePatch("configmaps/a", { data: { x: "1" } });
    after.gives(200).has("metadata.deletionTimestamp", terminating.textAt("metadata.deletionTimestamp"));
    after.has("metadata.deletionGracePeriodSeconds", 0);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
    (await api.get("configmaps/a")).gives(404);
  },

  "a hook cannot change the uid of an object": async (api) => {
    const { after } = await updated(api, set("uid", UID));
    after.refuses(422, "Invalid", `ConfigMap "a" is invalid: metadata.uid: Invalid value: "${UID}": ${IMMUTABLE}`);
  },

  "a hook cannot rename an object": async (api) => {
    const { after } = await updated(api, set("name", "b"));
    after.refuses(422, "Invalid", `ConfigMap "b" is invalid: metadata.name: Invalid value: "b": ${IMMUTABLE}`);
    (await api.get("configmaps/b")).gives(404);
  },

  "metadata that a hook removes is restored": async (api) => {
    const { before, after } = await updated(api, drop("uid"), drop("creationTimestamp"), drop("resourceVersion"), set("generation", 77));
    after.gives(200).has("metadata.uid", before.textAt("metadata.uid")).has("metadata.generation", undefined);
    after.has("metadata.creationTimestamp", before.textAt("metadata.creationTimestamp"));
  },

  "a hook cannot change creationTimestamp and selfLink": async (api) => {
    const { before, after } = await updated(api, set("creationTimestamp", LONG_AGO), set("selfLink", "/x"));
    after.gives(200).has("metadata.creationTimestamp", before.textAt("metadata.creationTimestamp")).has("metadata.selfLink", undefined);
  },

  "another resourceVersion from a hook is a conflict": async (api) => {
    const { after } = await updated(api, set("resourceVersion", "1"));
    after.gives(409, { reason: "Conflict" });
  },

  "invalid managedFields of a hook are reverted": async (api) => {
    const { before, after } = await updated(api, set("managedFields", [{ manager: "x", operation: "Steal", apiVersion: "v1" }]));
    after.gives(200).has("metadata.managedFields", before.at("metadata.managedFields"));
    expect(after.warnings[0]).toContain(".metadata.managedFields was in an invalid state after admission");
  },

  "a hook cannot write the status through the main resource": async (api) => {
    const healthy = { disruptionsAllowed: 7, currentHealthy: 3, desiredHealthy: 1, expectedPods: 1 };
    await mutateWith(api, { op: "add", path: "/status", value: healthy });
    const made = await api.post("policy/v1/poddisruptionbudgets", { metadata: { name: "a" }, spec: {} });
    made.gives(201).has("status.disruptionsAllowed", 0).has("status.currentHealthy", 0);
    const after = await api.mergePatch("policy/v1/poddisruptionbudgets/a", { spec: { minAvailable: 1 } });
    after.gives(200).has("status.disruptionsAllowed", 0).has("status.currentHealthy", 0);
  },

  "a hook cannot change the metadata of custom objects either": async (api) => {
    const things = new Things(api);
    await things.define([v1({ type: "object" }, { subresources: { status: {} } })]);
    (await things.post("a", {})).gives(201);
    await mutateWith(api, set("deletionTimestamp", LONG_AGO));
    const path = `${things.path}/a`;
    const wanted = `metadata.deletionTimestamp: Invalid value: "${LONG_AGO}": ${IMMUTABLE}`;
    (await api.mergePatch(path, { metadata: { labels: { x: "1" } } })).gives(422, { message: expect.stringContaining(wanted) });
    const status = await api.mergePatch(`${path}/status`, { status: { x: "1" } });
    status.gives(200).has("metadata.deletionTimestamp", undefined).has("status", { x: "1" });
  },
});
