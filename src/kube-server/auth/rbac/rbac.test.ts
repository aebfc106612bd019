import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { createMemoryStore, type Store } from "../../store/index.ts";
import type { User } from "../../protocol/request.ts";
import type { Access } from "../../protocol/auth-port.ts";
import { rbacOf } from "./rbac.ts";

const GROUP = "rbac.authorization.k8s.io";
type IndexedSubject = { readonly kind: string; readonly name: string; readonly namespace?: string };

const COLLECTIONS: Readonly<Record<string, string>> = {
  Role: "roles",
  ClusterRole: "clusterroles",
  RoleBinding: "rolebindings",
  ClusterRoleBinding: "clusterrolebindings",
};

function put(store: Store, kind: string, name: string, content: object, namespace?: string): void {
  const collection = `${GROUP}/${COLLECTIONS[kind] ?? ""}`;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const object = { apiVersion: `${GROUP}/v1`, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, ...content };
  store.write({ collection, key, expected: store.get(collection, key)?.revision, object: () => object });
}

function remove(store: Store, kind: string, key: string): void {
  const collection = `${GROUP}/${COLLECTIONS[kind] ?? ""}`;
  store.write({ collection, key, expected: store.get(collection, key)?.revision, object: undefined });
}

const rules = (...verbs: readonly string[]) => ({ rules: [{ verbs, apiGroups: [""], resources: ["pods"] }] });
const binding = (kind: string, name: string, ...subjects: readonly IndexedSubject[]) => ({
  roleRef: { apiGroup: GROUP, kind, name },
  subjects,
});
const user = (name: string, ...groups: readonly string[]): User => ({ name, uid: "", groups });
const pods = (verb: string, namespace?: string): Access => ({
  kind: "resource",
  verb,
  group: "",
  version: "v1",
  resource: "pods",
  subresource: undefined,
  namespace,
  name: "",
});

test("a binding is effective from its creation until it is changed or deleted", () => {
  const store = createMemoryStore();
  const { authorize } = rbacOf(store);
  const alice = user("alice", "devs");
  expect(authorize(alice, pods("get", "n"))).toEqual({ allowed: false, reason: "" });
  put(store, "Role", "r", rules("get"), "n");
  put(store, "RoleBinding", "b", binding("Role", "r", { kind: "Group", name: "devs" }, { kind: "User", name: "alice" }), "n");
  expect(authorize(alice, pods("get", "n"))).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/n" of Role "r" to Group "devs"',
  });
  expect(authorize(alice, pods("get", "other")).allowed).toBe(false);
  expect(authorize(alice, pods("get")).allowed).toBe(false);
  put(store, "Role", "r", rules("list"), "n");
  expect(authorize(alice, pods("get", "n")).allowed).toBe(false);
  put(store, "RoleBinding", "b", binding("Role", "r", { kind: "User", name: "bob" }), "n");
  expect(authorize(alice, pods("list", "n")).allowed).toBe(false);
  expect(authorize(user("bob"), pods("list", "n")).allowed).toBe(true);
  remove(store, "RoleBinding", "n/b");
  expect(authorize(user("bob"), pods("list", "n")).allowed).toBe(false);
});

test("a ClusterRole applies cluster-wide through a ClusterRoleBinding, and in one namespace through a RoleBinding", () => {
  const store = createMemoryStore();
  const { authorize } = rbacOf(store);
  put(store, "ClusterRole", "reader", rules("get"));
  put(store, "ClusterRoleBinding", "all", binding("ClusterRole", "reader", { kind: "User", name: "ann" }));
  put(store, "RoleBinding", "one", binding("ClusterRole", "reader", { kind: "User", name: "ben" }), "n");
  expect(authorize(user("ann"), pods("get")).reason).toBe(
    'RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to User "ann"',
  );
  expect(authorize(user("ann"), pods("get", "x")).allowed).toBe(true);
  expect(authorize(user("ben"), pods("get")).allowed).toBe(false);
  expect(authorize(user("ben"), pods("get", "n")).allowed).toBe(true);
});

test("a ServiceAccount without a namespace is in that of the binding, which a ClusterRoleBinding does not have", () => {
  const store = createMemoryStore();
  const { authorize } = rbacOf(store);
  put(store, "ClusterRole", "reader", rules("get"));
  put(
    store,
    "RoleBinding",
    "b",
    binding("ClusterRole", "reader", { kind: "ServiceAccount", name: "sa" }, { kind: "Alien", name: "x" }),
    "n",
  );
  put(store, "ClusterRoleBinding", "c", binding("ClusterRole", "reader", { kind: "ServiceAccount", name: "sb" }));
  const robot = user("system:serviceaccount:n:sa");
  expect(authorize(robot, pods("get", "n")).reason).toBe(
    'RBAC: allowed by RoleBinding "b/n" of ClusterRole "reader" to ServiceAccount "sa/n"',
  );
  expect(authorize(user("system:serviceaccount:n:sb"), pods("get", "n")).allowed).toBe(false);
});

