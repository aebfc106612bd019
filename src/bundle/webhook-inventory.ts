/**
 * Which certificates the webhooks of a new cluster use, and which objects contain the authority that signed them: data for the operator of the cluster, which
 * renews them, and the rights that it needs for that. The rights name every object, so that they cannot be used for other definitions and webhooks. Pure.
 */
import { err, ok, type Result } from "#base";
import { field, formatYamlDocuments, isJsonObject, parseYaml, type ConfigMap, type Json, type KubeObject } from "#kube";

/** Name of the ConfigMap, and of the roles. */
export const WEBHOOK_INVENTORY = "lattice-webhook-certificates";
const KEY = "webhooks.yaml";
const KINDS = ["CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] as const;

export function isClientKind(kind: string): kind is WebhookClient["kind"] {
  return KINDS.some((one) => one === kind);
}

/** An object with a `caBundle`. */
export type WebhookClient = { readonly kind: (typeof KINDS)[number]; readonly name: string };

/** A Secret with a server certificate, and the objects whose requests it serves. */
export type WebhookInventoryEntry = {
  readonly namespace: string;
  readonly secretName: string;
  readonly dnsNames: readonly string[];
  readonly clients: readonly WebhookClient[];
};

export type InventoryReader = { readonly namespace: string; readonly serviceAccount: string };

/** Nothing, when there are no webhooks. */
export function webhookInventoryObjects(entries: readonly WebhookInventoryEntry[], reader: InventoryReader): readonly KubeObject[] {
  if (entries.length === 0) return [];
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: WEBHOOK_INVENTORY, namespace: reader.namespace } };
  const text = formatYamlDocuments(entries.map((entry) => ({ ...entry, clients: entry.clients.map((client) => ({ ...client })) })));
  return [...clusterRole(entries, reader), ...secretRoles(entries, reader), Object.assign(map, { data: { [KEY]: text } })];
}

export function parseWebhookInventory({ data }: ConfigMap): Result<readonly WebhookInventoryEntry[], string> {
  const text = data?.[KEY];
  if (text === undefined) return err(`ConfigMap ${WEBHOOK_INVENTORY} has no key ${KEY}`);
  const documents = parseYaml(text);
  if (!documents.ok) return err(`ConfigMap ${WEBHOOK_INVENTORY}: ${KEY} is not YAML`);
  const entries: WebhookInventoryEntry[] = [];
  for (const [index, document] of documents.value.entries()) {
    const entry = entryOf(document);
    if (entry === undefined)
      return err(`ConfigMap ${WEBHOOK_INVENTORY}: document ${index + 1} of ${KEY} needs namespace, secretName, dnsNames and clients`);
    entries.push(entry);
  }
  return ok(entries);
}

function entryOf(document: Json): WebhookInventoryEntry | undefined {
  const [namespace, secretName, names, listed] = ["namespace", "secretName", "dnsNames", "clients"].map((key) => field(document, key));
  if (typeof namespace !== "string" || typeof secretName !== "string" || !Array.isArray(names) || !Array.isArray(listed)) return undefined;
  const dnsNames = names.filter((name) => typeof name === "string");
  const clients = listed.flatMap(clientOf);
  if (clients.length !== listed.length || dnsNames.length !== names.length || dnsNames.length === 0) return undefined;
  return { namespace, secretName, dnsNames, clients };
}

function clientOf(value: Json): readonly WebhookClient[] {
  const name = field(value, "name");
  const kind = KINDS.find((one) => one === field(value, "kind"));
  return isJsonObject(value) && kind !== undefined && typeof name === "string" ? [{ kind, name }] : [];
}

const RBAC = "rbac.authorization.k8s.io";
const RESOURCES: Readonly<Record<WebhookClient["kind"], readonly [group: string, resource: string]>> = {
  CustomResourceDefinition: ["apiextensions.k8s.io", "customresourcedefinitions"],
  MutatingWebhookConfiguration: ["admissionregistration.k8s.io", "mutatingwebhookconfigurations"],
  ValidatingWebhookConfiguration: ["admissionregistration.k8s.io", "validatingwebhookconfigurations"],
};

function clusterRole(entries: readonly WebhookInventoryEntry[], reader: InventoryReader): readonly KubeObject[] {
  const clients = entries.flatMap((entry) => entry.clients);
  const rules = KINDS.flatMap((kind) => {
    const resourceNames = [...new Set(clients.filter((client) => client.kind === kind).map(({ name }) => name))];
    const [group, resource] = RESOURCES[kind];
    return resourceNames.length === 0 ? [] : [{ apiGroups: [group], resources: [resource], resourceNames, verbs: ["get", "patch"] }];
  });
  return roleAndBinding({ kind: "ClusterRole", rules }, reader);
}

function secretRoles(entries: readonly WebhookInventoryEntry[], reader: InventoryReader): readonly KubeObject[] {
  const namespaces = [...new Set(entries.map(({ namespace }) => namespace))];
  return namespaces.flatMap((namespace) => {
    const resourceNames = entries.filter((entry) => entry.namespace === namespace).map(({ secretName }) => secretName);
    const rules = [{ apiGroups: [""], resources: ["secrets"], resourceNames, verbs: ["get", "patch"] }];
    return roleAndBinding({ kind: "Role", rules, namespace }, reader);
  });
}

type RoleContent = { readonly kind: "Role" | "ClusterRole"; readonly namespace?: string; readonly rules: Json };

function roleAndBinding({ kind, namespace, rules }: RoleContent, reader: InventoryReader): readonly KubeObject[] {
  const metadata = { name: WEBHOOK_INVENTORY, ...(namespace === undefined ? {} : { namespace }) };
  const roleRef = { apiGroup: RBAC, kind, name: WEBHOOK_INVENTORY };
  const subjects = [{ kind: "ServiceAccount", name: reader.serviceAccount, namespace: reader.namespace }];
  return [
    Object.assign({ apiVersion: `${RBAC}/v1`, kind, metadata }, { rules }),
    Object.assign({ apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata }, { roleRef, subjects }),
  ];
}
