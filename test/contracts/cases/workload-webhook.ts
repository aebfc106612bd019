/** The webhook configuration for Deployments that services refer to: which requests reach the webhook, and how many names it can have. */
import { expect } from "vitest";
import { webhookConfiguration } from "#http";
import { patchRequest, type WorkloadTarget } from "#workload-patch";
import { field, fieldAt, isJsonObject, type JsonObject } from "#kube";
import type { Api } from "../client/api.ts";
import type { Hook, Review } from "../client/hook-host.ts";
import { area } from "../contract.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const DRY = "?dryRun=All";
/** The most characters of an expression that a server accepts. */
const EXPRESSION_LIMIT = 100_000;

const allow = ({ apiVersion, kind, request }: Review) => ({ apiVersion, kind, response: { uid: request["uid"], allowed: true } });

function deployment(metadata: object): object {
  const labels = { app: "a" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.test/a:1" }] } };
  return { metadata, spec: { replicas: 0, selector: { matchLabels: labels }, template } };
}

function configurationFor(api: Api, targets: readonly WorkloadTarget[], hook: Hook): object {
  const address = { kind: "url", host: "127.0.0.1", port: 1 } as const;
  const made = webhookConfiguration({ name: `workload-${api.id}`, targets, address, trust: "" });
  const webhooks = made === undefined ? [] : webhooksOf(made);
  return { ...made, webhooks: webhooks.map((one) => ({ ...one, clientConfig: hook.clientConfig, timeoutSeconds: 10 })) };
}

function webhooksOf(configuration: unknown): readonly JsonObject[] {
  const webhooks = field(configuration, "webhooks");
  return Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
}

/** Registers the hook, and waits until it is called for its first target. */
async function register(api: Api, targets: readonly WorkloadTarget[]): Promise<Hook> {
  const hook = api.hook(allow);
  await api.created(CONFIGURATIONS, configurationFor(api, targets, hook));
  await api.until(
    () => api.post(`apps/v1/deployments${DRY}`, deployment({ name: targets[0]?.name })),
    () => hook.calls.length > 0,
  );
  return hook;
}

/** The names and operations of the calls since `from`. */
/** Without repetitions: a patch whose object has changed meanwhile, by a controller, is reviewed again. */
const callsSince = (hook: Hook, from: number) =>
  hook.calls
    .slice(from)
    .map(({ request }) => `${request["operation"] === "CREATE" ? "CREATE" : "UPDATE"} ${JSON.stringify(request["name"])}`)
    .filter((call, at, all) => call !== all[at - 1]);

const inNamespace = (api: Api, count: number, name: (at: number) => string): readonly WorkloadTarget[] =>
  Array.from({ length: count }, (_, at) => ({ namespace: api.namespace, name: name(at) }));

export const workloadWebhook = area("the webhook of workload patches", {
  "only creations, and updates with the label, of referenced Deployments are reviewed": async (api) => {
    const hook = await register(api, [
      ...inNamespace(api, 2, (at) => `web-${at}`),
      { namespace: "elsewhere", name: "other" },
      { namespace: "elsewhere", name: "web.2" },
    ]);
    const before = hook.calls.length;
    const path = "apps/v1/deployments";
    (await api.post(path, deployment({ name: "web-1" }))).gives(201);
    (await api.post(path, deployment({ name: "other" }))).gives(201);
    (await api.post(path, deployment({ name: "web-10" }))).gives(201);
    (await api.post(path + DRY, deployment({ generateName: "web-" }))).gives(201);
    (await api.mergePatch(`${path}/web-1`, { metadata: { labels: { a: "b" } } })).gives(200);
    const unselected = callsSince(hook, before);
    (await api.mergePatch(`${path}/web-1`, patchRequest("1"))).gives(200);
    const requested = hook.calls.length;
    // the old object has the label still
    (await api.mergePatch(`${path}/web-1`, { metadata: { labels: { "lattice.dev/patched": null } } })).gives(200);
    expect(hook.calls.length).toBeGreaterThan(requested);
    (await api.mergePatch(`${path}/other`, patchRequest("1"))).gives(200);
    (
      await api.apply("me", `${path}/web-0${DRY.replace("?", "?x=1&")}`, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        ...deployment({ name: "web-0" }),
      })
    ).gives(201);
    (await api.mergePatch(`${path}/web-1/scale`, { spec: { replicas: 0 } })).gives(200);
    (await api.mergePatch(`${path}/web-1/status`, { status: { observedGeneration: 1 } })).gives(200);
    (await api.post(`apps/v1/replicasets${DRY}`, deployment({ name: "web-1" }))).gives(201);
    (await api.delete(`${path}/web-1`)).gives(200);
    expect(unselected).toEqual(['CREATE "web-1"']);
    expect(callsSince(hook, before)).toEqual(['CREATE "web-1"', 'UPDATE "web-1"', 'CREATE "web-0"']);
  },

  "a referenced name in another namespace is not reviewed": async (api) => {
    const other = `${api.namespace}-2`;
    (await api.post("/api/v1/namespaces", { metadata: { name: other } })).gives(201);
    const hook = await register(api, [
      { namespace: api.namespace, name: "a" },
      { namespace: other, name: "b" },
    ]);
    const before = hook.calls.length;
    const path = `/apis/apps/v1/namespaces/${other}/deployments${DRY}`;
    (await api.send("POST", path, deployment({ name: "a" }))).gives(201);
    (await api.send("POST", path, deployment({ name: "b" }))).gives(201);
    (await api.post(`apps/v1/deployments${DRY}`, deployment({ name: "b" }))).gives(201);
    expect(callsSince(hook, before)).toEqual(['CREATE "b"']);
    expect(fieldAt(hook.calls.at(-1)?.request, "namespace")).toBe(other);
  },

  "a thousand names are accepted, and each of them is matched": async (api) => {
    const hook = await register(
      api,
      inNamespace(api, 1_000, (at) => `a-service-of-the-shop-${at}`),
    );
    const before = hook.calls.length;
    for (const name of ["a-service-of-the-shop-999", "a-service-of-the-shop-1000", "a-service-of-the-shop-500"])
      (await api.post(`apps/v1/deployments${DRY}`, deployment({ name }))).gives(201);
    expect(callsSince(hook, before)).toEqual(['CREATE "a-service-of-the-shop-999"', 'CREATE "a-service-of-the-shop-500"']);
  },

  "with more names than a condition can have, all Deployments of the namespaces are reviewed": async (api) => {
    const hook = await register(
      api,
      inNamespace(api, 5_000, (at) => `a-service-of-the-shop-${at}`),
    );
    const before = hook.calls.length;
    (await api.post(`apps/v1/deployments${DRY}`, deployment({ name: "not-referenced" }))).gives(201);
    expect(callsSince(hook, before)).toEqual(['CREATE "not-referenced"']);
  },

  "an expression of 100,000 characters is accepted, and a longer one is refused": async (api) => {
    const hook = api.hook(allow);
    const configured = configurationFor(
      api,
      inNamespace(api, 1, () => "a"),
      hook,
    );
    const ofLength = (length: number) => {
      const [head, tail] = ['request.name == "', '"'];
      const expression = head + "x".repeat(length - head.length - tail.length) + tail;
      return { ...configured, webhooks: webhooksOf(configured).map((one) => ({ ...one, matchConditions: [{ name: "a", expression }] })) };
    };
    (await api.post(CONFIGURATIONS + DRY, ofLength(EXPRESSION_LIMIT))).gives(201);
    (await api.post(CONFIGURATIONS + DRY, ofLength(EXPRESSION_LIMIT + 1))).gives(422);
  },
});
