/** Valid objects to mutate, one of each kind with its own validation rules. Admission and authorization objects are in fuzz-admission.ts. */
import type { JsonObject } from "#kube";
import { ADMISSION_SPECS } from "./fuzz-admission.ts";

const template = {
  metadata: { labels: { app: "a" }, annotations: { note: "b" } },
  spec: {
    containers: [
      {
        name: "a",
        image: "i:1",
        ports: [{ containerPort: 80, protocol: "TCP" }],
        env: [
          { name: "A", value: "1" },
          { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        ],
        resources: { limits: { cpu: "1" }, requests: { memory: "10Mi" } },
        livenessProbe: { httpGet: { path: "/", port: 80 } },
        volumeMounts: [{ name: "v", mountPath: "/v" }],
      },
    ],
    volumes: [{ name: "v", emptyDir: {} }],
    tolerations: [{ key: "k", operator: "Exists" }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
        },
      },
    },
  },
};
const selector = { matchLabels: { app: "a" } };

const SPECS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ...ADMISSION_SPECS,
  ["configmaps", { data: { a: "1", b: "2" }, binaryData: { c: "aGk=" } }],
  ["secrets", { data: { a: "aGk=" }, stringData: { b: "2" }, type: "Opaque" }],
  ["pods", { spec: template.spec }],
  ["deployments", { spec: { replicas: 1, selector, template, strategy: { rollingUpdate: { maxSurge: "25%" } } } }],
  ["statefulsets", { spec: { serviceName: "s", selector, template } }],
  ["daemonsets", { spec: { selector, template } }],
  ["jobs", { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } }, backoffLimit: 2 } }],
  ["cronjobs", { spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } } } } }],
  ["services", { spec: { selector: { app: "a" }, ports: [{ name: "http", port: 80, targetPort: "http" }], type: "ClusterIP" } }],
  ["ingresses", { spec: { rules: [{ host: "a.test", http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "a", port: { number: 80 } } } }] } }] } }],
  ["networkpolicies", { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }], ports: [{ port: 80, endPort: 90 }] }] } }],
  ["horizontalpodautoscalers", { spec: { scaleTargetRef: { kind: "Deployment", name: "a", apiVersion: "apps/v1" }, minReplicas: 1, maxReplicas: 3, metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }] } }],
  ["persistentvolumeclaims", { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } }],
  ["roles", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }],
  ["leases", { spec: { holderIdentity: "a", leaseDurationSeconds: 10, renewTime: "2020-01-01T00:00:00.000000Z" } }],
  ["replicasets", { spec: { replicas: 2, selector, template } }],
  ["replicationcontrollers", { spec: { replicas: 1, selector: { app: "a" }, template } }],
  ["podtemplates", { template }],
  ["poddisruptionbudgets", { spec: { minAvailable: "50%", selector } }],
  ["endpoints", { subsets: [{ addresses: [{ ip: "10.0.0.7" }], ports: [{ port: 80 }] }] }],
  ["endpointslices", { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.7"] }], ports: [{ port: 80 }] }],
  ["persistentvolumes", { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/v" } } }],
  ["storageclasses", { provisioner: "a.test/p", parameters: { a: "b" } }],
  ["priorityclasses", { value: 5, description: "d" }],
  ["nodes", { spec: { taints: [{ key: "a", effect: "NoSchedule" }] }, status: { capacity: { cpu: "1" } } }],
  ["certificatesigningrequests", { spec: { request: "aGk=", signerName: "a.test/s", usages: ["client auth"] } }],
  ["events", { involvedObject: { kind: "Pod", namespace: "default", name: "a" }, reason: "R", message: "m" }],
  ["widgets", { spec: { size: 1, parts: [{ name: "a", count: 1 }], tags: ["x"], any: { deep: [1] } } }],
  ["gears", { spec: { n: 3, s: "aaa" } }],
  ["customresourcedefinitions", {
    spec: {
      group: "fuzz.test", scope: "Namespaced", names: { plural: "gears", kind: "Gear" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { n: { type: "integer", minimum: 1, default: 3 }, s: { type: "string", pattern: "^a+$" } }, "x-kubernetes-validations": [{ rule: "self.n < 10", message: "small" }] } } } }, additionalPrinterColumns: [{ name: "N", type: "integer", jsonPath: ".spec.n" }], subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } } }],
    },
  }],
]); // prettier-ignore

export function objectFor(plural: string, apiVersion: string, kind: string, name: string): JsonObject {
  const metadata = {
    name: plural === "customresourcedefinitions" ? "gears.fuzz.test" : name,
    labels: { app: "a", tier: "b" },
    annotations: { note: "x" },
    finalizers: [],
  };
  return { apiVersion, kind, metadata, ...SPECS.get(plural) };
}
