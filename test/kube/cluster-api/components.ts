/**
 * The components of a Cluster API provider as `clusterctl init` installs them, for managers that run as processes: CRDs, namespaces, RBAC and
 * webhooks stay; Deployments, Services and certificates are left out, and webhooks are called by URL.
 */
import { expectOk } from "#base";
import { parseYaml, type KubeObject } from "#kube";

export type CapiProvider = {
  /** In the inventory of clusterctl. */
  readonly name: "cluster-api" | "bootstrap-kubeadm" | "control-plane-kubeadm" | "infrastructure-docker";
  readonly type: "CoreProvider" | "BootstrapProvider" | "ControlPlaneProvider" | "InfrastructureProvider";
  readonly version: string;
  readonly namespace: string;
};

export type WebhookEndpoint = { readonly port: number; readonly caPem: string };

type Mutable = Record<string, unknown>;
type ClientConfig = Mutable & { service?: { path?: string } | undefined };

const LEFT_OUT: ReadonlySet<string> = new Set(["Deployment", "Service", "Certificate", "Issuer"]);
const FIRST: readonly string[] = ["Namespace", "CustomResourceDefinition"];

/** `kustomized`: the output of `kubectl kustomize`. Namespaces and CRDs come first. */
export function capiComponents(kustomized: string, provider: CapiProvider, webhook: WebhookEndpoint): readonly KubeObject[] {
  const text = kustomized.replaceAll(/\$\{[A-Z_0-9]+:=([^}]*)\}/g, "$1");
  const objects = expectOk(parseYaml(text)) as unknown as readonly Mutable[];
  const kept = objects.filter(({ kind }) => !LEFT_OUT.has(String(kind))).map((object) => adapt(object, provider, webhook));
  const position = ({ kind }: KubeObject) => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
  return [...kept.toSorted((a, b) => position(a) - position(b)), inventoryOf(provider)];
}

function adapt(object: Mutable, provider: CapiProvider, webhook: WebhookEndpoint): KubeObject {
  const metadata = object["metadata"] as { labels?: Record<string, string>; annotations?: Record<string, string> };
  metadata.labels = { ...metadata.labels, "cluster.x-k8s.io/provider": provider.name, "clusterctl.cluster.x-k8s.io": "" };
  if (metadata.annotations !== undefined) Reflect.deleteProperty(metadata.annotations, "cert-manager.io/inject-ca-from");
  for (const { clientConfig } of (object["webhooks"] ?? []) as readonly { clientConfig: ClientConfig }[]) callByUrl(clientConfig, webhook);
  const conversion = (object["spec"] as { conversion?: { webhook?: { clientConfig?: ClientConfig } } } | undefined)?.conversion;
  if (conversion?.webhook?.clientConfig !== undefined) callByUrl(conversion.webhook.clientConfig, webhook);
  return object as unknown as KubeObject;
}

function callByUrl(config: ClientConfig, { port, caPem }: WebhookEndpoint): void {
  config["url"] = `https://127.0.0.1:${port}${config.service?.path ?? ""}`;
  config["caBundle"] = Buffer.from(caPem).toString("base64");
  delete config.service;
}

function inventoryOf({ name, type, version, namespace }: CapiProvider): KubeObject {
  const labels = {
    "clusterctl.cluster.x-k8s.io": "",
    "clusterctl.cluster.x-k8s.io/core": "inventory",
    "cluster.x-k8s.io/provider": name,
  };
  const providerName = name.replace(/^(?:bootstrap|control-plane|infrastructure)-/, "");
  const inventory = { apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3", kind: "Provider", metadata: { name, namespace, labels } };
  return { ...inventory, providerName, type, version: `v${version}` } as KubeObject;
}