test("system:masters may do everything without rules", () => {
  const { authorize } = rbacOf(createMemoryStore());
  expect(authorize(user("x", "system:masters"), pods("anything"))).toEqual({ allowed: true, reason: "" });
});

test("missing roles are reported, once each, and rules that are found still count", () => {
  const store = createMemoryStore();
  const rbac = rbacOf(store);
  put(store, "ClusterRole", "reader", rules("get"));
  put(store, "RoleBinding", "a", binding("Role", "gone", { kind: "User", name: "u" }), "n");
  put(store, "RoleBinding", "b", binding("Alien", "odd", { kind: "User", name: "u" }), "n");
  put(store, "RoleBinding", "c", binding("Role", "gone", { kind: "User", name: "u" }), "n");
  const missing = 'role.rbac.authorization.k8s.io "gone" not found, unsupported role reference kind: "Alien"';
  expect(rbac.authorize(user("u"), pods("get", "n"))).toEqual({ allowed: false, reason: `RBAC: [${missing}]` });
  put(store, "ClusterRoleBinding", "d", binding("ClusterRole", "reader", { kind: "User", name: "u" }));
  expect(rbac.authorize(user("u"), pods("get", "n")).allowed).toBe(true);
  expect(rbac.rulesFor(user("u"), "n")).toMatchObject({ rules: [{ verbs: ["get"] }], error: `[${missing}]` });
  expect(rbac.rulesFor(user("u"), "")).toMatchObject({ error: "" });
});

test("one store has one Rbac, which includes earlier objects", () => {
  const store = createMemoryStore();
  put(store, "ClusterRole", "reader", rules("get"));
  put(store, "ClusterRoleBinding", "b", binding("ClusterRole", "reader", { kind: "User", name: "u" }));
  expect(rbacOf(store)).toBe(rbacOf(store));
  expect(rbacOf(store).authorize(user("u"), pods("get")).allowed).toBe(true);
});

const NAMES = ["a", "b", "c"] as const;
const subject = fc.oneof(
  fc.record({ kind: fc.constantFrom("User", "Group"), name: fc.constantFrom(...NAMES) }),
  fc.record({ kind: fc.constant("ServiceAccount"), name: fc.constantFrom(...NAMES), namespace: fc.constantFrom("n", "") }),
);
const change = fc.record({
  name: fc.constantFrom(...NAMES),
  namespace: fc.constantFrom(undefined, "n", "m"),
  verb: fc.constantFrom("get", "list"),
  subjects: fc.array(subject, { maxLength: 3 }),
  deleted: fc.boolean(),
});

/** A reference implementation of RBAC without an index. */
function plainly(store: Store, who: User, access: Extract<Access, { kind: "resource" }>): boolean {
  const listed = [...listOf(store, "clusterrolebindings"), ...listOf(store, "rolebindings")];
  return listed.some((one) => {
    const { metadata, roleRef, subjects } = one as unknown as {
      metadata: { namespace?: string };
      roleRef: { name: string };
      subjects: readonly IndexedSubject[];
    };
    const near = metadata.namespace === undefined || metadata.namespace === access.namespace;
    const means = subjects.some(({ kind, name, namespace = "" }) => {
      if (kind === "User") return who.name === name;
      if (kind === "Group") return who.groups.includes(name);
      const home = namespace === "" ? metadata.namespace : namespace;
      return home !== undefined && who.name === `system:serviceaccount:${home}:${name}`;
    });
    return near && means && roleRef.name === access.verb;
  });
}

function listOf(store: Store, plural: string): readonly KubeObject[] {
  const listed = store.list(`${GROUP}/${plural}`);
  return listed.ok ? listed.value.items.map(({ object }) => object) : [];
}

test("for every sequence of writes the index agrees with a scan of all bindings", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const store = createMemoryStore();
      const { authorize } = rbacOf(store);
      for (const verb of ["get", "list"]) put(store, "ClusterRole", verb, rules(verb));
      for (const { name, namespace, verb, subjects, deleted } of changes) {
        const kind = namespace === undefined ? "ClusterRoleBinding" : "RoleBinding";
        if (deleted) remove(store, kind, namespace === undefined ? name : `${namespace}/${name}`);
        else put(store, kind, name, binding("ClusterRole", verb, ...subjects), namespace);
        for (const who of [user("a"), user("x", "b", "c"), user("system:serviceaccount:n:a"), user("system:serviceaccount:m:b", "a")]) {
          for (const place of [undefined, "n", "m"]) {
            for (const wanted of ["get", "list"]) {
              const access = pods(wanted, place) as Extract<Access, { kind: "resource" }>;
              expect(authorize(who, access).allowed).toBe(plainly(store, who, access));
            }
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});
