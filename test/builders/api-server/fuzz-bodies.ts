/** Valid objects to start from, and texts of bodies that are not JSON at all. */
import { formatYaml, type Json, type JsonObject } from "#kube";
import { chance, mutate, pick, type Random } from "./fuzz-values.ts";

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
  ["events", { involvedObject: { kind: "Pod", namespace: "default", name: "a" }, reason: "R", message: "m" }],
  ["widgets", { spec: { size: 1, parts: [{ name: "a", count: 1 }], tags: ["x"], any: { deep: [1] } } }],
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

const STRANGE: readonly [string, ...string[]] = [
  "", " ", "null", "true", "1", '"a"', "[]", "{}", "{", '{"a":', "[[[[", "}{", "NaN", "\ufeff{}", "{}{}", "--- \n---\n", "a: &a [*a]", "a: &a [1,1]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]",
  "'", "\u0000", "<xml/>", '{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}', '{"a":1,"a":2}', "1e999", '{"metadata":{"name":"a","name":"b"}}',
  "k8s\u0000\n\u0007\n\u0002v1", "!!js/function x", "? ? ? ?", "[".repeat(20_000), '{"a":'.repeat(5_000), "- ".repeat(3_000),
]; // prettier-ignore

const DIRECTIVES: readonly [JsonObject, ...JsonObject[]] = [
  { spec: { $setElementOrder: [] } },
  { spec: { template: { spec: { containers: [{ name: "b", image: "j" }], "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] } } } },
  { spec: { template: { spec: { containers: [{ $patch: "replace" }, { name: "z", image: "z" }] } } } },
  { metadata: { finalizers: ["f.test/a"], "$deleteFromPrimitiveList/finalizers": ["f.test/a"] } },
  { metadata: { finalizers: null, labels: { $retainKeys: ["app"] } } },
  { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
  { $patch: "delete" },
  { data: { a: null, z: "9" } },
]; // prettier-ignore

export function bodyText(random: Random, object: JsonObject, contentType: string): string {
  if (chance(random, 0.08)) return pick(random, STRANGE);
  const value =
    contentType.includes("json-patch") && !contentType.includes("merge")
      ? operations(random, object)
      : changed(random, object, contentType);
  const text = contentType.includes("yaml") && chance(random, 0.3) ? formatYaml(object) : JSON.stringify(value);
  if (chance(random, 0.06)) return text.slice(0, Math.floor(random() * text.length));
  return chance(random, 0.04) ? text.replaceAll(/[:,]/g, (mark) => (chance(random, 0.1) ? "" : mark)) : text;
}

function changed(random: Random, object: JsonObject, contentType: string): Json {
  if (contentType.includes("strategic") && chance(random, 0.5)) return mutate(random, pick(random, DIRECTIVES));
  return chance(random, 0.3) ? object : mutate(random, object);
}

const PATHS: readonly [string, ...string[]] = ["", "/", "/metadata", "/metadata/labels/app", "/metadata/finalizers/-", "/spec/replicas", "/data/a", "/spec/template/spec/containers/0/image", "/__proto__/polluted", "/constructor/prototype/polluted", "/metadata/finalizers/-1", "/metadata/finalizers/99999999", "/a~2b", "no-slash", "/metadata/name", "/kind", "/spec/template/spec/containers/00"]; // prettier-ignore

function operations(random: Random, object: JsonObject): Json {
  const operation = (): Json => ({
    op: pick(random, ["add", "remove", "replace", "move", "copy", "test", "nonsense"]),
    path: pick(random, PATHS),
    from: pick(random, PATHS),
    value: chance(random, 0.5) ? mutate(random, object) : "v",
  });
  const all = Array.from({ length: 1 + Math.floor(random() * 4) }, operation);
  return chance(random, 0.3) ? mutate(random, all) : all;
}
