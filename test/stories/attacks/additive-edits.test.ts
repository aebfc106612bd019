/**
 * Fields that another client adds to policy objects are removed. Server-side apply alone would leave them: Lattice owns no field inside an
 * empty `spec`. Each story edits an object as a user of `kubectl` does, lets the operator reconcile once, and computes from the objects in
 * the cluster which service reaches which.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, seededRandom } from "#base";
import { keyText, type JsonObject, type KubeObject } from "#kube";
import { reducedMeshCrds } from "#controllers";
import type { FixtureObject } from "#embedded-cluster";
import { calls, externalService, isCalledBy, latticeService } from "../../builders/lattice-objects.ts";
import { ingressGateway, livePlane } from "../../builders/live-plane.ts";
import { OperatedCluster } from "../../builders/operated-cluster.ts";

const GET_ONLY = { front: { direction: "inbound", params: { methods: ["GET"] } } };
const SETTINGS = { ingressDomain: "example.com" };
const ROUTE = { web: { type: "route", params: { host: "api.example.com" } } };
const objects = [
  ingressGateway(),
  externalService("shop/stripe", { endpoints: { api: "https://api.stripe.com" }, allowedRequesters: ["api"] }),
  latticeService("shop/api", { resources: { ...isCalledBy("front"), ...ROUTE, stripe: { type: "external-service" } } }),
  latticeService("shop/front", { resources: calls("api") }),
  latticeService("shop/stranger"),
  latticeService("strict/api", { resources: GET_ONLY }),
  latticeService("strict/front", { resources: calls("api") }),
];

const EXCLUSIVE = ["CiliumNetworkPolicy", "AuthorizationPolicy", "PeerAuthentication", "ServiceEntry", "HTTPRoute", "Gateway"];

let operated: OperatedCluster;

beforeAll(async () => {
  operated = await OperatedCluster.start({ objects, settings: SETTINGS });
  await operated.live(3_000);
}, 60_000);
afterAll(() => operated[Symbol.asyncDispose]());

/** The object without the fields that other clients may write: status and most of the metadata. */
function bodyOf(object: KubeObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { metadata, status: _status, ...body } = object as KubeObject & { readonly status?: unknown };
  const mesh = (all: Readonly<Record<string, string>> = {}) => Object.entries(all).filter(([name]) => /(istio|cilium)\.io\//.test(name));
  return { ...body, labels: mesh(metadata.labels), annotations: mesh(metadata.annotations) };
}

/** Which service reaches which, on the common port, by every method. */
async function reachability() {
  const plane = await livePlane(operated);
  const ends = ["istio-ingress/gateway", ...plane.workloads()];
  return ends.flatMap((from) =>
    plane.workloads().flatMap((to) =>
      ["GET", "POST"].flatMap((method) => {
        const { l4 = false, l7 = false } = plane.ask({ from, to, port: 8080, method }) ?? {};
        return l4 || l7 ? [`${from} -> ${to} ${method} l4=${l4} l7=${l7}`] : [];
      }),
    ),
  );
}

const editAs = (kind: string, key: string, patch: JsonObject, fieldManager = "kubectl-edit") => {
  const [namespace, name] = key.includes("/") ? key.split("/") : [undefined, key];
  return operated.client.patch(
    operated.cluster.resource(kind),
    { namespace, name: name ?? "" },
    { type: "merge", patch },
    { fieldManager },
  );
};

const OPEN_RULES = [{}];
const ALL = [{ fromEntities: ["all"] }];
const DENY = "shop/lattice-default-deny";
const labels = (all: JsonObject) => ({ metadata: { labels: all } });
const annotations = (all: JsonObject) => ({ metadata: { annotations: all } });
const template = (spec: JsonObject) => ({ spec: { template: spec } });

const rows: readonly { readonly name: string; readonly kind: string; readonly key: string; readonly patch: JsonObject }[] = [
  { name: "an allow rule in the default deny", kind: "AuthorizationPolicy", key: DENY, patch: { spec: { rules: OPEN_RULES } } },
  { name: "an action in the default deny", kind: "AuthorizationPolicy", key: DENY, patch: { spec: { action: "AUDIT" } } },
  { name: "a selector", kind: "AuthorizationPolicy", key: DENY, patch: { spec: { selector: { matchLabels: { a: "b" } } } } },
  { name: "a dry run", kind: "AuthorizationPolicy", key: DENY, patch: annotations({ "istio.io/dry-run": "true" }) },
  { name: "a revision that does not exist", kind: "AuthorizationPolicy", key: DENY, patch: labels({ "istio.io/rev": "none" }) },
  {
    name: "a rule, with the owner label taken off",
    kind: "AuthorizationPolicy",
    key: DENY,
    patch: { ...labels({ "lattice.dev/owned-by": null }), spec: { rules: OPEN_RULES } },
  },
  {
    name: "a rule, with a foreign owner label and no owner",
    kind: "AuthorizationPolicy",
    key: DENY,
    patch: { metadata: { labels: { "lattice.dev/owned-by": "other.1" }, ownerReferences: null }, spec: { rules: OPEN_RULES } },
  },
  {
    name: "a rule, with managedFields cleared",
    kind: "AuthorizationPolicy",
    key: DENY,
    patch: { metadata: { managedFields: [{}] }, spec: { rules: OPEN_RULES } },
  },
  { name: "a rule for all", kind: "AuthorizationPolicy", key: "shop/api", patch: { spec: { rules: OPEN_RULES } } },
  {
    name: "the waypoint's deny",
    kind: "AuthorizationPolicy",
    key: "strict/lattice-default-deny-waypoint",
    patch: { spec: { rules: OPEN_RULES } },
  },
  {
    name: "no default deny",
    kind: "CiliumNetworkPolicy",
    key: DENY,
    patch: { spec: { enableDefaultDeny: { ingress: false, egress: false } } },
  },
  { name: "an ingress entry", kind: "CiliumNetworkPolicy", key: DENY, patch: { spec: { ingress: [{}, ...ALL] } } },
  { name: "an egress entry", kind: "CiliumNetworkPolicy", key: "shop/stranger", patch: { spec: { egress: [{ toEntities: ["all"] }] } } },
  { name: "a deny elsewhere", kind: "CiliumNetworkPolicy", key: "shop/api", patch: { spec: { ingressDeny: ALL } } },
  { name: "a description", kind: "CiliumNetworkPolicy", key: "shop/api", patch: { spec: { description: "mine" } } },
  {
    name: "a selector that selects less",
    kind: "CiliumNetworkPolicy",
    key: DENY,
    patch: { spec: { endpointSelector: { matchLabels: { a: "b" } } } },
  },
  {
    name: "a port without mTLS",
    kind: "PeerAuthentication",
    key: DENY,
    patch: { spec: { portLevelMtls: { "8080": { mode: "DISABLE" } } } },
  },
  { name: "a selector", kind: "PeerAuthentication", key: DENY, patch: { spec: { selector: { matchLabels: { a: "b" } } } } },
  {
    name: "a workload behind a host",
    kind: "ServiceEntry",
    key: "shop/stripe",
    patch: { spec: { workloadSelector: { labels: { a: "b" } } } },
  },
  { name: "a host", kind: "ServiceEntry", key: "shop/stripe", patch: { spec: { hosts: ["api.stripe.com", "evil.example.com"] } } },
  { name: "a host", kind: "HTTPRoute", key: "shop/api-web", patch: { spec: { hostnames: ["api.example.com", "*.example.com"] } } },
  { name: "a default filter", kind: "HTTPRoute", key: "shop/api-web", patch: { spec: { useDefaultGateways: "All" } } },
  { name: "an address", kind: "Gateway", key: "strict/waypoint", patch: { spec: { addresses: [{ value: "10.0.0.1" }] } } },
  { name: "another purpose", kind: "Gateway", key: "strict/waypoint", patch: labels({ "istio.io/waypoint-for": "none" }) },
  { name: "another data plane", kind: "Namespace", key: "shop", patch: labels({ "istio.io/dataplane-mode": "none" }) },
  { name: "no data plane", kind: "Namespace", key: "shop", patch: labels({ "istio.io/dataplane-mode": null }) },
  { name: "no waypoint", kind: "Namespace", key: "strict", patch: labels({ "istio.io/use-waypoint": "none" }) },
  { name: "a waypoint elsewhere", kind: "Namespace", key: "shop", patch: labels({ "istio.io/use-waypoint": "mine" }) },
  { name: "a Service without waypoint", kind: "Service", key: "strict/api", patch: labels({ "istio.io/use-waypoint": "none" }) },
  {
    name: "pods outside the mesh, by label",
    kind: "Deployment",
    key: "shop/api",
    patch: template(labels({ "istio.io/dataplane-mode": "none" })),
  },
  {
    name: "pods outside the mesh, by annotation",
    kind: "Deployment",
    key: "shop/api",
    patch: template(annotations({ "ambient.istio.io/redirection": "disabled" })),
  },
  { name: "pods on the node's network", kind: "Deployment", key: "shop/api", patch: template({ spec: { hostNetwork: true } }) },
  {
    name: "pods that call themselves another service",
    kind: "Deployment",
    key: "shop/stranger",
    patch: template(labels({ "lattice.dev/service": "front" })),
  },
];

describe("fields that another client adds are removed", () => {
  test.each(rows)("$kind $key: $name", async ({ kind, key, patch }) => {
    const [before, reach] = [bodyOf(await operated.read(kind, key)), await reachability()];
    expectOk(await editAs(kind, key, patch));
    await operated.live(3_000);
    expect(bodyOf(await operated.read(kind, key))).toEqual(before);
    expect(await reachability()).toEqual(reach);
  });

  test("also when they are applied under the name of Lattice's own field manager", async () => {
    const object = {
      apiVersion: "security.istio.io/v1",
      kind: "AuthorizationPolicy",
      metadata: { name: "lattice-default-deny", namespace: "shop" },
    };
    const forged = { ...object, spec: { rules: [{}] } } as unknown as KubeObject;
    const reach = await reachability();
    expectOk(
      await operated.client.apply(operated.cluster.resource("AuthorizationPolicy"), forged, { fieldManager: "lattice", force: true }),
    );
    await operated.live(3_000);
    expect(await operated.read("AuthorizationPolicy", DENY)).toMatchObject({ spec: {} });
    expect(bodyOf(await operated.read("AuthorizationPolicy", DENY))).not.toHaveProperty("spec.rules");
    expect(await reachability()).toEqual(reach);
  });

  test("repeated edits are reported by an event on the object's owner", async () => {
    expectOk(await editAs("AuthorizationPolicy", "shop/api", { spec: { rules: OPEN_RULES } }));
    await operated.live(3_000);
    const notes = (await operated.events()).filter(({ reason }) => reason === "ForeignFieldsRemoved");
    expect(notes.map(({ type, note }) => `${type}: ${note}`)).toContainEqual(
      expect.stringMatching(/^Warning: removed what another client added to AuthorizationPolicy shop\/api: spec/),
    );
  });
});

test("fields that other controllers may add are kept", async () => {
  const kept = [
    { kind: "Deployment", key: "shop/api", patch: template({ metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } }) },
    { kind: "Gateway", key: "strict/waypoint", patch: annotations({ "gateway.istio.io/controller-version": "5" }) },
    { kind: "CiliumNetworkPolicy", key: "shop/api", patch: annotations({ "example.com/note": "mine" }) },
  ];
  for (const { kind, key, patch } of kept) {
    expectOk(await editAs(kind, key, patch));
    await operated.live(3_000);
    expect(await operated.read(kind, key)).toMatchObject(patch);
  }
});

