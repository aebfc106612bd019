import { describe, expect, it } from "vitest";
import { err, ok, sensitive } from "#base";
import { documentsOf, loadYaml, serviceYaml } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { plain, secret, type Provisioner } from "#service-compiler";
import { loadWorld } from "./documents.ts";

const lattice = (kind: string, metadata: string, spec: string) =>
  `apiVersion: lattice.dev/v1alpha1\nkind: ${kind}\nmetadata: {${metadata}}\nspec: ${spec}\n`;
const service = (metadata: string, spec: string) =>
  lattice("LatticeService", metadata, `{containers: {main: {image: a}}${spec === "" ? "" : `, ${spec}`}}`);

describe("the namespace of a document", () => {
  it.each([
    { name: "is the one in its metadata", texts: [service("name: a, namespace: own", "")], want: ["own/a"] },
    { name: "is default without any other source", texts: [service("name: a", "")], want: ["default/a"] },
    { name: "is the given one", texts: [service("name: a", "")], namespace: "given", want: ["given/a"] },
    { name: "is the name of its environment", texts: [service("name: a", "environment: prod")], want: ["prod/a"] },
    {
      name: "is the namespace in the spec of its environment",
      texts: [service("name: a", "environment: prod"), lattice("LatticeEnvironment", "name: prod", "{namespace: production}")],
      want: ["production/a"],
    },
  ])("$name", ({ texts, namespace, want }) => {
    const { world, places } = loadYaml(texts, namespace === undefined ? {} : { namespace });
    expect(world.services()).toEqual(want);
    expect([...places.keys()]).toEqual(want);
    expect(compileAll(world).errors.size).toBe(0);
  });

  it("config and bindings get the namespace of their service or environment, others the namespace of all services", () => {
    const reads =
      'containers: {main: {image: a, variables: {A: "${config.a}", B: "${config.b}", S: "${secrets.own.key} ${secrets.all.key}"}}}';
    const binding = "{own: {secretRef: {name: own}}}";
    const { world } = loadYaml(
      [
        lattice("LatticeService", "name: api", `{environment: prod, ${reads}}`),
        lattice("LatticeServiceConfig", "name: one", "{appliesTo: {service: api}, values: {a: of-service}}"),
        lattice("LatticeServiceConfig", "name: two", "{appliesTo: {environment: prod}, values: {b: of-environment}}"),
        lattice("LatticeSecretBindings", "name: one", `{service: api, bindings: ${binding}}`),
        lattice("LatticeSecretBindings", "name: two", `{bindings: ${binding.replaceAll("own", "all")}}`),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: own}\ndata: {key: b25l}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: all}\nstringData: {key: two}\n",
      ],
      {},
    );
    const { objects, errors } = compileAll(world);
    expect([...errors]).toEqual([]);
    expect(objects).toContainEqual(expect.objectContaining({ kind: "ConfigMap", data: { A: "of-service", B: "of-environment" } }));
    expect(objects).toContainEqual(expect.objectContaining({ kind: "Secret", data: { S: btoa("one two") } }));
  });
});

