import { expect, test } from "vitest";
import { field } from "#kube";
import { defineResource, type KubeObject, type Resource } from "#kube";
import { watch, type ControllerDeclaration } from "./controller.ts";
import { mergeRules, rbacFor, type PartDeclaration, type RbacRule } from "./rbac.ts";

const resource = (group: string, plural: string): Resource =>
  defineResource<KubeObject>({ group, version: "v1", kind: plural, plural, namespaced: true });
const widgets = resource("lattice.dev", "widgets");
const deployments = resource("apps", "deployments");
const gateways = resource("gateway.networking.k8s.io", "gateways");
const nodes = resource("", "nodes");
const pods = resource("", "pods");
const claims: Resource = { ...resource("", "persistentvolumeclaims"), kind: "PersistentVolumeClaim" };
const namespaces: Resource = { ...resource("", "namespaces"), namespaced: false };
const fleets: Resource = { ...resource("lattice.dev", "fleets"), namespaced: false };
const configMaps = resource("", "configmaps");

const line = ({ apiGroups, resources, verbs, resourceNames }: RbacRule) =>
  `${apiGroups.join()}: ${resources.join()}: ${verbs.join()}${resourceNames === undefined ? "" : ` (${resourceNames.join()})`}`;
const rulesOf = (objects: readonly KubeObject[], kind: string) =>
  (
    field(
      objects.find((object) => object.kind === kind),
      "rules",
    ) as unknown as readonly RbacRule[]
  ).map(line);

const READS = "get,list,watch";
const WATCHES = "list,watch";
const OWN = "create,delete,get,list,patch,watch";
const EVENTS = "events.k8s.io: events: create,patch";
const DEFINITIONS = "apiextensions.k8s.io: customresourcedefinitions: list,watch";

type Row = { readonly name: string; readonly given: readonly PartDeclaration[]; readonly want: readonly string[] };
const rows: readonly Row[] = [
  { name: "without controllers only events are allowed", given: [], want: [EVENTS] },
  {
    name: "a controller that owns nothing reads its kind and writes its status",
    given: [{ name: "a", reconciles: widgets }],
    want: [DEFINITIONS, EVENTS, `lattice.dev: widgets: ${READS}`, "lattice.dev: widgets/status: update"],
  },
  {
    name: "a controller of a foreign kind does not write its status",
    given: [{ name: "a", reconciles: widgets, writesStatus: false }],
    want: [DEFINITIONS, EVENTS, `lattice.dev: widgets: ${READS}`],
  },
  {
    name: "a service reads its kinds and has the permissions that it declares",
    given: [{ name: "listener", reads: [widgets, pods], permissions: [{ resource: pods, subresource: "log", verbs: ["get"] }] }],
    want: [": pods: list,watch", ": pods/log: get", DEFINITIONS, EVENTS, `lattice.dev: widgets: ${WATCHES}`],
  },
  { name: "a service without kinds needs nothing", given: [{ name: "listener" }], want: [EVENTS] },
  {
    name: "a finalizer needs patch",
    given: [{ name: "a", reconciles: widgets, finalizer: "x/y" }],
    want: [DEFINITIONS, EVENTS, "lattice.dev: widgets: get,list,patch,watch", "lattice.dev: widgets/status: update"],
  },
  {
    name: "kinds that are never pruned may not be deleted",
    given: [{ name: "a", reconciles: widgets, owns: [claims] }],
    want: [
      ": persistentvolumeclaims: create,get,list,patch,watch",
      DEFINITIONS,
      EVENTS,
      `lattice.dev: widgets: ${READS}`,
      "lattice.dev: widgets/finalizers,widgets/status: update",
    ],
  },
  {
    name: "owned kinds are written, watched and read ones are not",
    given: [{ name: "a", reconciles: widgets, owns: [deployments], watches: [watch(nodes, () => [])], reads: [pods] }],
    want: [
      `: nodes,pods: ${WATCHES}`,
      DEFINITIONS,
      `apps: deployments: ${OWN}`,
      EVENTS,
      `lattice.dev: widgets: ${READS}`,
      "lattice.dev: widgets/finalizers,widgets/status: update",
    ],
  },
  {
    name: "permissions of several controllers become one rule, with the verbs of all",
    given: [
      { name: "a", reconciles: widgets, owns: [deployments] },
      {
        name: "b",
        reconciles: widgets,
        reads: [deployments, pods],
        permissions: [{ resource: pods, verbs: ["delete"] }],
      },
    ],
    want: [
      ": pods: delete,list,watch",
      DEFINITIONS,
      `apps: deployments: ${OWN}`,
      EVENTS,
      `lattice.dev: widgets: ${READS}`,
      "lattice.dev: widgets/finalizers,widgets/status: update",
    ],
  },
  {
    name: "a controller of kinds that every cluster serves does not read definitions, unless one of them is optional",
    given: [{ name: "a", reconciles: pods, writesStatus: false }],
    want: [`: pods: ${READS}`, EVENTS],
  },
  {
    name: "an optional kind may be installed later",
    given: [{ name: "a", reconciles: pods, writesStatus: false, reads: [gateways], optional: [gateways] }],
    want: [`: pods: ${READS}`, DEFINITIONS, EVENTS, `gateway.networking.k8s.io: gateways: ${WATCHES}`],
  },
  {
    name: "a group without a dot has no definitions, also when a kind of it is optional",
    given: [{ name: "a", reconciles: pods, writesStatus: false, reads: [deployments], optional: [deployments] }],
    want: [`: pods: ${READS}`, `apps: deployments: ${WATCHES}`, EVENTS],
  },
];

