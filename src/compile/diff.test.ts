import { describe, expect, it } from "vitest";
import type { Json, KubeObject } from "#kube";
import { serviceYaml, worldOf } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { diffObjects, isSame } from "./diff.ts";
import { formatDiff } from "./diff-text.ts";
import { changedFields } from "./diff/fields.ts";
import type { WorldOptions } from "./documents.ts";

function compiled(texts: string | readonly string[], options: WorldOptions = { placeholderSecrets: true }): readonly KubeObject[] {
  const { namespaces, objects, errors } = compileAll(worldOf(texts, options));
  expect([...errors]).toEqual([]);
  return [...namespaces, ...objects];
}

const api = (main: string, more = "") =>
  `apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: api, namespace: shop}\nspec:\n  containers:\n    main: ${main}\n  service: {ports: {http: {port: 80}}}\n${more}`;

const diffOf = (before: string | readonly string[], after: string | readonly string[], options?: WorldOptions) =>
  diffObjects(compiled(before, options), compiled(after, options));

describe("objects", () => {
  it("that are equal give no difference", () => {
    const diff = diffOf(serviceYaml("a"), serviceYaml("a"));
    expect(isSame(diff)).toBe(true);
    expect(formatDiff(diff)).toBe("no differences\n");
  });

  it("are added, removed and changed, with the fields and both values", () => {
    const diff = diffOf([serviceYaml("a"), serviceYaml("gone")], [serviceYaml("a").replace("a:1", "a:2"), serviceYaml("new")]);
    expect(diff.objects.filter(({ object }) => object.startsWith("Deployment"))).toEqual([
      {
        change: "changed",
        object: "Deployment shop/a",
        fields: [{ path: "spec.template.spec.containers[main].image", change: "changed", before: "a:1", after: "a:2" }],
      },
      { change: "removed", object: "Deployment shop/gone", fields: [] },
      { change: "added", object: "Deployment shop/new", fields: [] },
    ]);
  });

  it("that differ only in the config hash are reported by the changed config", () => {
    const { objects, rolls } = diffOf(api("{image: a, variables: {A: one}}"), api("{image: a, variables: {A: two}}"));
    expect(objects).toEqual([
      { change: "changed", object: "ConfigMap shop/api-env", fields: [{ path: "data.A", change: "changed", before: "one", after: "two" }] },
    ]);
    expect(rolls).toEqual([{ workload: "Deployment shop/api", because: ["ConfigMap shop/api-env"] }]);
  });
});