describe("kinds of documents", () => {
  it("items of a List are documents", () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [{ apiVersion: "score.dev/v1b1", metadata: { name: "web" }, containers: { main: { image: "a" } } }, {}],
    };
    const { world, problems } = loadWorld([{ value: list, from: "all.json" }]);
    expect(world.services()).toEqual(["default/web"]);
    expect(problems.map(({ from }) => from)).toContain("all.json, item 2");
  });

  it("a ConfigMap with the label declares a resource type, and its mistakes are reported", () => {
    const declared = (text: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bucket, labels: {lattice.dev/provisioner: ""}}\ndata:\n  provisioner.yaml: '${text}'\n`;
    const uses = `apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: a}\nspec: {containers: {main: {image: a, variables: {B: "\${resources.b.name}"}}}, resources: {b: {type: s3-bucket}}}\n`;
    const good = compileAll(loadYaml([declared("{type: s3-bucket, outputs: {name: x}}"), uses]).world);
    expect(good.objects).toContainEqual(expect.objectContaining({ kind: "ConfigMap", data: { B: "x" } }));
    expect(loadYaml(declared("{type: s3-bucket}")).problems).toEqual([
      { from: "1.yaml", path: "data", message: "ConfigMap default/bucket: provisioner.yaml: outputs must have at least one entry" },
    ]);
  });

  it("other kinds, and objects that Lattice compiled, are skipped and listed", () => {
    const { leftOut, problems } = loadYaml([
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
      "apiVersion: v1\nkind: Secret\nmetadata: {name: web-secrets, labels: {app.kubernetes.io/managed-by: lattice}}\ndata: {a: YQ==}\n",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
    ]);
    expect(leftOut.map(({ object, from }) => `${object.kind} ${object.metadata.name} ${from}`)).toEqual([
      "Deployment web 1.yaml",
      "Secret web-secrets 2.yaml",
      "ConfigMap other 3.yaml",
    ]);
    expect(problems).toEqual([]);
  });

  it.each([
    { name: "an object without a name", given: "apiVersion: v1\nkind: Secret\n", want: "metadata.name: is required" },
    {
      name: "a Lattice kind with another version",
      given: "apiVersion: v1\nkind: LatticeService\nmetadata: {name: a}\n",
      want: 'apiVersion: must be "lattice.dev/v1alpha1"',
    },
    { name: "a value that is not an object", given: "just text\n", want: ": must be an object" },
    { name: "a mistake in a Score file", given: "apiVersion: score.dev/v1b1\nmetadata: {name: ab}\n", want: "containers: is required" },
  ])("$name is a mistake with its place", ({ given, want }) => {
    const { problems } = loadYaml(given);
    expect(problems.map(({ path, message }) => `${path}: ${message}`).join("\n")).toContain(want);
  });

  it("the same object twice is a mistake that names both files", () => {
    expect(loadYaml([serviceYaml("api"), serviceYaml("api")]).problems).toEqual([
      { from: "2.yaml", path: "metadata.name", message: "LatticeService shop/api is in 1.yaml as well; remove one of them" },
    ]);
  });

  it("a document replaces the cluster's document for the same object, which is not listed", () => {
    const under = loadYaml([serviceYaml("api"), serviceYaml("web")]);
    expect(under.problems).toEqual([]);
    const value = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "api", namespace: "shop" } };
    const old = { ...value, spec: { containers: { main: { image: "old" } } } };
    const { world, places, problems } = loadWorld([
      { value: old, from: "cluster", underneath: true },
      { value: { ...old, metadata: { name: "kept", namespace: "shop" } }, from: "cluster", underneath: true },
      { value: { ...value, spec: { containers: { main: { image: "new" } } } }, from: "file" },
    ]);
    expect(problems).toEqual([]);
    expect(world.services()).toEqual(["shop/api", "shop/kept"]);
    expect(world.service("shop/api")?.spec.containers?.["main"]?.image).toBe("new");
    expect([...places]).toEqual([["shop/api", "file"]]);
  });
});

describe("secrets", () => {
  const uses = lattice(
    "LatticeService",
    "name: api, namespace: shop",
    '{containers: {main: {image: a, variables: {P: "${resources.db.password}"}}}, resources: {db: {type: postgres, id: main}}}',
  );
  const secretOf = (options: Parameters<typeof loadYaml>[1], ...more: string[]) => {
    const { objects, errors } = compileAll(loadYaml([uses, ...more], options).world);
    const data = objects.flatMap((object) => (object.kind === "Secret" ? [(object as { data?: { P?: string } }).data?.P ?? ""] : []));
    return { value: data[0] === undefined ? undefined : atob(data[0]), errors: JSON.stringify([...errors.values()]) };
  };
  const object = (namespace: string, key = "password") =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: postgres-main, namespace: ${namespace}}\ndata: {${key}: c2VjcmV0, bad: "%"}\n`;

  it("come from the given values, then from a Secret in the namespace of the workload", () => {
    const given = new Map([["postgres/main/password", sensitive("given")]]);
    expect(secretOf({ secrets: given }, object("shop")).value).toBe("given");
    expect(secretOf({}, object("shop")).value).toBe("secret");
  });

  it("that are not UTF-8 are refused, and never changed", () => {
    const bytes = "apiVersion: v1\nkind: Secret\nmetadata: {name: postgres-main, namespace: shop}\ndata: {password: /wAB}\n";
    for (const options of [{}, { placeholderSecrets: true }]) {
      const { value, errors } = secretOf(options, bytes);
      expect(value).toBeUndefined();
      expect(errors).toContain("key 'password' of Secret shop/postgres-main is not UTF-8 text, so no template can contain it");
    }
  });

  it("without a value are replaced by placeholders on request", () => {
    expect(secretOf({ placeholderSecrets: true }).value).toBe("<secret postgres/main/password>");
  });

  it.each([
    { name: "how to provide it", more: [], want: 'give it with --secrets FILE (a line \\"postgres/main/password: …\\")' },
    { name: "that the Secret has other keys", more: [object("shop", "other")], want: "Secret shop/postgres-main has no key 'password'" },
    {
      name: "that a Secret of another namespace has it",
      more: [object("elsewhere")],
      want: "Secret elsewhere/postgres-main has it, but secrets are read in shop",
    },
  ])("that are missing are an error that says $name, and no value", ({ more, want }) => {
    const { value, errors } = secretOf({}, ...more);
    expect(value).toBeUndefined();
    expect(errors).toContain(want);
    expect(errors).not.toContain("c2VjcmV0");
  });
});

