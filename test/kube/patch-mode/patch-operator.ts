/** The operator with its admission webhook, in this process, on any API server; and patches as its service controller writes them. */
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { workloadPatchName } from "#http";
import { fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { startOperator } from "#operator";
import { applyWorkloadPatch, formatWorkloadPatch, recordOf, REQUEST_ANNOTATION, type WorkloadPatch } from "#workload-patch";
import { eventually } from "../harness/index.ts";
import { DEPLOYMENT } from "./owned-manifest.ts";
import type { PatchServer } from "./patch-servers.ts";

export type PatchOperator = { readonly home: string; stop(): Promise<void> };

/** Resolves when it leads. `home` is its namespace, which must exist. */
export async function startPatchOperator(server: PatchServer, home: string): Promise<PatchOperator> {
  const client = await clientOf(server);
  const stop = new AbortController();
  const operator = expectOk(
    await startOperator(
      {
        namespace: home,
        identity: `operator-${home}`,
        leaderElection: false,
        allowUnprotected: true,
        health: { host: "127.0.0.1", port: 0 },
        webhook: { kind: "url", host: "127.0.0.1", port: 0 },
      },
      { client, clock: systemClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), tracer: noTracing },
      stop.signal,
    ),
  );
  const running = operator.run(stop.signal);
  return {
    home,
    async stop() {
      stop.abort();
      await running;
      await client.close();
    },
  };
}

async function clientOf(server: PatchServer): Promise<KubeClient> {
  const config = await loadKubeconfig({ path: server.kubeconfig, env: {}, home: "/", clock: systemClock });
  return createKubeClient({
    transport: httpTransport(expectOk(config), { clock: systemClock }),
    clock: systemClock,
    random: seededRandom(5),
  });
}

export async function installCrds(server: PatchServer): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const { crd } of latticeKinds) {
    const body = crd();
    const { code, text } = await server.request({ method: "POST", path, body });
    if (code !== 201 && code !== 409) throw new Error(text);
  }
  await eventually("the kinds are served", async () => {
    const { code } = await server.request({ path: "/apis/lattice.dev/v1alpha1/latticeservices" });
    return code === 200 || undefined;
  });
}

/** As a service in patch mode is compiled: changed and added variables, limits, files, a source of variables, a hash of its configuration. */
export function storyPatch(namespace: string): WorkloadPatch {
  const container = {
    name: DEPLOYMENT,
    env: [
      { name: "LEVEL", value: "debug" },
      { name: "LATTICE", value: "on" },
    ],
    resources: { limits: { memory: "128Mi", cpu: "1" } },
    volumeMounts: [{ name: "lattice-files", mountPath: "/etc/lattice", readOnly: true }],
  };
  const volumes = [{ name: "lattice-files", configMap: { name: "web-files" } }];
  const template = { metadata: { annotations: { "lattice.dev/config-hash": "1" } }, spec: { containers: [container], volumes } };
  return {
    version: 1,
    service: `${namespace}/${DEPLOYMENT}`,
    target: { namespace, name: DEPLOYMENT },
    patch: { spec: { template } },
    envFrom: { [DEPLOYMENT]: [{ configMapRef: { name: "web-env" } }] },
    variables: { [DEPLOYMENT]: { FIRST: { configMapKeyRef: { name: "web-env", key: "FIRST" } } } },
  };
}

const pathOf = ({ target }: WorkloadPatch) => `/apis/apps/v1/namespaces/${target.namespace}/deployments/${target.name}`;

export async function readDeployment(server: PatchServer, patch: WorkloadPatch): Promise<KubeObject> {
  return (await server.request({ path: pathOf(patch) })).json() as unknown as KubeObject;
}

/** Stores the patch, and writes the Deployment until it has it. */
export async function attach(server: PatchServer, home: string, patch: WorkloadPatch): Promise<void> {
  await storePatch(server, home, patch);
  await writtenUntil(server, patch, (deployment) => hasPatch(deployment, patch));
}

/** Stores the order to detach, writes the Deployment until nothing of the patch is left, and removes the order. */
export async function detach(server: PatchServer, home: string, patch: WorkloadPatch): Promise<void> {
  await storePatch(server, home, { ...patch, patch: {}, envFrom: {}, variables: {}, detach: true });
  await writtenUntil(server, patch, (deployment) => expectOk(recordOf(deployment)) === undefined);
  await server.request({ method: "DELETE", path: `/api/v1/namespaces/${home}/configmaps/${workloadPatchName(patch.target)}` });
}

export function hasPatch(deployment: KubeObject, patch: WorkloadPatch): boolean {
  const applied = expectOk(applyWorkloadPatch(deployment, patch, { at: "2026-01-01T00:00:00Z" }));
  return !applied.changed && applied.missingContainers.length === 0 && expectOk(recordOf(deployment)) !== undefined;
}

async function storePatch(server: PatchServer, home: string, patch: WorkloadPatch): Promise<void> {
  const name = workloadPatchName(patch.target);
  const metadata = { name, namespace: home, labels: { "lattice.dev/workload-patch": "true" } };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "patch.json": formatWorkloadPatch(patch) } };
  const path = `/api/v1/namespaces/${home}/configmaps`;
  const made = await server.request({ method: "POST", path, body });
  const stored = made.code === 409 ? await server.request({ method: "PUT", path: `${path}/${name}`, body }) : made;
  if (stored.code >= 300) throw new Error(stored.text);
}

let writes = 0;

async function writtenUntil(server: PatchServer, patch: WorkloadPatch, isDone: (deployment: KubeObject) => boolean): Promise<void> {
  await eventually(
    `Deployment ${patch.target.namespace}/${patch.target.name} is as it should be`,
    async () => {
      if (isDone(await readDeployment(server, patch))) return true;
      writes += 1;
      const body = { metadata: { annotations: { [REQUEST_ANNOTATION]: `${writes}` } } };
      const contentType = "application/merge-patch+json";
      await server.request({ method: "PATCH", path: `${pathOf(patch)}?fieldManager=lattice`, contentType, body });
      return isDone(await readDeployment(server, patch)) || undefined;
    },
    { withinMs: 60_000, everyMs: 500 },
  );
}

/**
 * All that a tool or a person may notice of a Deployment, as text; equal texts for equal Deployments of two namespaces. What Lattice leaves is its
 * entry in managedFields for the annotation that it has written and removed: the API server keeps such entries.
 */
export function noticeable(deployment: KubeObject, namespace: string): string {
  const { labels, annotations, managedFields } = deployment.metadata as { labels?: Json; annotations?: JsonObject; managedFields?: Json };
  const entries = (Array.isArray(managedFields) ? managedFields : []).filter((entry) => fieldAt(entry, "subresource") === undefined);
  const owners = entries
    .map((entry) => JSON.stringify([fieldAt(entry, "manager"), fieldAt(entry, "operation"), fieldAt(entry, "fieldsV1")]))
    .filter((owner) => owner !== LEFT_BEHIND);
  // how many revisions there were is visible, and true
  const { "deployment.kubernetes.io/revision": _revision, ...own } = annotations ?? {};
  const seen = { labels, annotations: own, spec: fieldAt(deployment, "spec"), owners: owners.toSorted() };
  return JSON.stringify(seen, null, 1).replaceAll(namespace, "NAMESPACE");
}

const LEFT_BEHIND = JSON.stringify(["lattice", "Update", { "f:metadata": { "f:annotations": { [`f:${REQUEST_ANNOTATION}`]: {} } } }]);