test("for random additions to any of these objects, one reconcile restores the compiled objects and their reachability", async () => {
  const random = seededRandom(20_260);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const reach = await reachability();
  const values: readonly JsonObject[keyof JsonObject][] = [[{}], ALL, { ingress: false }, "DISABLE", { matchLabels: { a: "b" } }, true, []];
  const names = ["rules", "selector", "action", "ingress", "egress", "enableDefaultDeny", "mtls", "hosts", "listeners", "anything"];
  for (let round = 0; round < 25; round += 1) {
    const all = (await Promise.all(EXCLUSIVE.map((kind) => operated.list(kind)))).flat();
    const ours = all.filter(({ metadata }) => metadata.namespace === "shop" || metadata.namespace === "strict");
    const edits = Array.from({ length: 4 }, () => ({ target: pick(ours), patch: { spec: { [pick(names)]: pick(values) ?? null } } }));
    for (const { target, patch } of edits) await editAs(target.kind, keyText(target.metadata), patch, pick(["kubectl", "helm", "lattice"]));
    await operated.live(1_000);
    expect(await reachability()).toEqual(reach);
    for (const { target } of edits) {
      const now = bodyOf(await operated.read(target.kind, keyText(target.metadata)));
      expect({ round, edits, now }).toEqual({ round, edits, now: bodyOf(target) });
    }
  }
}, 60_000);

