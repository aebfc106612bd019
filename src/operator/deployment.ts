/** The Deployment of the operator, as an object. RBAC and its ServiceAccount are in `operatorRbac`. */
import type { Deployment } from "#kube";
import { WEBHOOK_PORT } from "./admission/webhook-replica.ts";
import { OPERATOR_NAME, OPERATOR_NAMESPACE } from "./controllers.ts";

export type OperatorDeploymentOptions = {
  /** The tag of the image: a new one rolls the Deployment. */
  readonly version: string;
  /** After the command `operator`. */
  readonly args?: readonly string[];
};

const IMAGE = "lattice-fleet/lattice";
const STATE = "/var/lib/lattice";
const HEALTH_PORT = 8_080;
const LABELS = { "app.kubernetes.io/name": OPERATOR_NAME };
export const OPERATOR_CONTAINER = "operator";

export function operatorImage(version: string): string {
  return `${IMAGE}:${version}`;
}

/**
 * Its identity is in a volume of the Pod, so that a container that restarts leads again at once. `replicas` is left out: the server sets 1,
 * and applying the object again does not change what `kubectl scale` set.
 */
export function operatorDeployment({ version, args = [] }: OperatorDeploymentOptions): Deployment {
  const container = {
    name: OPERATOR_CONTAINER,
    image: operatorImage(version),
    args: ["operator", "--identity-file", `${STATE}/identity`, "--health-address", `0.0.0.0:${HEALTH_PORT}`, ...args],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
    ],
    ports: [
      { name: "health", containerPort: HEALTH_PORT },
      { name: "webhook", containerPort: WEBHOOK_PORT },
    ],
    // Service lattice-webhook leaves out replicas that are not ready
    readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 5, timeoutSeconds: 2 },
    resources: { requests: { cpu: "50m", memory: "128Mi" } },
    volumeMounts: [{ name: "state", mountPath: STATE }],
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  };
  const pod = {
    serviceAccountName: OPERATOR_NAME,
    // the first node of a new cluster is a control plane, and its workers come later
    tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" }],
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [container],
    volumes: [{ name: "state", emptyDir: {} }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: OPERATOR_NAME, namespace: OPERATOR_NAMESPACE, labels: LABELS },
    spec: { selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: pod } },
  };
}
