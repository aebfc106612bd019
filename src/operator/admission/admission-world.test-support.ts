/** An embedded cluster, and replicas of the webhook that it calls over TLS. Only for tests. */
import { onTestFinished } from "vitest";
import { createLogger, expectOk, MetricsRegistry, seededRandom, systemClock, type LogFields } from "#base";
import { startEmbeddedCluster, type ClusterOptions, type ClusterUser } from "#embedded-cluster";
import {
  configMaps,
  deployments,
  field,
  fieldAt,
  mutatingWebhookConfigurations,
  type ConfigMap,
  type Deployment,
  type Json,
  type KubeObject,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { formatWorkloadPatch, patchRequest, workloadPatchName, type WorkloadTarget } from "#workload-patch";
import { admissionWebhookService } from "./webhook-service.ts";
import { WebhookReplica, type WebhookSettings } from "./webhook-replica.ts";

export const HOME = "lattice-system";
export const CONFIGURATION = "lattice-workload-patches";
export type LogLine = { readonly level: string; readonly message: string; readonly fields: LogFields };

export function patchMap(target: WorkloadTarget, service = `${target.namespace}/${target.name}`): ConfigMap {
  const patch = { version: 1 as const, service, target, patch: {}, envFrom: {}, variables: {} };
  const metadata = { name: workloadPatchName(target), namespace: HOME, labels: { "lattice.dev/workload-patch": "true" } };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "patch.json": formatWorkloadPatch(patch) } };
}

export function deploymentOf({ namespace, name }: WorkloadTarget): Deployment {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.test/a:1" }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name }, spec };
}

export type AdmissionWorld = Awaited<ReturnType<typeof startAdmissionWorld>>;

export async function startAdmissionWorld(options: ClusterOptions = {}) {
  const spaces = [HOME, "shop", "bank"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  const cluster = await startEmbeddedCluster({ ...options, objects: spaces });
  onTestFinished(() => cluster.close());
  const { client } = cluster;
  const configuration = async (): Promise<KubeObject | undefined> => {
    const found = await client.get<KubeObject>(mutatingWebhookConfigurations, { name: CONFIGURATION });
    return found.ok ? found.value : undefined;
  };
  return {
    cluster,
    client,
    configuration,
    hook: async (): Promise<Json | undefined> => {
      const webhooks = field(await configuration(), "webhooks");
      return Array.isArray(webhooks) ? webhooks[0] : undefined;
    },
    addPatch: async (target: WorkloadTarget) => expectOk(await client.create(configMaps, patchMap(target))),
    removePatch: async (target: WorkloadTarget) =>
      expectOk(await client.delete(configMaps, { namespace: HOME, name: workloadPatchName(target) })),
    /** The label that the webhook adds. */
    createDeployment: async (target: WorkloadTarget) => serviceLabel(expectOk(await client.create(deployments, deploymentOf(target)))),
    touch: async ({ namespace, name }: WorkloadTarget, value: string) => {
      const patch = { metadata: { annotations: { touched: value } } };
      return client.patch(deployments, { namespace, name }, { type: "merge", patch });
    },
    /** What the controller does, so that API servers select the Deployment. */
    requestPatch: async ({ namespace, name }: WorkloadTarget, id: string) =>
      client.patch(deployments, { namespace, name }, { type: "merge", patch: patchRequest(id) }),
    startReplica: (settings: WebhookSettings = { kind: "url", host: "127.0.0.1", port: 0 }, user?: ClusterUser) =>
      startReplica(user === undefined ? client : cluster.clientFor(user), settings),
  };
}

export function serviceLabel(deployment: KubeObject): Json | undefined {
  return fieldAt(deployment, "metadata", "labels", "lattice.dev/service");
}

/** A process of the operator, as far as its webhook is concerned. */
function startReplica(client: KubeClient, settings: WebhookSettings) {
  const lines: LogLine[] = [];
  const logger = createLogger((level, message, fields) => void lines.push({ level, message, fields }));
  const metrics = new MetricsRegistry();
  const common = { client, clock: systemClock, random: seededRandom(1), logger, metrics, home: HOME, settings };
  const replica = new WebhookReplica(common);
  replica.start();
  let stopLeading: () => Promise<void> = async () => {};
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await stopLeading();
    await replica.close();
  };
  onTestFinished(close);
  return {
    replica,
    lines,
    metrics,
    close,
    /** Begins a term; the returned function ends it. */
    lead: async () => {
      const term = new AbortController();
      const context = { ...common, replica, signal: term.signal, record: () => {}, cache: undefined as never };
      const running = expectOk(await admissionWebhookService.start(context));
      stopLeading = async () => {
        term.abort();
        await running.close();
      };
      return stopLeading;
    },
  };
}
