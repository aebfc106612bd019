/** A Deployment of another owner and a LatticeService that patches it, on an embedded cluster with the operator. */
import type { FixtureObject } from "#embedded-cluster";
import { canonicalJson, fieldAt, type Deployment, type KubeObject } from "#kube";
import { RECORD_ANNOTATION, recordOf, type PatchRecord } from "#workload-patch";
import { latticeService } from "./lattice-objects.ts";
import { OperatedCluster, type OperatedOptions } from "./operated-cluster.ts";
import { patchWebhook } from "./patch-webhook.ts";

export const container = (name = "main") => ({
  name,
  image: "nginx:1",
  env: [{ name: "LEVEL", value: "info" }],
  envFrom: [{ configMapRef: { name: "owners", optional: true } }],
  securityContext: {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  },
});

/** Deployment shop/nginx as its owner writes it. */
export function deployment(
  more: { name?: string; account?: string; containers?: readonly object[]; initContainers?: readonly object[]; metadata?: object } = {},
): FixtureObject {
  const { name = "nginx", account = "nginx", containers = [container()], initContainers, metadata = {} } = more;
  const pod = { serviceAccountName: account, containers, ...(initContainers === undefined ? {} : { initContainers }) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "shop", ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: pod },
    },
  };
}

export const account = (name = "nginx"): FixtureObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name, namespace: "shop" },
});

export const workloadRef = { name: "nginx", namespace: "shop" };
export const declared = { containers: { main: { variables: { LEVEL: "debug", REGION: "eu" }, resources: { limits: { memory: "1Gi" } } } } };
/** LatticeService shop/web, which patches shop/nginx. */
export const patching = (spec: object = {}, key = "shop/web") => latticeService(key, { workloadRef, ...declared, ...spec });

const ADMISSION = "admissionregistration.k8s.io/v1";
/** A policy: the API server refuses Deployments with this image. */
export const refusingImage = (image: string): readonly FixtureObject[] => [
  {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "images" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] }],
      },
      validations: [{ expression: `!object.spec.template.spec.containers.exists(c, c.image == "${image}")` }],
    },
  },
  {
    apiVersion: ADMISSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "images" },
    spec: { policyName: "images", validationActions: ["Deny"] },
  },
];

export type Started = { readonly operated: OperatedCluster; readonly webhook: { isUp: boolean } } & AsyncDisposable;

/** The operator, with a webhook that can be switched off, and these objects. */
export async function startPatching(objects: readonly FixtureObject[], options: OperatedOptions = {}): Promise<Started> {
  const webhook = { isUp: true };
  const operated = await OperatedCluster.start(options);
  patchWebhook(operated.cluster, () => webhook.isUp);
  await operated.apply(...objects);
  await operated.live(6_000, 500);
  return { operated, webhook, [Symbol.asyncDispose]: () => operated[Symbol.asyncDispose]() };
}

export const specOf = (object: KubeObject | undefined) => canonicalJson(fieldAt(object, "spec") ?? null);
export const main = (object: Deployment | undefined) => object?.spec.template.spec.containers[0];
export const nginx = ({ operated }: Started) => operated.read<Deployment>("Deployment", "shop/nginx");
export const storedPatches = async (operated: OperatedCluster) =>
  (await operated.names("ConfigMap", "lattice-system")).filter((name) => name.startsWith("workload-patch-"));
export const isPatched = (object: KubeObject | undefined) => object?.metadata.annotations?.[RECORD_ANNOTATION] !== undefined;
/** undefined: there is none, or it cannot be read. */
export function recordIn(object: KubeObject | undefined): PatchRecord | undefined {
  const record = object === undefined ? undefined : recordOf(object);
  return record?.ok === true ? record.value : undefined;
}