describe("files that a service names", () => {
  const uses = lattice(
    "LatticeService",
    "name: api",
    "{containers: {main: {image: a, files: {/etc/a: {source: ../a.txt}, /etc/b: {content: b}}}, other: {image: b}}}",
  );

  it("are resolved relative to the document that names them", () => {
    const located: string[] = [];
    const files = {
      locate: (source: string, from: string) => `${from}>${source}`,
      read: (path: string) => {
        located.push(path);
        return path === "1.yaml>../a.txt" ? ok(new TextEncoder().encode("found")) : err("not found");
      },
    };
    const { objects, errors } = compileAll(loadYaml(uses, { files }).world);
    expect([...errors]).toEqual([]);
    expect(located).toEqual(["1.yaml>../a.txt"]);
    expect(objects).toContainEqual(expect.objectContaining({ kind: "ConfigMap", data: { "etc-a": "found", "etc-b": "b" } }));
  });

  it("are not read for resources of a cluster", () => {
    const files = { locate: (source: string) => source, read: () => ok(new TextEncoder().encode("private")) };
    const [document] = documentsOf(uses);
    const { objects, errors } = compileAll(loadWorld(document === undefined ? [] : [{ ...document, underneath: true }], { files }).world);
    expect(objects).toEqual([]);
    expect(JSON.stringify([...errors])).toContain("../a.txt cannot be read: a cluster has no files");
  });

  it("are resolved relative to a Score file too", () => {
    const score = "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: a, files: {/a: {source: x}}}}\n";
    const read = (path: string) => (path === "1.yaml:x" ? ok(new TextEncoder().encode("y")) : err("not found"));
    const files = { locate: (source: string, from: string) => `${from}:${source}`, read };
    expect(loadYaml(score, { files }).world.service("default/web")?.spec.containers?.["main"]?.files).toMatchObject({
      "/a": { content: "y" },
    });
  });
});

describe("resource types from code", () => {
  it("are used like built-in types, and declared types replace them", () => {
    const bucket: Provisioner = {
      type: "s3-bucket",
      provision: ({ address }) => {
        const outputs = new Map([
          ["url", () => ({ ok: true as const, value: plain(`https://${address.name}.example`) })],
          ["key", () => ({ ok: true as const, value: secret("hidden") })],
        ]);
        return { ok: true, value: { outputs } };
      },
    };
    const uses = lattice(
      "LatticeService",
      "name: a",
      '{containers: {main: {image: a, variables: {U: "${resources.b.url}", K: "${resources.b.key}"}}}, resources: {b: {type: s3-bucket}}}',
    );
    const { objects } = compileAll(loadYaml(uses, { provisioners: [bucket] }).world);
    expect(objects).toContainEqual(expect.objectContaining({ kind: "ConfigMap", data: { U: "https://b.example" } }));
    expect(objects).toContainEqual(expect.objectContaining({ kind: "Secret", data: { K: btoa("hidden") } }));
  });
});

describe("a file without a namespace, applied to a cluster", () => {
  const [environment, own] = [
    "apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: prod}\nspec: {sourceNamespaces: [default, team]}\n",
    serviceYaml("default/a", { spec: "  environment: prod\n" }),
  ];
  const file = own.replace(", namespace: default", "").replace("a:1", "a:2");
  const over = (...cluster: readonly string[]) => {
    const underneath = documentsOf(...cluster).map((document, at) => ({ ...document, from: `cluster ${at}`, underneath: true }));
    const { world, problems } = loadWorld([...underneath, ...documentsOf(file)]);
    return { services: world.services(), problems, errors: compileAll(world).errors.size };
  };

  it("updates the cluster's service for the same environment, in its namespace", () =>
    expect(over(environment, own)).toEqual({ services: ["default/a"], problems: [], errors: 0 }));
  it("creates a service in the environment's namespace when the cluster has none", () =>
    expect(over(environment)).toEqual({ services: ["prod/a"], problems: [], errors: 0 }));
  it("creates a service beside a service of the same name for another environment", () =>
    expect(over(environment, serviceYaml("default/a"))).toEqual({ services: ["default/a", "prod/a"], problems: [], errors: 0 }));
  it("is ambiguous when several services have the name", () =>
    expect(over(environment, own, serviceYaml("team/a", { spec: "  environment: prod\n" })).services).toEqual([
      "default/a",
      "prod/a",
      "team/a",
    ]));
});
