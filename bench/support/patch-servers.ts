/**
 * API servers with the same Deployments: one with the webhook of patch mode, one with a webhook that does nothing and the same configuration, one
 * without any. All of them, the webhooks and the client are in this process.
 */
import { expectOk, MetricsRegistry, silentLogger, systemClock } from "#base";
import { PatchIndex, reviewDeployments, startAdmissionServer, webhookConfiguration } from "#http";
import { deployments, field, namespaces, type Deployment, type JsonObject, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { builtinKinds, certificateFor, createApiServer, createMemoryStore, inProcessClient } from "#kube-server";
import { formatWorkloadPatch, workloadPatchName, type WorkloadPatch, type WorkloadTarget } from "#workload-patch";
import { inGroup } from "./guarded-servers.ts";
import { startBenchWebhook } from "./bench-webhook.ts";

export const DEPLOYMENTS = 10_000;
export const PATCHED = 1_000;
const NAMESPACES = 50;
const CONFIGURATIONS = inGroup("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations");

export type PatchServers = {
  readonly patching: KubeClient;
  readonly idle: KubeClient;
  readonly bare: KubeClient;
  readonly close: () => Promise<void>;
};

/** The first `PATCHED` are targets of services; each namespace has some of them, and nine times as many others. */
export function targetOf(at: number): WorkloadTarget {
  return { namespace: `team-${at % NAMESPACES}`, name: `deployment-${at}` };
}

/** As a chart makes it: three containers with ten variables each. */
export function ownersDeployment(at: number): Deployment {
  const { namespace, name } = targetOf(at);
  const labels = { app: name };
  const containers = ["main", "proxy", "metrics"].map((container) => ({
    name: container,
    image: `images.example/${container}:1`,
    env: Array.from({ length: 10 }, (_, number) => ({ name: `OPTION_${number}`, value: `value-${number}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
  }));
  const spec = { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name, labels }, spec };
}

function patchOf(target: WorkloadTarget): WorkloadPatch {
  const env = [{ name: "OPTION_3", value: "patched" }];
  const resources = { limits: { memory: "512Mi" } };
  const containers: JsonObject[] = [{ name: "main", env, resources }];
  const annotations = { "lattice.dev/config-hash": "0123456789abcdef" };
  return {
    version: 1,
    service: `${target.namespace}/${target.name}`,
    target,
    patch: { spec: { template: { metadata: { annotations }, spec: { containers } } } },
    envFrom: { main: [{ configMapRef: { name: `${target.name}-env` } }, { secretRef: { name: `${target.name}-env` } }] },
    variables: {},
  };
}

export async function startPatchServers(): Promise<PatchServers> {
  const targets = Array.from({ length: PATCHED }, (_, at) => targetOf(at));
  const [webhook, nothing] = [await startPatchWebhook(targets), await startBenchWebhook()];
  const configuration = webhookConfiguration({
    name: "bench",
    targets,
    address: { kind: "url", host: "127.0.0.1", port: webhook.port },
    trust: webhook.authority,
  });
  const clientConfig = { url: `${nothing.url}/nothing`, caBundle: nothing.caBundle };
  const [patching, idle, bare] = [
    await startServer(configuration),
    await startServer(withClient(configuration, clientConfig)),
    await startServer(undefined),
  ];
  const close = async () => {
    for (const server of [patching, idle, bare]) await server.close();
    await webhook.close();
    await nothing.close();
  };
  return { patching: patching.client, idle: idle.client, bare: bare.client, close };
}

function withClient(configuration: KubeObject | undefined, clientConfig: JsonObject): KubeObject | undefined {
  const webhooks = field(configuration, "webhooks");
  if (configuration === undefined || !Array.isArray(webhooks)) return undefined;
  return { ...configuration, webhooks: webhooks.map((hook) => ({ ...(hook as JsonObject), clientConfig })) } as KubeObject;
}

async function startPatchWebhook(targets: readonly WorkloadTarget[]) {
  const index = new PatchIndex({ home: "lattice-system", logger: silentLogger });
  for (const target of targets) {
    const data = { "patch.json": formatWorkloadPatch(patchOf(target)) };
    index.put({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: workloadPatchName(target) }, data } as KubeObject);
  }
  const certificate = expectOk(certificateFor("127.0.0.1", systemClock));
  const review = reviewDeployments({ find: (namespace, name) => index.find(namespace, name), clock: systemClock });
  const common = { clock: systemClock, logger: silentLogger, metrics: new MetricsRegistry() };
  const tls = { certificate: certificate.server.certificate, key: certificate.server.key };
  const server = expectOk(await startAdmissionServer({ host: "127.0.0.1", port: 0, tls, review, ...common }));
  return { port: server.port, authority: certificate.authority, close: server.close };
}

async function startServer(configuration: KubeObject | undefined) {
  const [store, clock, random] = [createMemoryStore({ historyLimit: { events: 5_000 } }), systemClock, Math.random];
  const server = createApiServer({ store, types: builtinKinds(store), clock, random });
  const client = inProcessClient(server, { clock, random, logger: silentLogger });
  for (let at = 0; at < NAMESPACES; at += 1) {
    const { namespace: name } = targetOf(at);
    expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  }
  for (let at = 0; at < DEPLOYMENTS; at += 1) expectOk(await client.create(deployments, ownersDeployment(at)));
  if (configuration !== undefined) expectOk(await client.create(CONFIGURATIONS, configuration));
  const close = async () => {
    await client.close();
    server.close();
  };
  return { client, close };
}