test.each(rows)("$name", ({ given, want }) => {
  expect(rulesOf(rbacFor(given, { name: "lattice", namespace: "lattice-system" }), "ClusterRole")).toEqual(want);
});

test("paths that are not resources may be read, each once, in the whole cluster", () => {
  const parts: readonly PartDeclaration[] = [
    { name: "a", paths: ["/", "/metrics"] },
    { name: "b", paths: ["/"] },
  ];
  const objects = rbacFor(parts, { name: "op", namespace: "home" });
  const rules = (kind: string) =>
    field(
      objects.find((object) => object.kind === kind),
      "rules",
    );
  expect(rules("ClusterRole")).toContainEqual({ nonResourceURLs: ["/", "/metrics"], verbs: ["get"] });
  expect(JSON.stringify(rules("Role"))).not.toContain("nonResourceURLs");
  expect(JSON.stringify(rbacFor([{ name: "c" }], { name: "op", namespace: "home" }))).not.toContain("nonResourceURLs");
});

test("leases are allowed in the operator's own namespace only, and only its own lease can be changed", () => {
  const objects = rbacFor([], { name: "lattice", namespace: "lattice-system", leaseName: "lead" });
  expect(rulesOf(objects, "Role")).toEqual(["coordination.k8s.io: leases: create", "coordination.k8s.io: leases: get,update (lead)"]);
  expect(objects.find(({ kind }) => kind === "Role")?.metadata.namespace).toBe("lattice-system");
});

