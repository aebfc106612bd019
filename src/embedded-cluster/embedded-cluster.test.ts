import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { ClusterError, failWith, resources, startEmbeddedCluster, type AnyObject, type EmbeddedCluster } from "#embedded-cluster";
import { fileTree } from "../../test/builders/file-tree.ts";
import { clientOf } from "../../test/builders/kubeconfig-client.ts";

const { configmaps, deployments, namespaces, nodes, pods } = resources;
const key = { namespace: "default", name: "a" };
const configMap: AnyObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" }, data: { a: "1" } };

describe("clients", () => {
  it("of the users of the options, and of any other user", async () => {
    await using cluster = await startEmbeddedCluster({ users: [{ name: "alice", groups: ["system:masters"] }] });
    await cluster.clientFor("alice").list(nodes);
    await cluster.clientFor({ name: "bob", groups: ["system:masters"] }).list(nodes);
    expect(cluster.clientFor("alice")).toBe(cluster.clientFor("alice"));
    expect([...cluster.actions].map(({ user }) => user.name)).toEqual(["alice", "bob"]);
    expect(() => cluster.clientFor("carol")).toThrow(new ClusterError('there is no user "carol"; there are admin, alice'));
  });

  it("RBAC limits users, as on a real cluster", async () => {
    const apiGroup = "rbac.authorization.k8s.io";
    const role = {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRole",
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
    };
    const binding = {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "alice" },
      roleRef: { apiGroup, kind: "ClusterRole", name: "reader" },
      subjects: [{ apiGroup, kind: "User", name: "alice" }],
    };
    await using cluster = await startEmbeddedCluster({ objects: [configMap], users: [{ name: "alice" }] });
    const alice = cluster.clientFor("alice");
    expect(await alice.get(configmaps, key)).toMatchObject({
      error: { kind: "forbidden", message: expect.stringContaining('User "alice" cannot get') },
    });
    await cluster.add(role, binding);
    expect(await alice.get(configmaps, key)).toMatchObject({ ok: true });
    expect(cluster.actions.toString()).toContain("1. get configmaps default/a as alice -> 403 Forbidden");
  });

  it("get copies: changes of a test do not affect the server", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap] });
    const mine = expectOk(await cluster.client.get(configmaps, key)) as { data: Record<string, string> };
    mine.data["a"] = "2";
    expect(expectOk(await cluster.client.get(configmaps, key)).data).toEqual({ a: "1" });
  });

  it("resources are found by kind, and the error for an unknown kind has the fix", async () => {
    await using cluster = await startEmbeddedCluster();
    expect(cluster.resource("Deployment")).toMatchObject(deployments);
    expect(cluster.resource("HorizontalPodAutoscaler", "autoscaling/v1")).toMatchObject({ version: "v1" });
    expect(() => cluster.resource("Widget")).toThrow("no kind Widget in any group; add its CustomResourceDefinition");
  });

  it("requests without a client method can be sent by path", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap] });
    expect(await cluster.request("GET", "/api/v1/namespaces/default/configmaps/a")).toMatchObject({
      code: 200,
      body: { data: { a: "1" } },
    });
    expect(await cluster.request("GET", "/healthz")).toEqual({ code: 200, warnings: [], body: "ok" });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, odd: 1 };
    const created = await cluster.request("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", body);
    expect(created).toMatchObject({ code: 201, warnings: ['unknown field "odd"'] });
    cluster.intercept({}, failWith("network"));
    expect(await cluster.request("GET", "/version")).toMatchObject({ body: null });
  });
});

