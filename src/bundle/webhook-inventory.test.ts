import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { ConfigMap } from "#kube";
import { parseWebhookInventory, WEBHOOK_INVENTORY, webhookInventoryObjects, type WebhookInventoryEntry } from "./webhook-inventory.ts";

const OPERATOR = { namespace: "lattice-system", serviceAccount: "lattice-operator" };
const entry = (namespace: string, ...clients: WebhookInventoryEntry["clients"]): WebhookInventoryEntry => ({
  namespace,
  secretName: `${namespace}-cert`,
  dnsNames: [`${namespace}.svc`],
  clients,
});
const crd = { kind: "CustomResourceDefinition", name: "as.x.dev" } as const;
const hook = { kind: "ValidatingWebhookConfiguration", name: "v" } as const;
const entries = [entry("a", crd, hook), entry("b", crd)];
const objects = webhookInventoryObjects(entries, OPERATOR);
const withText = (text: string) => ({ metadata: { name: "x" }, data: { "webhooks.yaml": text } }) as unknown as ConfigMap;

describe("the inventory of webhooks", () => {
  test("is read as it was written", () => {
    expect(expectOk(parseWebhookInventory(objects.at(-1) as ConfigMap))).toEqual(entries);
  });

  test("comes with rights for its objects by name, and for no others", () => {
    const rules = objects.flatMap((object) => ("rules" in object ? [[object.kind, object.metadata.namespace, object.rules]] : []));
    const secretsOf = (name: string) => [{ apiGroups: [""], resources: ["secrets"], resourceNames: [name], verbs: ["get", "patch"] }];
    const named = (group: string, resource: string, name: string) => ({
      apiGroups: [group],
      resources: [resource],
      resourceNames: [name],
      verbs: ["get", "patch"],
    });
    expect(rules).toEqual([
      [
        "ClusterRole",
        undefined,
        [
          named("apiextensions.k8s.io", "customresourcedefinitions", "as.x.dev"),
          named("admissionregistration.k8s.io", "validatingwebhookconfigurations", "v"),
        ],
      ],
      ["Role", "a", secretsOf("a-cert")],
      ["Role", "b", secretsOf("b-cert")],
    ]);
    const bindings = objects.filter(({ kind }) => kind.endsWith("Binding"));
    expect(bindings).toHaveLength(3);
    expect(bindings).toMatchObject(
      bindings.map(({ kind }) => ({
        roleRef: { kind: kind.replace("Binding", ""), name: WEBHOOK_INVENTORY },
        subjects: [{ kind: "ServiceAccount", name: "lattice-operator", namespace: "lattice-system" }],
      })),
    );
  });

  test("is absent without webhooks", () => {
    expect(webhookInventoryObjects([], OPERATOR)).toEqual([]);
  });

  test.each([
    { name: "no key", map: { metadata: { name: "x" } } as ConfigMap, want: "has no key webhooks.yaml" },
    { name: "no YAML", map: withText("a: ["), want: "webhooks.yaml is not YAML" },
    { name: "a document without its fields", map: withText("namespace: a"), want: "document 1 of webhooks.yaml needs namespace" },
    {
      name: "a client of another kind",
      map: withText("namespace: a\nsecretName: b\ndnsNames: [c]\nclients: [{kind: Secret, name: d}]"),
      want: "document 1 of webhooks.yaml needs namespace",
    },
    {
      name: "no names for the certificate",
      map: withText("namespace: a\nsecretName: b\ndnsNames: []\nclients: []"),
      want: "document 1 of webhooks.yaml needs namespace",
    },
  ])("with $name is refused", ({ map, want }) => {
    expect(parseWebhookInventory(map)).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
  });
});