test("in some namespaces: a Role in each, Namespaces by name, and no namespaced kind is granted cluster-wide", () => {
  const controllers: readonly ControllerDeclaration[] = [
    { name: "a", reconciles: widgets, owns: [deployments, configMaps] },
    {
      name: "b",
      reconciles: namespaces,
      writesStatus: false,
      owns: [pods],
      permissions: [{ resource: namespaces, verbs: ["create", "patch"] }],
    },
    { name: "c", reconciles: fleets, permissions: [{ resource: namespaces, verbs: ["create"] }] },
  ];
  const homeRules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: ["key"] }];
  const scope = { namespaces: ["shop", "pay"], more: [{ resource: configMaps, namespace: "home" }] };
  const objects = rbacFor(controllers, { name: "lattice", namespace: "home", clusterName: "lattice-home", scope, homeRules });
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`)).toEqual([
    "ServiceAccount home/lattice",
    "ClusterRole -/lattice-home",
    "ClusterRoleBinding -/lattice-home",
    ...["shop", "pay", "home", "default"].flatMap((namespace) => [`Role ${namespace}/lattice`, `RoleBinding ${namespace}/lattice`]),
  ]);
  expect(rulesOf(objects, "ClusterRole")).toEqual([
    ": namespaces: get,list,patch,watch (pay,shop)",
    ": namespaces/finalizers: update (pay,shop)",
    `lattice.dev: fleets: ${READS}`,
    "lattice.dev: fleets/status: update",
  ]);
  const roleIn = (namespace: string) =>
    rulesOf(
      objects.filter(({ metadata }) => metadata.namespace === namespace),
      "Role",
    );
  expect(roleIn("pay")).toEqual(roleIn("shop"));
  expect(roleIn("shop")).toEqual([
    `: configmaps,pods: ${OWN}`,
    `apps: deployments: ${OWN}`,
    EVENTS,
    `lattice.dev: widgets: ${READS}`,
    "lattice.dev: widgets/finalizers,widgets/status: update",
  ]);
  expect(roleIn("home")).toEqual([
    `: configmaps: ${WATCHES}`,
    ": secrets: get (key)",
    "coordination.k8s.io: leases: create",
    "coordination.k8s.io: leases: get,update (lattice)",
  ]);
  expect(roleIn("default")).toEqual([EVENTS]);
  for (const { metadata, ...binding } of objects.filter(({ kind }) => kind.endsWith("Binding"))) {
    const name = metadata.namespace === undefined ? "lattice-home" : "lattice";
    expect(binding).toMatchObject({ roleRef: { name }, subjects: [{ kind: "ServiceAccount", name: "lattice", namespace: "home" }] });
  }
});

test("every binding references its role and the service account", () => {
  const objects = rbacFor([], { name: "lattice", namespace: "lattice-system" });
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`)).toEqual([
    "ServiceAccount lattice-system/lattice",
    "ClusterRole -/lattice",
    "ClusterRoleBinding -/lattice",
    "Role lattice-system/lattice",
    "RoleBinding lattice-system/lattice",
  ]);
  for (const kind of ["ClusterRole", "Role"]) {
    expect(objects.find((object) => object.kind === `${kind}Binding`)).toMatchObject({
      roleRef: { kind, name: "lattice" },
      subjects: [{ kind: "ServiceAccount", name: "lattice", namespace: "lattice-system" }],
    });
  }
});

test("the order of the rules does not matter", () => {
  const rules: readonly RbacRule[] = [
    { apiGroups: ["b", "a"], resources: ["y", "x"], verbs: ["get", "create"] },
    { apiGroups: ["a"], resources: ["x"], verbs: ["create", "get"], resourceNames: ["n", "m"] },
  ];
  expect(mergeRules(rules)).toEqual(mergeRules(rules.toReversed()));
  expect(mergeRules(rules).map(line)).toEqual(["a: x,y: create,get", "a: x: create,get (m,n)", "b: x,y: create,get"]);
});

test("permissions in the operator's own namespace are in its Role there, and nowhere else", () => {
  const service = { name: "label", homePermissions: [{ resource: pods, verbs: ["patch"] }] };
  for (const scope of [undefined, { namespaces: ["shop"] }]) {
    const objects = rbacFor([service], { name: "op", namespace: "home", scope });
    const granting = objects.filter((object) => JSON.stringify(field(object, "rules") ?? null).includes("pods"));
    expect(granting.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`)).toEqual(["Role home"]);
    expect(rulesOf(granting, "Role")).toContain(": pods: patch");
  }
});