describe("field selectors of a test", () => {
  const pod = (name: string, owners: readonly string[]): AnyObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", annotations: { owners: owners.join(",") } },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  const indexes = [
    {
      resource: pods,
      field: "owner",
      values: (object: { metadata: { annotations?: Record<string, string> } }) => object.metadata.annotations?.["owners"]?.split(",") ?? [],
    },
  ];

  it("list by one value or by each of several", async () => {
    await using cluster = await startEmbeddedCluster({ indexes, objects: [pod("a", ["x"]), pod("b", ["x", "y"]), pod("c", ["z"])] });
    const names = async (fieldSelector: string) =>
      expectOk(await cluster.client.list(pods, { fieldSelector })).items.map(({ metadata }) => metadata.name);
    expect(await names("owner=x")).toEqual(["a", "b"]);
    expect(await names("owner=y")).toEqual(["b"]);
    expect(await names("owner!=x")).toEqual(["c"]);
    expect(await names("owner=x,metadata.name=a")).toEqual(["a"]);
    expect(await cluster.client.list(pods, { fieldSelector: "owners=x" })).toMatchObject({ error: { kind: "bad-request" } });
  });

  it("watch by it: an object that leaves the selection is deleted for the watcher", async () => {
    await using cluster = await startEmbeddedCluster({ indexes, objects: [pod("a", ["x"])] });
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const item of cluster.client.watch(pods, { fieldSelector: "owner=x" }, stop.signal)) {
      const event = expectOk(item);
      if (event.type === "BOOKMARK") {
        await cluster.client.patch(pods, key, { type: "merge", patch: { metadata: { annotations: { owners: "y" } } } });
        continue;
      }
      seen.push(event.type);
      if (event.type === "DELETED") stop.abort();
    }
    expect(seen).toEqual(["ADDED", "DELETED"]);
  });

  it("custom resources have them too", async () => {
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Cluster",
        names: { plural: "widgets", kind: "Widget" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    };
    const widget = (name: string) => ({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name } });
    const byLength = [
      {
        resource: { group: "example.com", plural: "widgets" },
        field: "length",
        values: (object: AnyObject) => String(object.metadata.name.length),
      },
    ];
    await using cluster = await startEmbeddedCluster({ indexes: byLength, objects: [definition, widget("a"), widget("bb")] });
    const listed = expectOk(await cluster.client.list(cluster.resource("Widget"), { fieldSelector: "length=2" }));
    expect(listed.items.map(({ metadata }) => metadata.name)).toEqual(["bb"]);
  });
});

describe("waiting for objects", () => {
  it("resolves at once when the condition holds, and as soon as it does", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap] });
    const has = (value: string) => (object: AnyObject | undefined) => object?.data?.["a"] === value;
    expect(await cluster.waitFor(configmaps, key, has("1"))).toMatchObject({ data: { a: "1" } });
    const waiting = cluster.waitFor(configmaps, key, has("2"));
    await cluster.client.create(configmaps, { ...configMap, metadata: { name: "b", namespace: "default" } });
    await cluster.client.patch(configmaps, key, { type: "merge", patch: { data: { a: "2" } } });
    expect(await waiting).toMatchObject({ data: { a: "2" } });
    const gone = cluster.waitFor(configmaps, key, (object) => object === undefined);
    await cluster.client.delete(configmaps, key);
    expect(await gone).toBeUndefined();
  });

  it("the error after the time limit has the object", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap], clock: "fake" });
    const never = (name: string) => cluster.waitFor(configmaps, { namespace: "default", name }, () => false, { timeoutMs: 1 });
    await expect(never("a")).rejects.toThrow(/ConfigMap default\/a did not meet the condition within 1 ms; it is \{"/);
    await expect(never("none")).rejects.toThrow("it does not exist");
    const odd = { ...configmaps, plural: "odd" };
    await expect(cluster.waitFor(odd, key, () => true)).rejects.toThrow("the server has no odd");
  });

  it("a watch from before forgetHistory lists again", async () => {
    await using cluster = await startEmbeddedCluster();
    const { resourceVersion } = expectOk(await cluster.client.list(configmaps)).metadata;
    await cluster.client.create(configmaps, configMap);
    cluster.forgetHistory();
    for await (const item of cluster.client.watch(configmaps, { resourceVersion }, new AbortController().signal)) {
      expect(item).toMatchObject({ ok: false, error: { kind: "gone" } });
    }
  });

  it("a cluster without controllers is settled", async () => {
    await using system = await startEmbeddedCluster();
    await using fake = await startEmbeddedCluster({ clock: "fake" });
    await Promise.all([system.settled(), fake.settled()]);
  });
});

