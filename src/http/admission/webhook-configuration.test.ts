import { describe, expect, test } from "vitest";
import { field, fieldAt, type Json } from "#kube";
import { MAX_CONDITION_LENGTH, webhookConfiguration, type WebhookConfigurationInput } from "./webhook-configuration.ts";

const input: WebhookConfigurationInput = {
  name: "lattice-workload-patches",
  targets: [
    { namespace: "shop", name: "web" },
    { namespace: "bank", name: "api" },
    { namespace: "shop", name: "api" },
  ],
  address: { kind: "url", host: "127.0.0.1", port: 9_443 },
  trust: "PEM",
};
const hooksOf = (given: Partial<WebhookConfigurationInput>): readonly Json[] => {
  const webhooks = field(webhookConfiguration({ ...input, ...given }), "webhooks");
  return Array.isArray(webhooks) ? (webhooks as readonly Json[]) : [];
};
const hookOf = (given: Partial<WebhookConfigurationInput>): Json | undefined => hooksOf(given)[0];
const conditionOf = (hook: Json | undefined) => {
  const conditions = field(hook, "matchConditions");
  return Array.isArray(conditions) ? field(conditions[0], "expression") : undefined;
};
const many = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => ({ namespace: "shop", name: `${at}`.padStart(length, "a") }));

describe("the webhook configuration of Deployments", () => {
  test("does not exist without targets", () => {
    expect(webhookConfiguration({ ...input, targets: [] })).toBeUndefined();
  });

  test("is the same for the same targets in any order", () => {
    expect(webhookConfiguration({ ...input, targets: input.targets.toReversed() })).toEqual(webhookConfiguration(input));
  });

  test.each<{ name: string; given: Partial<WebhookConfigurationInput>; want: Json }>([
    { name: "a URL", given: {}, want: { url: "https://127.0.0.1:9443/mutate/deployments", caBundle: "UEVN" } },
    {
      name: "a URL with an IPv6 address",
      given: { address: { kind: "url", host: "::1", port: 1 } },
      want: { url: "https://[::1]:1/mutate/deployments", caBundle: "UEVN" },
    },
    {
      name: "a Service",
      given: { address: { kind: "service", namespace: "lattice-system", name: "lattice-webhook" } },
      want: { service: { namespace: "lattice-system", name: "lattice-webhook", path: "/mutate/deployments", port: 443 }, caBundle: "UEVN" },
    },
  ])("reaches the webhook by $name", ({ given, want }) => {
    expect(fieldAt(hookOf(given), "clientConfig")).toEqual(want);
  });

  test("selects the namespaces and the names of its targets", () => {
    const hook = hookOf({});
    expect(fieldAt(hook, "namespaceSelector", "matchExpressions")).toEqual([
      { key: "kubernetes.io/metadata.name", operator: "In", values: ["bank", "shop"] },
    ]);
    expect(conditionOf(hook)).toBe('request.namespace + "/" + request.name in ["bank/api","shop/api","shop/web"]');
  });

  test("selects updates of Deployments with the label first, and creations, which have none yet, by name alone", () => {
    const hooks = hooksOf({});
    expect(hooks).toMatchObject([
      { rules: [{ operations: ["CREATE"] }], objectSelector: {} },
      { rules: [{ operations: ["UPDATE"] }], objectSelector: { matchExpressions: [{ key: "lattice.dev/patched", operator: "Exists" }] } },
    ]);
    expect(hooks.map(conditionOf)).toEqual([conditionOf(hookOf({})), conditionOf(hookOf({}))]);
  });

  test("has a condition for a thousand names, and none for more than an API server accepts", () => {
    const thousand = conditionOf(hookOf({ targets: many(1_000, 40) }));
    expect(typeof thousand === "string" && thousand.length <= MAX_CONDITION_LENGTH).toBe(true);
    expect(conditionOf(hookOf({ targets: many(1_000, 250) }))).toBeUndefined();
    expect(fieldAt(hookOf({ targets: many(1_000, 250) }), "namespaceSelector", "matchExpressions")).toMatchObject([{ values: ["shop"] }]);
  });
});