describe("secrets", () => {
  const text = api('{image: a, variables: {P: "${resources.db.password}"}}', "  resources: {db: {type: postgres}}\n");

  it("that differ are changed, and the values are not printed", () => {
    const [before, after] = ["first-value", "second-value"].map(
      (value) =>
        [
          { apiVersion: "v1", kind: "Secret", metadata: { name: "api-secrets", namespace: "shop" }, data: { P: btoa(value) } },
        ] as unknown as KubeObject[],
    );
    const diff = diffObjects(before ?? [], after ?? []);
    expect(diff.objects).toEqual([
      { change: "changed", object: "Secret shop/api-secrets", fields: [{ path: "data.P", change: "changed" }] },
    ]);
    expect(JSON.stringify(diff) + formatDiff(diff)).not.toMatch(/first|second|Zmlyc3Q|c2Vjb25k/);
  });

  it("with placeholder values give no difference", () => {
    const placeholder = compiled(text);
    const real = placeholder.map((object) =>
      object.kind === "Secret" ? ({ ...object, data: { P: btoa("real") } } as unknown as KubeObject) : object,
    );
    expect(diffObjects(real, placeholder)).toMatchObject({ objects: [], rolls: [] });
  });

  it("data that is added or removed as a whole is reported without values", () => {
    const secret = (data: object) =>
      [{ apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n" }, ...data }] as unknown as KubeObject[];
    const diff = diffObjects(secret({}), secret({ data: { a: btoa("hidden") }, type: "Opaque" }));
    expect(diff.objects[0]?.fields).toEqual([
      { path: "data", change: "added" },
      { path: "type", change: "added", after: "Opaque" },
    ]);
    const removed = diffObjects(secret({ data: { "a.b": btoa("x"), c: "x" } }), secret({ data: { c: "x" } }));
    expect(removed.objects[0]?.fields).toEqual([{ path: 'data["a.b"]', change: "removed" }]);
  });
});

describe("values that move between kinds", () => {
  it("between a ConfigMap and a Secret are listed without their values", () => {
    const postgres = "  resources: {db: {type: postgres}}\n";
    const diff = diffOf(
      api("{image: a, variables: {A: plain-text, B: b}, files: {/x: {content: open}}}", postgres),
      api('{image: a, variables: {A: "${resources.db.username}", B: b}, files: {/x: {content: "${resources.db.username}"}}}', postgres),
    );
    expect(diff.moves).toEqual([
      { name: "A", from: "ConfigMap shop/api-env", to: "Secret shop/api-secrets" },
      { name: "x", from: "ConfigMap shop/api-files", to: "Secret shop/api-files-secret" },
    ]);
    expect(formatDiff(diff)).toContain("values that move\n  A: ConfigMap shop/api-env -> Secret shop/api-secrets\n");
    expect(JSON.stringify(diff.objects)).not.toContain("plain-text");
  });

  it("to an ExternalSecret are listed too", () => {
    const binding = (source: string) =>
      `apiVersion: lattice.dev/v1alpha1\nkind: LatticeSecretBindings\nmetadata: {name: b, namespace: shop}\nspec: {bindings: {s: {${source}}}}\n`;
    const service = api('{image: a, variables: {S: "${secrets.s.key}"}}');
    const diff = diffOf(
      [service, binding("secretRef: {name: s}")],
      [service, binding("external: {storeRef: {kind: SecretStore, name: vault}, key: k}")],
    );
    expect(diff.moves).toEqual([{ name: "S", from: "Secret shop/api-secrets", to: "ExternalSecret shop/api-external-secrets" }]);
    expect(diff.rolls[0]?.because).toEqual(expect.arrayContaining(["Secret shop/api-secrets", "ExternalSecret shop/api-external-secrets"]));
  });
});

describe("flows", () => {
  it("open when both sides declare them, and close when one side removes the declaration", () => {
    const before = [serviceYaml("a", { calls: ["b"] }), serviceYaml("b", { calledBy: ["c"] }), serviceYaml("c", { calls: ["b"] })];
    const after = [serviceYaml("a", { calls: ["b"] }), serviceYaml("b", { calledBy: ["a"] }), serviceYaml("c", { calls: ["b"] })];
    const diff = diffOf(before, after);
    expect(diff.flows).toEqual({
      opened: [{ from: "shop/a", to: "shop/b", port: 8080, kind: "mesh" }],
      closed: [{ from: "shop/c", to: "shop/b", port: 8080, kind: "mesh" }],
    });
    expect(formatDiff(diff)).toContain("flows\n  opened  shop/a -> shop/b:8080\n  closed  shop/c -> shop/b:8080\n");
    expect(diff.rolls).toEqual([]);
  });

  it("to the outside, to databases and through routes are flows as well", () => {
    const outside = (host: string, resolution: string) =>
      `apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: out, namespace: shop}\nspec: {endpoints: {default: '${host}'}, allowedRequesters: [api], resolution: ${resolution}}\n`;
    const resources =
      "  resources:\n    out: {type: external-service}\n    db: {type: postgres}\n    web: {type: route, params: {host: a.example, path: /x}}\n";
    const main = "{image: a}";
    const routed = { placeholderSecrets: true, settings: { ingressDomain: "example" } };
    const text = (options: string, resolution = "dns") =>
      formatDiff(diffOf(api(main), [api(main, resources), outside(options, resolution)], routed));
    expect(text("https://b.example")).toContain(
      "opened  shop/api -> shop/db-postgres:5432  (not a Lattice service)\n  opened  shop/api -> b.example:443  (outside)\n  opened  https://a.example/x -> shop/api:80  (route)\n",
    );
    expect(text("tcp://10.1.2.3:99", "static")).toContain("opened  shop/api -> 10.1.2.3:99  (outside)\n");
  });

  it("of a workload without a policy are open to every peer", () => {
    const objects = compiled([serviceYaml("a"), serviceYaml("b")]);
    const bare = objects.filter(
      ({ kind, metadata }) => !["CiliumNetworkPolicy", "AuthorizationPolicy"].includes(kind) || metadata.name === "none",
    );
    expect(diffObjects(objects, bare).flows.opened.map(({ from, to }) => `${from} ${to}`)).toEqual([
      "shop/a shop/a",
      "shop/a shop/b",
      "shop/b shop/a",
      "shop/b shop/b",
    ]);
  });

  it("use the identities of the mesh's own trust domain", () => {
    const settings = { trustDomain: "mesh.example" };
    const texts = [serviceYaml("a", { calls: ["b"] }), serviceYaml("b", { calledBy: ["a"] })];
    const objects = compiled(texts, { settings });
    expect(diffObjects([], objects, { trustDomain: () => "mesh.example" }).flows.opened).toHaveLength(1);
    expect(diffObjects([], objects).flows.opened).toHaveLength(0);
  });
});

describe("against a cluster", () => {
  const wanted = compiled(api("{image: a, resources: {requests: {cpu: 1000m}}, variables: {A: b}}"));
  const live = (change: (object: KubeObject) => object): KubeObject[] => wanted.map((object) => change(object) as KubeObject);
  const managed = (fields: object) => [{ manager: "lattice", operation: "Apply", fieldsV1: fields }];

  it("defaults of the server are not a difference", () => {
    const served = live((object) => {
      const base = {
        ...object,
        status: { replicas: 1 },
        metadata: { ...object.metadata, uid: "1", resourceVersion: "7", annotations: { "deployment.kubernetes.io/revision": "1" } },
      };
      if (object.kind !== "Deployment") return base;
      const spec = (object as unknown as { spec: { template: { spec: { containers: { resources: object }[] } } } }).spec;
      const containers = spec.template.spec.containers.map((one) => ({
        ...one,
        imagePullPolicy: "Always",
        resources: { requests: { cpu: "1" } },
      }));
      return {
        ...base,
        spec: {
          ...spec,
          progressDeadlineSeconds: 600,
          template: { ...spec.template, spec: { ...spec.template.spec, containers, dnsPolicy: "ClusterFirst" } },
        },
      };
    });
    expect(diffObjects(served, wanted, { liveManager: "lattice" }).objects).toEqual([]);
    expect(diffObjects(served, wanted).objects).not.toEqual([]);
  });

  it("a field that Lattice owns and no longer sets is a difference, a field of another manager is not", () => {
    const labelled = live((object) =>
      object.kind !== "Service"
        ? object
        : {
            ...object,
            metadata: {
              ...object.metadata,
              labels: { ...object.metadata.labels, ours: "x", theirs: "y" },
              managedFields: [
                { manager: "other", operation: "Apply", fieldsV1: { "f:x": {} } },
                ...managed({ "f:metadata": { "f:labels": { "f:ours": {} } } }),
              ],
            },
          },
    );
    expect(diffObjects(labelled, wanted, { liveManager: "lattice" }).objects).toEqual([
      { change: "changed", object: "Service shop/api", fields: [{ path: "metadata.labels.ours", change: "removed", before: "x" }] },
    ]);
  });

  it("of a removed map only the keys that Lattice owns are a difference", () => {
    const claim = (annotations: object) =>
      live((object) =>
        object.kind !== "Service"
          ? object
          : {
              ...object,
              metadata: {
                ...object.metadata,
                annotations,
                managedFields: managed({ "f:metadata": { "f:annotations": { ".": {}, "f:ours": {} } } }),
              },
            },
      );
    const fieldsOf = (annotations: object) =>
      diffObjects(claim(annotations), wanted, { liveManager: "lattice" }).objects.flatMap(({ fields }) => fields);
    expect(fieldsOf({ "pv.kubernetes.io/bind-completed": "yes" })).toEqual([]);
    expect(fieldsOf({ "pv.kubernetes.io/bind-completed": "yes", ours: "x" })).toEqual([
      { path: "metadata.annotations.ours", change: "removed", before: "x" },
    ]);
  });

  it("ownership of list items follows their keys", () => {
    const ports = (items: object[]) => ({ spec: { ports: items } });
    const service = (items: object[], fields?: object) =>
      [
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "a", namespace: "n", ...(fields === undefined ? {} : { managedFields: managed(fields) }) },
          ...ports(items),
        },
      ] as unknown as KubeObject[];
    const before = [
      { name: "http", port: 80, protocol: "TCP" },
      { name: "old", port: 81 },
      { name: "injected", port: 99 },
    ];
    const owned = {
      "f:spec": {
        "f:ports": {
          'k:{"port":80}': { ".": {}, "f:port": {} },
          'k:{"port":81}': { ".": {}, "f:port": {} },
          "v:1": {},
          "k:nonsense": {},
          ".": {},
        },
      },
    };
    expect(
      diffObjects(service(before, owned), service([{ name: "http", port: 80 }]), { liveManager: "lattice" }).objects[0]?.fields,
    ).toEqual([{ path: "spec.ports[old]", change: "removed", before: { name: "old", port: 81 } }]);
  });
});

