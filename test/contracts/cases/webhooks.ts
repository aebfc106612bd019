/** Admission webhooks. The hooks of a contract match its own namespace only. */
import { expect } from "vitest";
import { fieldAt } from "#kube";
import type { Api } from "../client/api.ts";
import type { Hook, Review } from "../client/hook-host.ts";
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";

const allow = (review: Review, more: object = {}) => ({
  apiVersion: review.apiVersion,
  kind: review.kind,
  response: { uid: review.request["uid"], allowed: true, ...more },
});
const deny = (review: Review, status?: object) => allow(review, { allowed: false, ...(status === undefined ? {} : { status }) });
const patch = (review: Review, operations: readonly object[]) =>
  allow(review, { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") });

const hookOf = (api: Api, hook: Hook, more: object = {}) => ({
  name: `hook.${api.id}.contracts.test`,
  clientConfig: hook.clientConfig,
  rules: [{ operations: ["CREATE", "UPDATE", "DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": api.namespace } },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  timeoutSeconds: 5,
  ...more,
});

/** Registers hooks and waits until the first of them is called. */
async function register(api: Api, kind: "mutating" | "validating", hooks: readonly object[], called?: () => boolean): Promise<void> {
  await api.created(`${REGISTRATION}/${kind}webhookconfigurations`, { metadata: { name: `hooks-${api.id}` }, webhooks: hooks });
  if (called === undefined) return;
  await api.until(() => api.post("configmaps?dryRun=All", configMap("probe")), called);
}
const calls = (hook: Hook, name: string) => hook.calls.filter(({ request }) => request["name"] === name);

export const webhooks = area("webhooks", {
  "a validating hook gets the complete AdmissionReview": async (api) => {
    const hook = api.hook((review) => allow(review));
    await register(api, "validating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps?fieldManager=me", configMap("a", { x: "1" }))).gives(201);
    const [call] = calls(hook, "a");
    expect(call).toMatchObject({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        kind: { group: "", version: "v1", kind: "ConfigMap" },
        resource: { group: "", version: "v1", resource: "configmaps" },
        requestKind: { group: "", version: "v1", kind: "ConfigMap" },
        requestResource: { group: "", version: "v1", resource: "configmaps" },
        name: "a",
        namespace: api.namespace,
        operation: "CREATE",
        userInfo: { username: "admin", groups: ["system:masters", "system:authenticated"] },
        object: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", namespace: api.namespace }, data: { x: "1" } },
        oldObject: null,
        dryRun: false,
        options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "me" },
      },
    });
  },

  "a denial without a status is a bad request": async (api) => {
    const hook = api.hook((review) => deny(review));
    await register(api, "validating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).refuses(
      400,
      undefined,
      `admission webhook "hook.${api.id}.contracts.test" denied the request without explanation`,
    );
    (await api.get("configmaps/a")).gives(404);
  },

  "a denial has the message, code and reason of the hook": async (api) => {
    const hook = api.hook((review) => deny(review, { message: "not today", code: 418, reason: "Teapot" }));
    await register(api, "validating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).refuses(
      418,
      "Teapot",
      `admission webhook "hook.${api.id}.contracts.test" denied the request: not today`,
    );
  },

  "a mutating hook changes the object before it is stored": async (api) => {
    const hook = api.hook((review) => patch(review, [{ op: "add", path: "/metadata/labels", value: { hooked: "yes" } }]));
    await register(api, "mutating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).gives(201, { metadata: { labels: { hooked: "yes" } } });
    (await api.get("configmaps/a")).has("metadata.labels", { hooked: "yes" });
  },

  "an object that a hook has changed is validated": async (api) => {
    const hook = api.hook((review) => patch(review, [{ op: "add", path: "/data", value: { "bad key": "1" } }]));
    await register(api, "mutating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).gives(422, { reason: "Invalid" });
  },

  "a malformed patch of a hook is a server error": async (api) => {
    const hook = api.hook((review) => allow(review, { patchType: "JSONPatch", patch: Buffer.from("nonsense").toString("base64") }));
    await register(api, "mutating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).gives(500, { reason: "InternalError" });
  },

  "reviews of updates and deletions have the old object": async (api) => {
    const hook = api.hook((review) => allow(review));
    await register(api, "validating", [hookOf(api, hook)], () => hook.calls.length > 0);
    await api.post("configmaps", configMap("a", { x: "1" }));
    await api.mergePatch("configmaps/a", { data: { x: "2" } });
    await api.delete("configmaps/a");
    const seen = calls(hook, "a").map(({ request }) => [
      request["operation"],
      fieldAt(request["oldObject"], "data", "x"),
      fieldAt(request["object"], "data", "x"),
    ]);
    expect(seen).toEqual([
      ["CREATE", undefined, "1"],
      ["UPDATE", "1", "2"],
      ["DELETE", "2", undefined],
    ]);
  },

  "the review of a dry run has dryRun set": async (api) => {
    const hook = api.hook((review) => allow(review));
    await register(api, "validating", [hookOf(api, hook)], () => hook.calls.length > 0);
    expect(calls(hook, "probe")[0]?.request["dryRun"]).toBe(true);
  },

  "a dry run that would call a hook with side effects is rejected": async (api) => {
    const hook = api.hook((review) => allow(review));
    await register(
      api,
      "validating",
      [hookOf(api, hook, { sideEffects: "NoneOnDryRun" }), hookOf(api, hook, { name: `second.${api.id}.contracts.test` })],
      () => hook.calls.length > 0,
    );
    (
      await api.post(`${REGISTRATION}/validatingwebhookconfigurations`, {
        metadata: { name: `bad-${api.id}` },
        webhooks: [hookOf(api, hook, { sideEffects: "Some" })],
      })
    ).gives(422, { reason: "Invalid" });
  },

  "failurePolicy decides whether a failed hook rejects the request": async (api) => {
    const broken = api.hook(() => ({ rawStatus: 500, text: "broken" }));
    await register(api, "validating", [hookOf(api, broken, { failurePolicy: "Fail" })], () => broken.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).refuses(
      500,
      "InternalError",
      expect.stringContaining(`Internal error occurred: failed calling webhook "hook.${api.id}.contracts.test": `),
    );
    await api.mergePatch(`${REGISTRATION}/validatingwebhookconfigurations/hooks-${api.id}`, {
      webhooks: [hookOf(api, broken, { failurePolicy: "Ignore" })],
    });
    await api.until(
      () => api.post("configmaps", configMap("b")),
      ({ status }) => status !== 500,
    );
    (await api.get("configmaps/b")).gives(200);
  },

  "a response with another uid is invalid": async (api) => {
    const liar = api.hook((review) => allow(review, { uid: "x" }));
    await register(api, "validating", [hookOf(api, liar)], () => liar.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).gives(500, { reason: "InternalError" });
  },

  "warnings of a hook are returned to the client": async (api) => {
    const hook = api.hook((review) => allow(review, { warnings: ["mind the gap", "twice"] }));
    await register(api, "validating", [hookOf(api, hook)], () => hook.calls.length > 0);
    (await api.post("configmaps", configMap("a"))).gives(201).warns("mind the gap", "twice");
  },

  "selectors decide for which objects a hook is called": async (api) => {
    const hook = api.hook((review) => deny(review, { message: "no" }));
    await register(api, "validating", [hookOf(api, hook, { objectSelector: { matchLabels: { guarded: "yes" } } })]);
    await api.until(
      () => api.post("configmaps?dryRun=All", configMap("probe", {}, { labels: { guarded: "yes" } })),
      () => hook.calls.length > 0,
    );
    (await api.post("configmaps", configMap("a"))).gives(201);
    (await api.post("configmaps", configMap("b", {}, { labels: { guarded: "yes" } }))).gives(400);
    (await api.mergePatch("configmaps/a", { metadata: { labels: { guarded: "yes" } } })).gives(400);
  },

  "match conditions are evaluated before the call": async (api) => {
    const hook = api.hook((review) => deny(review));
    const matchConditions = [{ name: "only-guarded", expression: "object.metadata.name.startsWith('guarded')" }];
    await register(api, "validating", [
      hookOf(api, hook, {
        matchConditions,
        rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      }),
    ]);
    await api.until(
      () => api.post("configmaps?dryRun=All", configMap("guarded-probe")),
      () => hook.calls.length > 0,
    );
    (await api.post("configmaps", configMap("free"))).gives(201);
    (await api.post("configmaps", configMap("guarded"))).gives(400);
  },

  "hooks are called in the order of their names, and again with reinvocationPolicy": async (api) => {
    const first = api.hook((review) =>
      fieldAt(review.request["object"], "data", "second") === undefined
        ? allow(review)
        : patch(review, [{ op: "add", path: "/data/again", value: "yes" }]),
    );
    const second = api.hook((review) => patch(review, [{ op: "add", path: "/data", value: { second: "1" } }]));
    await register(
      api,
      "mutating",
      [hookOf(api, first, { reinvocationPolicy: "IfNeeded" }), hookOf(api, second, { name: `second.${api.id}.contracts.test` })],
      () => second.calls.length > 0,
    );
    (await api.post("configmaps", configMap("a"))).gives(201).has("data", { second: "1", again: "yes" });
    expect(calls(first, "a").length).toBe(2);
  },

  "a hook is called for subresources that its rule names": async (api) => {
    const hook = api.hook((review) => allow(review));
    const rules = [{ operations: ["*"], apiGroups: ["policy"], apiVersions: ["*"], resources: ["poddisruptionbudgets/status"] }];
    await register(api, "validating", [hookOf(api, hook, { rules })]);
    await api.created("policy/v1/poddisruptionbudgets", { metadata: { name: "a" }, spec: { selector: {}, minAvailable: 1 } });
    await api.until(
      () =>
        api.mergePatch("policy/v1/poddisruptionbudgets/a/status?dryRun=All", { status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } } }),
      () => hook.calls.length > 0,
    );
    expect(hook.calls[0]?.request).toMatchObject({ subResource: "status", requestSubResource: "status", operation: "UPDATE" });
  },

  "an object is converted to the version that the hook matches": async (api) => {
    const hook = api.hook((review) => allow(review));
    const rules = [{ operations: ["CREATE"], apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["horizontalpodautoscalers"] }];
    await register(api, "validating", [hookOf(api, hook, { rules })]);
    const scaler = {
      metadata: { name: "a" },
      spec: { scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" }, maxReplicas: 3 },
    };
    await api.until(
      () => api.post("autoscaling/v2/horizontalpodautoscalers?dryRun=All", scaler),
      () => hook.calls.length > 0,
    );
    expect(hook.calls[0]?.request).toMatchObject({
      kind: { version: "v1" },
      requestKind: { version: "v2" },
      object: { apiVersion: "autoscaling/v1" },
    });
  },

  "a webhook configuration gets defaults": async (api) => {
    const hook = api.hook((review) => allow(review));
    const { timeoutSeconds: _, ...bare } = hookOf(api, hook);
    const made = await api.created(`${REGISTRATION}/mutatingwebhookconfigurations`, {
      metadata: { name: `hooks-${api.id}` },
      webhooks: [bare],
    });
    made.gives(201, {
      metadata: { generation: 1 },
      webhooks: [
        {
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          reinvocationPolicy: "Never",
          timeoutSeconds: 10,
          objectSelector: {},
          rules: [{ scope: "*" }],
        },
      ],
    });
  },

  "an invalid webhook configuration is rejected": async (api) => {
    const hook = api.hook((review) => allow(review));
    const bad = async (more: object) =>
      (
        await api.post(`${REGISTRATION}/validatingwebhookconfigurations?dryRun=All`, {
          metadata: { name: `bad-${api.id}` },
          webhooks: [hookOf(api, hook, more)],
        })
      ).status;
    expect(await bad({ name: "short" })).toBe(422);
    expect(await bad({ timeoutSeconds: 31 })).toBe(422);
    expect(await bad({ clientConfig: { url: "http://x.test" } })).toBe(422);
    expect(await bad({ admissionReviewVersions: ["v9"] })).toBe(422);
    expect(await bad({ matchConditions: [{ name: "x", expression: "object." }] })).toBe(422);
    expect(await bad({ rules: [{ operations: [], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }] })).toBe(422);
  },

  "a mutation during apply is not owned by the applier": async (api) => {
    const hook = api.hook((review) => patch(review, [{ op: "add", path: "/data/hooked", value: "yes" }]));
    await register(api, "mutating", [hookOf(api, hook)]);
    await api.until(
      () => api.post("configmaps?dryRun=All", configMap("probe", { x: "1" })),
      () => hook.calls.length > 0,
    );
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };
    const made = await api.apply("one", "configmaps/a", map);
    made.gives(201).has("data", { x: "1", hooked: "yes" });
    expect(made.at("metadata.managedFields.0.fieldsV1")).toEqual({ "f:data": { "f:x": {} } });
  },
});
