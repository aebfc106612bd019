import { expect, test } from "vitest";
import { FakeClock, seededRandom } from "#base";
import type { KubeObject } from "#kube";
import { builtinKinds } from "../../kinds.ts";
import { guardedServer } from "../../rest/server.test-support.ts";
import { TypeRegistry } from "../../protocol/type-registry.ts";
import { createMemoryStore } from "../../store/index.ts";
import { rulesOf } from "../rbac/rules.ts";
import { ensureBootstrapObjects } from "./bootstrap.ts";

const ROLES = "rbac.authorization.k8s.io/clusterroles";
const BINDINGS = "rbac.authorization.k8s.io/clusterrolebindings";

function world() {
  const store = createMemoryStore();
  const context = { store, types: new TypeRegistry(builtinKinds(store)), clock: new FakeClock(), random: seededRandom(1) };
  const change = (collection: string, key: string, content: object | undefined) => {
    const known = store.get(collection, key);
    const object = content === undefined ? undefined : () => ({ ...known?.object, ...content }) as KubeObject;
    store.write({ collection, key, expected: known?.revision, object });
  };
  return { store, start: () => ensureBootstrapObjects(context), change };
}

test("a new cluster has the roles, bindings, priorities and the Service of a real one", async () => {
  const { ask } = guardedServer();
  const names = async (url: string) => {
    const { items } = (await ask("GET", url)).body as unknown as { items: readonly KubeObject[] };
    return items.map(({ metadata }) => metadata.name);
  };
  expect(await names("/apis/rbac.authorization.k8s.io/v1/clusterroles")).toHaveLength(69);
  expect(await names("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings")).toHaveLength(50);
  expect(await names("/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles")).toHaveLength(6);
  expect(await names("/apis/scheduling.k8s.io/v1/priorityclasses")).toEqual(["system-cluster-critical", "system-node-critical"]);
  expect((await ask("GET", "/api/v1/namespaces/default/services/kubernetes")).body).toMatchObject({
    spec: { clusterIP: "10.0.0.1", ports: [{ name: "https", port: 443 }] },
  });
});

test("each initial object equals that of a real server", async () => {
  const { ask } = guardedServer();
  const { body } = await ask("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view");
  expect(body).toMatchObject({
    kind: "ClusterRole",
    metadata: {
      labels: { "kubernetes.io/bootstrapping": "rbac-defaults", "rbac.authorization.k8s.io/aggregate-to-edit": "true" },
      annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
      managedFields: [{ manager: "kube-apiserver", operation: "Update", fieldsV1: { "f:aggregationRule": {} } }],
    },
    rules: null,
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } }] },
  });
  const url = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:public-info-viewer";
  expect((await ask("GET", url)).body).toMatchObject({
    rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"] }],
  });
});

test("initial objects are valid: writing them back changes nothing", async () => {
  const { ask, server } = guardedServer();
  const { revision } = server.store;
  for (const url of [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/api/v1/namespaces/default/services",
  ]) {
    const { items } = (await ask("GET", url)).body as unknown as { items: readonly KubeObject[] };
    for (const { metadata } of items) {
      const { body } = await ask("GET", `${url}/${metadata.name}`);
      expect(await ask("PUT", `${url}/${metadata.name}`, { body })).toMatchObject({ status: 200, body });
    }
  }
  expect(server.store.revision).toBe(revision);
});

test("a second start changes nothing when nothing was changed", () => {
  const { store, start } = world();
  start();
  const { revision } = store;
  start();
  expect(store.revision).toBe(revision);
});

test("a start restores removed rules and keeps added ones", () => {
  const { store, start, change } = world();
  start();
  change(ROLES, "cluster-admin", undefined);
  const own = { verbs: ["get"], apiGroups: [""], resources: ["mine"] };
  change(ROLES, "system:discovery", { rules: [own] });
  change(BINDINGS, "system:basic-user", { subjects: [{ kind: "User", name: "me" }] });
  start();
  expect(store.get(ROLES, "cluster-admin")).toBeDefined();
  const rules = rulesOf(store.get(ROLES, "system:discovery")?.object ?? { apiVersion: "", kind: "", metadata: { name: "" } });
  expect(rules[0]).toMatchObject(own);
  expect(rules.flatMap(({ nonResourceURLs }) => nonResourceURLs)).toContain("/apis/*");
  expect(store.get(BINDINGS, "system:basic-user")?.object).toMatchObject({ subjects: [{ name: "me" }, { name: "system:authenticated" }] });
});

test("autoupdate=false keeps a default unchanged, and aggregated rules stay", () => {
  const { store, start, change } = world();
  start();
  const { metadata } = store.get(ROLES, "system:discovery")?.object ?? { metadata: { name: "" } };
  change(ROLES, "system:discovery", {
    rules: [],
    metadata: { ...metadata, annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } },
  });
  change(ROLES, "view", { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] });
  change("scheduling.k8s.io/priorityclasses", "system-node-critical", { description: "mine" });
  const { revision } = store;
  start();
  expect(store.revision).toBe(revision);
});

test("a server records its identity, its client authority and its tracking of tokens in kube-system", async () => {
  const { ask } = guardedServer();
  const records = async () => {
    const { items: maps } = (await ask("GET", "/api/v1/namespaces/kube-system/configmaps")).body as unknown as { items: readonly object[] };
    const { items: leases } = (await ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")).body as unknown as {
      items: readonly object[];
    };
    return { maps, leases };
  };
  expect(await records()).toMatchObject({
    maps: [
      { metadata: { name: "extension-apiserver-authentication" } },
      {
        metadata: { name: "kube-apiserver-legacy-service-account-token-tracking", managedFields: [{ manager: "kube-apiserver" }] },
        data: { since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string },
      },
    ],
    leases: [
      {
        metadata: {
          name: expect.stringMatching(/^apiserver-[a-z2-7]{26}$/) as string,
          labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" },
        },
        spec: { holderIdentity: expect.stringMatching(/^apiserver-[a-z2-7]{26}_[0-9a-f-]{36}$/) as string, leaseDurationSeconds: 3600 },
      },
    ],
  });
});