describe("over HTTP", () => {
  it("each user has a kubeconfig", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap], users: [{ name: "alice", groups: ["system:masters"] }] });
    const alice = await clientOf(await cluster.kubeconfig({ user: "alice" }));
    expect(await alice.get(configmaps, key)).toMatchObject({ ok: true, value: { data: { a: "1" } } });
    expect([...cluster.actions].map(({ user }) => user.name)).toEqual(["alice"]);
    await alice.close();
    await expect(cluster.kubeconfig({ user: "bob" })).rejects.toThrow('there is no user "bob"');
  });

  it("listens once, and discovery has the address", async () => {
    await using cluster = await startEmbeddedCluster();
    const [one, two] = await Promise.all([cluster.listen(), cluster.listen({ port: 1 })]);
    expect(one).toEqual(two);
    expect(one).toMatchObject({
      url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      certificateAuthority: expect.stringContaining("BEGIN CERTIFICATE"),
    });
    expect(expectOk(await cluster.client.raw("/api"))).toContain(one.url.slice("https://".length));
  });

  it("interceptors and broken connections apply to HTTP clients too", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({ verb: "create" }, failWith("conflict"));
    cluster.intercept({ verb: "delete" }, failWith("network"));
    for (const http of [false, true]) {
      await using other = await startEmbeddedCluster();
      other.intercept({ verb: "create" }, failWith("conflict"));
      other.intercept({ verb: "delete" }, failWith("network"));
      const client = await clientOf(await other.kubeconfig({ http }));
      expect(await client.create(configmaps, configMap)).toMatchObject({ error: { kind: "conflict" } });
      expect(await client.delete(configmaps, key)).toMatchObject({ error: { kind: "network" } });
      expect(await client.get(namespaces, { name: "default" })).toMatchObject({ ok: true });
      await client.close();
    }
  });

  it("a port in use is an error, and listen can be called again", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await using cluster = await startEmbeddedCluster();
    await expect(cluster.listen({ port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    expect(await cluster.listen()).toMatchObject({ url: expect.any(String) });
    taken.close();
  });

  it("only the owner can read the file", async () => {
    const root = await fileTree({ old: "" });
    await using cluster = await startEmbeddedCluster();
    await cluster.writeKubeconfig(join(root, "old"));
    expect((await stat(join(root, "old"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(root, "old"), "utf8")).toContain("current-context: lattice");
    await expect(cluster.writeKubeconfig(join(root, "none", "x"))).rejects.toThrow("cannot be written");
  });
});

describe("peek", () => {
  it("reads a stored object at once and unlogged, as a copy; undefined for what does not exist", async () => {
    await using cluster = await startEmbeddedCluster();
    const key = { name: "default" };
    cluster.actions.clear();
    const found = cluster.peek(namespaces, key);
    expect([found?.metadata.name, cluster.peek(namespaces, { name: "absent" }), cluster.actions.length]).toEqual(["default", undefined, 0]);
    expect(cluster.peek(namespaces, key)).not.toBe(found);
    expect(cluster.peek({ ...namespaces, plural: "absent" }, key)).toBeUndefined();
  });
});

describe("beforeStart", () => {
  it("gets the cluster before its controllers write", async () => {
    const accounts: unknown[] = [];
    const beforeStart = (opened: EmbeddedCluster) =>
      accounts.push(opened.peek(resources.serviceaccounts, { namespace: "default", name: "default" }));
    await using cluster = await startEmbeddedCluster({ controllers: { beforeStart } });
    await cluster.settled();
    expect(accounts).toEqual([undefined]);
    expect(cluster.peek(resources.serviceaccounts, { namespace: "default", name: "default" })).toBeDefined();
  });
});
