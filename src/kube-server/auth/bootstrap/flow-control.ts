/**
 * FlowSchemas and PriorityLevelConfigurations of a new server. They have no effect: no request is delayed by them.
 *
 * A schema is given by its name, level, precedence, flow distinguisher and subjects.
 */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { defaultOf, NOW, type OtherDefault } from "./other-default.ts";

const GROUP = { group: "flowcontrol.apiserver.k8s.io", version: "v1" } as const;
const ANNOTATION = "apf.kubernetes.io/autoupdate-spec";
const PRODUCER = "api-priority-and-fairness-config-producer-v1";
const CONSUMER = "api-priority-and-fairness-config-consumer-v1";

const group = (name: string): JsonObject => ({ kind: "Group", group: { name } });
const user = (name: string): JsonObject => ({ kind: "User", user: { name } });
const EVERYBODY = [group("system:unauthenticated"), group("system:authenticated")];
const ACCOUNTS = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };
const EVERYTHING = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const LEASES = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], namespaces: ["*"] };
const NODES = { verbs: ["*"], apiGroups: [""], resources: ["nodes", "nodes/status"], clusterScope: true, namespaces: ["*"] };

type Flow = readonly [name: string, level: string, precedence: number, by: string, subjects: readonly Json[], rules?: JsonObject];

const FLOWS: readonly Flow[] = [
  ["exempt", "exempt", 1, "", [group("system:masters")]],
  ["probes", "exempt", 2, "", EVERYBODY, { nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] }],
  [
    "system-leader-election",
    "leader-election",
    100,
    "ByUser",
    [user("system:kube-controller-manager"), user("system:kube-scheduler"), ACCOUNTS],
    { resourceRules: [{ verbs: ["get", "create", "update"], ...LEASES }] },
  ],
  ["system-node-high", "node-high", 400, "ByUser", [group("system:nodes")], { resourceRules: [NODES, { verbs: ["*"], ...LEASES }] }],
  ["system-nodes", "system", 500, "ByUser", [group("system:nodes")]],
  ["kube-controller-manager", "workload-high", 800, "ByNamespace", [user("system:kube-controller-manager")]],
  ["kube-scheduler", "workload-high", 800, "ByNamespace", [user("system:kube-scheduler")]],
  ["kube-system-service-accounts", "workload-high", 900, "ByNamespace", [ACCOUNTS]],
  ["service-accounts", "workload-low", 9000, "ByUser", [group("system:serviceaccounts")]],
  ["global-default", "global-default", 9900, "ByUser", EVERYBODY],
  ["catch-all", "catch-all", 10_000, "ByUser", EVERYBODY],
];

/** Name, shares, lendable percent, and queues with hand size; without queues excess requests are rejected. */
const LEVELS: readonly (readonly [string, number, number, number?, number?])[] = [
  ["catch-all", 5, 0],
  ["global-default", 20, 50, 128, 6],
  ["leader-election", 10, 0, 16, 4],
  ["node-high", 40, 25, 64, 6],
  ["system", 30, 33, 64, 6],
  ["workload-high", 40, 50, 128, 6],
  ["workload-low", 100, 90, 128, 6],
];

export function flowControl(): readonly OtherDefault[] {
  const exempt = level("exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } });
  return [...FLOWS.map(schema), exempt, ...LEVELS.map(([name, ...numbers]) => level(name, limited(...numbers)))];
}

function limited(nominalConcurrencyShares: number, lendablePercent: number, queues?: number, handSize = 0): JsonObject {
  const queuing = { queues: queues ?? 0, handSize, queueLengthLimit: 50 };
  const limitResponse = queues === undefined ? { type: "Reject" } : { type: "Queue", queuing };
  return { type: "Limited", limited: { nominalConcurrencyShares, limitResponse, lendablePercent } };
}

function level(name: string, spec: JsonObject): OtherDefault {
  const kind = { ...GROUP, kind: "PriorityLevelConfiguration", plural: "prioritylevelconfigurations" };
  return defaultOf({ ...common(spec), kind, name, content: { spec, status: {} } });
}

function schema([name, priority, matchingPrecedence, by, subjects, rules = EVERYTHING]: Flow): OtherDefault {
  const spec = {
    priorityLevelConfiguration: { name: priority },
    matchingPrecedence,
    ...(by === "" ? {} : { distinguisherMethod: { type: by } }),
    rules: [{ subjects, ...rules }],
  };
  const message = `This FlowSchema references the PriorityLevelConfiguration object named "${priority}" and it exists`;
  const dangling = { type: "Dangling", status: "False", lastTransitionTime: NOW, reason: "Found", message };
  const kind = { ...GROUP, kind: "FlowSchema", plural: "flowschemas" };
  const status = { manager: CONSUMER, type: "Dangling", fields: Object.keys(dangling) };
  return defaultOf({ ...common(spec), kind, name, content: { spec, status: { conditions: [dangling] } }, status });
}

function common(spec: JsonObject) {
  const { ".": _, ...owned } = ownedIn(spec);
  return {
    generation: 1,
    manager: PRODUCER,
    annotations: { [ANNOTATION]: "true" },
    owned: { "f:metadata": { "f:annotations": { ".": {}, [`f:${ANNOTATION}`]: {} } }, "f:spec": owned },
  };
}

/** Go's struct for the name of a level is always present, so it has no owner as a whole. */
function ownedIn(value: Json | undefined, name = ""): JsonObject {
  if (!isJsonObject(value)) return {};
  const inside = Object.entries(value).map(([key, inner]) => [`f:${key}`, ownedIn(inner, key)] as const);
  return { ...(name === "priorityLevelConfiguration" ? {} : { ".": {} }), ...Object.fromEntries(inside) };
}