test("objects without foreign edits keep their resourceVersion", async () => {
  const versions = async () => {
    const all = (await Promise.all(EXCLUSIVE.map((kind) => operated.list(kind)))).flat();
    return all.map(({ kind, metadata }) => `${kind} ${keyText(metadata)} ${metadata.resourceVersion ?? ""}`);
  };
  const before = await versions();
  await operated.live(130_000, 10_000);
  await operated.stopOperator();
  operated.startOperator();
  await operated.live(10_000, 1_000);
  expect(await versions()).toEqual(before);
});

test("values that the API server defaults are not written again and again", async () => {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const spec = { ...anything, properties: { mode: { type: "string", default: "Fast" } } };
  const item = { ...anything, properties: { weight: { type: "integer", default: 1 } } };
  const rules = { ...anything, properties: { rules: { type: "array", items: item } } };
  const defaulted = reducedMeshCrds().map((crd) => {
    const copy = structuredClone(crd) as unknown as { spec: { names: { kind: string }; versions: { schema: object }[] } };
    const schema = copy.spec.names.kind === "HTTPRoute" ? rules : spec;
    for (const version of copy.spec.versions)
      version.schema = { openAPIV3Schema: { type: "object", properties: { spec: schema, status: anything } } };
    return copy as unknown as FixtureObject;
  });
  await using filled = await OperatedCluster.start({ mesh: defaulted, objects, settings: SETTINGS });
  await filled.live(5_000);
  expect(await filled.read("AuthorizationPolicy", DENY)).toMatchObject({ spec: { mode: "Fast" } });
  expect(await filled.read("HTTPRoute", "shop/api-web")).toMatchObject({ spec: { rules: [{ weight: 1 }] } });
  const versions = async () =>
    (await filled.list("HTTPRoute")).concat(await filled.list("AuthorizationPolicy")).map((one) => one.metadata.resourceVersion);
  const [before, quiet] = [await versions(), filled.writes().length];
  await filled.live(130_000, 10_000);
  expect(filled.writes().slice(quiet)).toEqual([]);
  await filled.stopOperator();
  filled.startOperator();
  await filled.live(5_000, 500);
  const asked = filled.writes().slice(quiet);
  await filled.live(130_000, 10_000);
  // after a restart each object is compared once with the result of a dry run, which changes nothing
  expect(filled.writes().slice(quiet)).toEqual(asked);
  expect(await versions()).toEqual(before);
  expect((await filled.events()).filter(({ reason }) => reason === "ForeignFieldsRemoved")).toEqual([]);
  const patch = { type: "merge", patch: { spec: { rules: [{}], mode: "Slow" } } } as const;
  await filled.client.patch(filled.cluster.resource("AuthorizationPolicy"), { namespace: "shop", name: "lattice-default-deny" }, patch);
  await filled.live(2_000);
  expect(await filled.read("AuthorizationPolicy", DENY)).toHaveProperty("spec", { mode: "Fast" });
}, 60_000);