describe("fields", () => {
  const rows: { name: string; before: Json; after: Json; want: string[] }[] = [
    {
      name: "list items with names are matched by name",
      before: [{ name: "a", x: 1 }, { name: "b" }],
      after: [{ name: "b" }, { name: "a", x: 2 }],
      want: ["[a].x changed"],
    },
    {
      name: "other items are matched by index, and common items are not a change",
      before: ["a", "b", "d"],
      after: ["a", "c", "b", "d"],
      want: ["[1] added"],
    },
    { name: "a duplicate item counts twice", before: ["a"], after: ["a", "a"], want: ["[1] added"] },
    { name: "a changed order is a change of the list", before: ["a", "b"], after: ["b", "a"], want: [" changed"] },
    { name: "a text instead of a map", before: { a: { b: 1 } }, after: { a: "x" }, want: ["a changed"] },
    { name: "keys with dots are written in brackets", before: { "a.b/c": 1 }, after: {}, want: ['["a.b/c"] removed'] },
    { name: "__proto__ is a key like any other", before: JSON.parse('{"__proto__": 1}') as Json, after: {}, want: ["__proto__ removed"] },
    {
      name: "quantities are compared by value in quantity fields",
      before: { x: { limits: { cpu: "1" } } },
      after: { x: { limits: { cpu: "1000m" } } },
      want: [],
    },
    {
      name: "quantities are compared as text in other fields",
      before: { x: { cpu: "1" } },
      after: { x: { cpu: "1000m" } },
      want: ["x.cpu changed"],
    },
  ];
  it.each(rows)("$name", ({ before, after, want }) => {
    expect(changedFields(before, after, "").map(({ path, change }) => `${path} ${change}`)).toEqual(want);
  });

  it("long values are truncated in text", () => {
    const object = (text: string) =>
      [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { text } }] as unknown as KubeObject[];
    expect(formatDiff(diffObjects(object("x".repeat(200)), object("y")))).toMatch(/data\.text: "x{70}… -> "y"\n/);
    expect(
      formatDiff(diffObjects(object("y"), [{ ...(object("y")[0] as KubeObject), metadata: { name: "a", labels: { a: "b" } } }])),
    ).toContain('metadata.labels: added {"a":"b"}\n');
  });
});
