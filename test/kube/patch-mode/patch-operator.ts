/** The operator with its admission webhook and its shipped roles, in this process, on any API server; and a service in patch mode. */
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { canonicalJson, fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { startOperator } from "#operator";
import {
  applyWorkloadPatch,
  parseWorkloadPatch,
  RECORD_ANNOTATION,
  recordOf,
  PATCHED_LABEL,
  REQUEST_ANNOTATION,
  workloadPatchName,
} from "#workload-patch";
import { eventually } from "../harness/index.ts";
import { operatorAccount } from "./operator-account.ts";
import { DEPLOYMENT } from "./owned-manifest.ts";
import type { PatchServer } from "./patch-servers.ts";
import { textOf } from "./written-fields.ts";

export type PatchOperator = { readonly server: PatchServer; readonly home: string; stop(): Promise<void> };

/**
 * With the rights that `lattice rbac` prints for namespace `home`; `stop` fails when they were not sufficient. Resolves when the operator leads.
 */
export async function startPatchOperator(server: PatchServer, home: string): Promise<PatchOperator> {
  const { client, refused } = await operatorAccount(server, home);
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
    server,
    home,
    async stop() {
      stop.abort();
      await running;
      await client.close();
      if (refused.length > 0) throw new Error(`the operator's roles are not sufficient: ${[...new Set(refused)].join(", ")}`);
    },
  };
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

const SERVICE = "patching-web";

/** `changesVariable`: the service sets a variable that the owner sets too. */
export type StoryOptions = { readonly changesVariable?: boolean };

/** Changes a variable and a limit, adds others, a file and a Service. */
function storyService(namespace: string, { changesVariable = true }: StoryOptions): JsonObject {
  const container = {
    variables: { ...(changesVariable ? { LEVEL: "debug" } : {}), LATTICE: "on" },
    files: { "/etc/lattice/story.txt": { content: "patched" } },
    resources: { limits: { memory: "128Mi", cpu: "1" } },
  };
  return {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeService",
    metadata: { name: SERVICE, namespace },
    spec: {
      workloadRef: { kind: "Deployment", name: DEPLOYMENT, namespace },
      containers: { [DEPLOYMENT]: container },
      service: { ports: { http: { port: 8080 } } },
    },
  };
}

const servicesIn = (namespace: string) => `/apis/lattice.dev/v1alpha1/namespaces/${namespace}/latticeservices`;

export async function readDeployment(server: PatchServer, namespace: string): Promise<KubeObject> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${DEPLOYMENT}`;
  return (await server.request({ path })).json() as unknown as KubeObject;
}

/** Byte by byte. The embedded server does not keep the order of keys in objects; the order in lists counts on both. */
export function specText({ name }: PatchServer, deployment: KubeObject): string {
  const spec = fieldAt(deployment, "spec") ?? null;
  return name === "real" ? JSON.stringify(spec) : canonicalJson(spec);
}

/** Resolves when the operator has patched the Deployment of the namespace. */
export async function attach({ server, home }: PatchOperator, namespace: string, options: StoryOptions = {}): Promise<void> {
  const { code, text } = await server.request({ method: "POST", path: servicesIn(namespace), body: storyService(namespace, options) });
  if (code !== 201) throw new Error(text);
  await patched({ server, home }, namespace);
}

/** Resolves when the Deployment has the patch that the operator's service controller has stored for it. */
export async function patched({ server, home }: Pick<PatchOperator, "server" | "home">, namespace: string): Promise<void> {
  await eventually(`Deployment ${namespace}/${DEPLOYMENT} has the patch`, () => isPatched({ server, home }, namespace), WITHIN);
}

/** undefined: not yet. */
export async function isPatched({ server, home }: Pick<PatchOperator, "server" | "home">, namespace: string): Promise<true | undefined> {
  const path = `/api/v1/namespaces/${home}/configmaps/${workloadPatchName({ namespace, name: DEPLOYMENT })}`;
  const stored = await server.request({ path });
  if (stored.code !== 200) return undefined;
  const patch = expectOk(parseWorkloadPatch(textOf(fieldAt(stored.json(), "data", "patch.json"))));
  const deployment = await readDeployment(server, namespace);
  const applied = expectOk(applyWorkloadPatch(deployment, patch, { at: "2026-01-01T00:00:00Z" }));
  const isThere = !applied.changed && applied.missingContainers.length === 0 && expectOk(recordOf(deployment)) !== undefined;
  return isThere && patch.detach !== true ? true : undefined;
}

/** Resolves when the service is gone, and nothing of it is on the Deployment. */
export async function detach({ server }: Pick<PatchOperator, "server">, namespace: string): Promise<void> {
  await server.request({ method: "DELETE", path: `${servicesIn(namespace)}/${SERVICE}` });
  const isDetached = async () => {
    const { code } = await server.request({ path: `${servicesIn(namespace)}/${SERVICE}` });
    const { annotations = {}, labels = {} } = (await readDeployment(server, namespace)).metadata;
    const names = { ...annotations, ...labels };
    const isClean = [RECORD_ANNOTATION, REQUEST_ANNOTATION, PATCHED_LABEL].every((name) => names[name] === undefined);
    return (code === 404 && isClean) || undefined;
  };
  await eventually(`Deployment ${namespace}/${DEPLOYMENT} is detached`, isDetached, WITHIN);
}

/** The time in which all Deployments must converge after a fault. */
const WITHIN = { withinMs: 60_000, everyMs: 250 };

/**
 * All that a tool or a person may notice of a Deployment, as text; equal texts for equal Deployments of two namespaces. What Lattice leaves is its
 * entry in managedFields for the label and the annotation that it has written and removed: the API server keeps such entries.
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
  return canonicalJson(seen).replaceAll(namespace, "NAMESPACE");
}

const LEFT_BEHIND = JSON.stringify([
  "lattice",
  "Update",
  { "f:metadata": { "f:annotations": { [`f:${REQUEST_ANNOTATION}`]: {} }, "f:labels": { [`f:${PATCHED_LABEL}`]: {} } } },
]);
