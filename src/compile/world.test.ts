import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentsOf, loadYaml, serviceYaml, worldOf } from "../../test/builders/world.ts";
import { parseLatticeObject } from "#crds";
import { expectOk } from "#base";
import { compileAll } from "./compile-all.ts";
import { describeServiceError, placeOfError } from "./errors.ts";
import { worldSettings } from "./settings.ts";
import { World, type WorldObject } from "./world.ts";

const objects = (...texts: string[]) => documentsOf(...texts).map(({ value }) => expectOk(parseLatticeObject(value)) as WorldObject);
const environment = (name: string, spec = "{}") =>
  `apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const external = (name: string, spec = "endpoints: {default: 'https://a.example'}, allowedRequesters: ['*']") =>
  `apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: ${name}, namespace: shop}\nspec: {${spec}}\n`;

function put(world: World, ...texts: string[]): readonly string[] {
  return objects(...texts)
    .flatMap((object) => [...world.put(object)])
    .toSorted();
}

const errorsOf = (world: World) =>
  [...compileAll(world).errors].flatMap(([key, errors]) =>
    errors.map((error) => `${key}: ${placeOfError(error)}: ${describeServiceError(error)}`),
  );

describe("the services that a change affects", () => {
  it("are the service and those that declare it", () => {
    const world = worldOf([serviceYaml("a", { calls: ["b"] }), serviceYaml("c")]);
    expect(put(world, serviceYaml("b", { calledBy: ["a"] }))).toEqual(["shop/a", "shop/b"]);
    expect([...world.remove("LatticeService", "shop/b")].toSorted()).toEqual(["shop/a", "shop/b"]);
    expect(world.compile("shop/b").ok).toBe(false);
  });

  it("are all services of a changed environment, in any source namespace", () => {
    const world = new World(worldSettings());
    put(
      world,
      environment("prod", "{sourceNamespaces: [team]}"),
      serviceYaml("team/a", { spec: "  environment: prod\n" }),
      serviceYaml("shop/b"),
    );
    expect(world.idOf("team/a")).toBe("prod/a");
    expect(world.keyOf("prod/a")).toBe("team/a");
    expect(put(world, environment("prod", "{sourceNamespaces: []}"))).toEqual(["team/a"]);
    expect(world.idOf("team/a")).toBeUndefined();
    expect(errorsOf(world)).toEqual([expect.stringContaining("team/a: spec.environment: namespace team may not deploy into prod")]);
    expect([...world.remove("LatticeEnvironment", "prod")]).toEqual(["team/a"]);
    expect(world.environment("prod")).toBeUndefined();
  });

  it("are the services that a config or bindings apply to", () => {
    const world = worldOf([serviceYaml("shop/a"), serviceYaml("shop/b"), serviceYaml("other/c")]);
    const config =
      "apiVersion: lattice.dev/v1alpha1\nkind: LatticeServiceConfig\nmetadata: {name: x, namespace: shop}\nspec: {appliesTo: {service: a}, values: {a: b}}\n";
    const bindings =
      "apiVersion: lattice.dev/v1alpha1\nkind: LatticeSecretBindings\nmetadata: {name: x, namespace: shop}\nspec: {bindings: {a: {secretRef: {name: a}}}}\n";
    expect(put(world, config)).toEqual(["shop/a"]);
    expect(put(world, config.replace("service: a", "service: b"))).toEqual(["shop/a", "shop/b"]);
    expect(put(world, bindings)).toEqual(["shop/a", "shop/b"]);
    expect([...world.remove("LatticeServiceConfig", "shop/x")]).toEqual(["shop/b"]);
    expect([...world.remove("LatticeSecretBindings", "shop/x")].toSorted()).toEqual(["shop/a", "shop/b"]);
  });
});

describe("resource types", () => {
  it("affect the services that use them", () => {
    const world = new World(worldSettings());
    put(
      world,
      serviceYaml("a", { spec: "  resources: {b: {type: s3-bucket}}\n" }),
      serviceYaml("b", { spec: "  resources: {c: {type: volume}}\n" }),
      serviceYaml("c"),
    );
    expect([...world.setProvisioners([])].toSorted()).toEqual(["shop/a", "shop/b"]);
    expect([...world.setProvisioners([], new Set(["s3-bucket"]))]).toEqual(["shop/a"]);
  });
});

describe("a name", () => {
  it("belongs to the first service until it is removed", () => {
    const world = new World(worldSettings());
    put(world, environment("prod", "{sourceNamespaces: [one, two]}"));
    put(world, serviceYaml("one/api", { spec: "  environment: prod\n" }), serviceYaml("two/api", { spec: "  environment: prod\n" }));
    expect(errorsOf(world)).toEqual([
      "two/api: metadata.name: LatticeService one/api has the same name in namespace prod and takes precedence\nrename one of the two",
    ]);
    expect([...world.remove("LatticeService", "one/api")].toSorted()).toEqual(["one/api", "two/api"]);
    expect(errorsOf(world)).toEqual([]);
  });

  it("cannot be shared by a service and an external service, even of one source namespace", () => {
    const { world } = loadYaml([serviceYaml("api"), external("api")]);
    expect(errorsOf(world)).toEqual([expect.stringContaining("has the same name in namespace shop and takes precedence")]);
    world.remove("LatticeService", "shop/api");
    expect(errorsOf(world)).toEqual([]);
    world.remove("LatticeExternalService", "shop/api");
    expect(world.compileExternal("shop/api")).toEqual({ ok: false, error: [] });
  });

  it("of a system namespace is refused", () => {
    const { world } = loadYaml(serviceYaml("kube-system/a"));
    expect(errorsOf(world)).toEqual([
      "kube-system/a: spec.environment: namespace kube-system is a system namespace, which Lattice never changes",
    ]);
  });
});

describe("what is compiled", () => {
  it("an external service in a namespace that it may not target is an error", () => {
    const { world } = loadYaml(
      external("a", "environment: prod, endpoints: {default: 'https://a.example'}").replace("namespace: shop", "namespace: elsewhere"),
    );
    expect(errorsOf(world)).toEqual([
      expect.stringContaining("elsewhere/a: spec.environment: namespace elsewhere may not deploy into prod"),
    ]);
  });

  it("a patch of an existing Deployment is a warning: it is applied in the cluster", () => {
    const patch =
      "apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: a, namespace: shop}\nspec: {workloadRef: {name: web, namespace: shop}}\n";
    const { objects: made, warnings } = compileAll(worldOf(patch));
    expect(made.map(({ kind }) => kind)).toEqual(["CiliumNetworkPolicy"]);
    expect(warnings).toEqual([
      "shop/a patches Deployment shop/web: the patch is applied in the cluster and is not part of this output",
      "shop/a: Deployment shop/web is not among the files; policies assume that its ServiceAccount is web",
    ]);
  });

  it("missing secrets and files are errors that name them", () => {
    const world = new World(worldSettings());
    const main = '{image: a, variables: {P: "${resources.db.password}"}, files: {/a: {source: a.txt}}}';
    put(world, serviceYaml("a", { spec: "  resources: {db: {type: postgres}}\n" }).replace('{image: "a:1"}', main));
    expect(errorsOf(world).toSorted()).toEqual([
      "shop/a: spec.containers.main.files[\"/a\"]: invalid file mount at '/a': source: a.txt cannot be read here: only the command line has files",
      "shop/a: spec.resources.db: resource 'db' provisioner error: there is no secret 'postgres/db/password'",
    ]);
  });

  it("edges that stay closed are one warning each", () => {
    const texts = [
      serviceYaml("a", {
        calls: ["b", "absent", "quiet", "outside", "narrow"],
        calledBy: ["stranger", "loud"],
        spec: "    db: {type: postgres}\n",
      }),
      serviceYaml("b", {}),
      serviceYaml("loud", {}),
      serviceYaml("quiet", { calledBy: ["a"] }).replace("  service: {ports: {http: {port: 8080}}}\n", ""),
      serviceYaml("narrow", { spec: "  resources:\n    a: {direction: inbound, params: {ports: [9]}}\n" }),
      external("outside", "endpoints: {default: 'https://a.example'}").replace("\nspec", "\nspec"),
    ];
    expect(compileAll(worldOf(texts, { placeholderSecrets: true })).warnings).toEqual([
      "shop/a -> shop/absent is closed: there is no shop/absent",
      "shop/a -> shop/b is closed: shop/b does not declare shop/a as inbound",
      "shop/a -> shop/db-postgres is open on the side of shop/a only: shop/db-postgres is not a Lattice service, so Lattice cannot open its ingress",
      "shop/a -> shop/narrow is closed: the caller and the callee have no port in common",
      "shop/a -> shop/outside is closed: shop/outside does not name shop/a in allowedRequesters",
      "shop/a -> shop/quiet is closed: the caller and the callee have no port in common",
      "shop/loud -> shop/a is closed: shop/loud does not declare shop/a as outbound",
      "shop/stranger -> shop/a is closed: there is no shop/stranger",
    ]);
  });

  it("a param that reads another service follows that service, in any order of creation", () => {
    const caller = serviceYaml("a", { calls: ["c"], spec: '    b: {direction: outbound, params: {ports: ["${resources.c.port}"]}}\n' });
    const other = serviceYaml("c");
    for (const texts of [
      [caller, other],
      [other, caller],
    ]) {
      const declared = worldOf(texts).mesh.graph.service("shop/a")?.declarations.get("shop/b");
      expect(declared).toEqual([expect.objectContaining({ ports: [8080] })]);
    }
  });
});

describe("after any changes", () => {
  const names = ["a", "b", "c"];
  const change = fc.record({
    name: fc.constantFrom(...names),
    calls: fc.uniqueArray(fc.constantFrom(...names)),
    calledBy: fc.uniqueArray(fc.constantFrom(...names)),
    what: fc.constantFrom("put", "put", "remove", "external", "environment"),
  });

  it("a world compiles to the same objects as a new one", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const world = new World(worldSettings());
        const kept = new Map<string, WorldObject>();
        for (const { name, calls, calledBy, what } of changes) {
          if (what === "remove") {
            for (const kind of ["LatticeService", "LatticeExternalService"] as const) {
              world.remove(kind, `shop/${name}`);
              kept.delete(`${kind} ${name}`);
            }
            continue;
          }
          const inbound = calledBy.filter((peer) => !calls.includes(peer));
          const text = {
            put: serviceYaml(name, { calls, calledBy: inbound }),
            external: external(`x${name}`),
            environment: environment("shop", `{mesh: {waypoint: ${calls.length > 1}}}`),
          }[what];
          const [object] = objects(text ?? "");
          if (object === undefined) continue;
          world.put(object);
          kept.set(`${object.kind} ${object.metadata.name}`, object);
        }
        const fresh = new World(worldSettings());
        for (const object of kept.values()) fresh.put(object);
        expect(JSON.stringify(plain(world))).toBe(JSON.stringify(plain(fresh)));
      }),
      { numRuns: 60 },
    );
  });

  function plain(world: World) {
    const { namespaces, objects: made, errors, warnings } = compileAll(world);
    return { namespaces, made, errors: [...errors], warnings };
  }
});
