/** A Deployment with a Canary as its owner writes them, beside one of the same namespace that Lattice never patches: the control. */
import { fieldAt, formatYamlDocuments, type JsonObject, type KubeObject } from "#kube";
import { eventually, type PlaneAccess } from "../harness/index.ts";

/** What the owner changes. */
export type CanaryVersion = { readonly image: string; readonly level: string };

export const FIRST_VERSION: CanaryVersion = { image: "example.test/app:1", level: "info" };
export const SECOND_VERSION: CanaryVersion = { image: "example.test/app:2", level: "warn" };
/** The Deployment that is patched, and the control. Neither name is part of another text. */
export const PATCHED = "web";
export const CONTROL = "plain";

export type CanaryOptions = {
  /** Without, Flagger promotes at once. */
  readonly analysis: boolean;
  readonly autoscaler: boolean;
};

/** Without replicas, as Flagger's documentation advises. */
export function ownedDeployment(name: string, { image, level }: CanaryVersion): JsonObject {
  const labels = { app: name };
  const env = [
    { name: "FIRST", value: "1" },
    { name: "LEVEL", value: level },
  ];
  // as namespaces of Lattice services ask for
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
  const resources = { limits: { memory: "64Mi" } };
  const container = { name: "app", image, env, envFrom: [{ configMapRef: { name: "owner" } }], resources, securityContext };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { serviceAccountName: name, containers: [container] } },
    },
  };
}

function canaryFor(name: string, { analysis, autoscaler }: CanaryOptions): JsonObject {
  const autoscalerRef = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name };
  return {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata: { name },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      ...(autoscaler ? { autoscalerRef } : {}),
      service: { port: 8080 },
      ...(analysis ? {} : { skipAnalysis: true }),
      // Flagger looks every 10 s at the most often
      analysis: { interval: "10s", threshold: 2, iterations: 1 },
    },
  };
}

function autoscalerFor(name: string): JsonObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: { minReplicas: 1, maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name } },
  };
}

/** As `kubectl apply` of the owner writes it. */
export async function applyAsOwner(plane: PlaneAccess, namespace: string, objects: readonly JsonObject[]): Promise<void> {
  await plane.kubectlOk(["apply", "-n", namespace, "-f", "-"], { stdin: formatYamlDocuments(objects) });
}

/** What both Deployments need before they exist. */
export function surroundings(): readonly JsonObject[] {
  const accounts = [PATCHED, CONTROL].map((name) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name } }));
  return [...accounts, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" }, data: { OWN: "1" } }];
}

export function canaryObjects(name: string, options: CanaryOptions): readonly JsonObject[] {
  return [...(options.autoscaler ? [autoscalerFor(name)] : []), canaryFor(name, options)];
}

/** undefined: there is none. */
export async function readObject(plane: PlaneAccess, path: string): Promise<KubeObject | undefined> {
  const response = await plane.request({ path });
  if (response.code === 404) return undefined;
  if (response.code !== 200) throw new Error(`${path}: ${response.code} ${response.text}`);
  return response.json() as unknown as KubeObject;
}

export const deploymentPath = (namespace: string, name: string) => `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
const canaryPath = (namespace: string, name: string) => `/apis/flagger.app/v1beta1/namespaces/${namespace}/canaries/${name}`;

export async function untilPhase(plane: PlaneAccess, namespace: string, name: string, phase: string): Promise<void> {
  await eventually(
    `Canary ${namespace}/${name} is ${phase}`,
    async () => {
      const canary = await readObject(plane, canaryPath(namespace, name));
      const now = fieldAt(canary, "status", "phase");
      if (now !== phase) throw new Error(`it is ${JSON.stringify(fieldAt(canary, "status"))}`);
      return true;
    },
    LONG,
  );
}

const LONG = { withinMs: 180_000, everyMs: 250 };

/** Resolves when Flagger has promoted what `act` changes: the phase is Succeeded, and the promoted spec or config is another one than before. */
export async function promoted(plane: PlaneAccess, namespace: string, name: string, act: () => Promise<unknown>): Promise<void> {
  const promotedOf = async () => {
    const { phase, lastPromotedSpec, trackedConfigs } = (fieldAt(await readObject(plane, canaryPath(namespace, name)), "status") ??
      {}) as JsonObject;
    return { phase, digest: JSON.stringify([lastPromotedSpec, trackedConfigs]) };
  };
  const before = await promotedOf();
  await act();
  await eventually(
    `Canary ${namespace}/${name} is promoted`,
    async () => {
      const { phase, digest } = await promotedOf();
      return (phase === "Succeeded" && digest !== before.digest) || undefined;
    },
    LONG,
  );
}
