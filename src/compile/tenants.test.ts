/** Isolation between services of several namespaces: hosts, names, objects, other namespaces. With exact messages. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseLatticeEnvironment, parseLatticeService } from "#crds";
import { loadYaml, serviceYaml, worldOf } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import type { WorldOptions } from "./documents.ts";
import { describeServiceError, placeOfError } from "./errors.ts";
import { World } from "./world.ts";
import { worldSettings } from "./settings.ts";

const PROD =
  "{sourceNamespaces: [team-a, team-b], ingressDomain: apps.test, routes: {hosts: [shop.test, '*.wild.test']}, crossNamespace: [data]}";
const environment = (spec = PROD, name = "prod") =>
  `apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const service = (key: string, spec = "") => serviceYaml(key, { spec: `  environment: prod\n${spec}` });
const routed = (key: string, host: string, path = "/") =>
  service(key, `  resources: {web: {type: route, params: {host: "${host}", path: "${path}"}}}\n`);
const mounting = (key: string, source: string, more = "") =>
  service(key, more).replace('image: "', `volumes: {/data: {source: "${source}"}}, image: "`);
const object = (kind: string, key: string, labels = "{}") =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${key.split("/")[1]}, namespace: ${key.split("/")[0]}, labels: ${labels}}\n`;

function mistakes(texts: readonly string[], options: WorldOptions = {}): readonly string[] {
  const { world, problems } = loadYaml(texts, options);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return [...compileAll(world).errors].flatMap(([key, errors]) =>
    errors.map((error) => `${key}: ${placeOfError(error)}: ${describeServiceError(error)}`),
  );
}

const holder = (key: string, by: string, host: string, path = "/") =>
  `${key}: spec.resources.web: LatticeService ${by} already claims host ${host} with path ${path}, or part of it\nuse another host or path`;

describe("a host and path", () => {
  const rows: readonly { name: string; given: readonly string[]; want: readonly string[] }[] = [
    {
      name: "belong to the first by name when no creation time is known",
      given: [routed("team-b/b", "shop.test"), routed("team-a/a", "shop.test")],
      want: [holder("team-b/b", "team-a/a", "shop.test")],
    },
    {
      name: "are refused below another namespace's path",
      given: [routed("team-a/a", "shop.test"), routed("team-b/b", "shop.test", "/login")],
      want: [holder("team-b/b", "team-a/a", "shop.test", "/login")],
    },
    {
      name: "are refused above another namespace's path",
      given: [routed("team-a/a", "shop.test", "/login"), routed("team-b/b", "shop.test")],
      want: [holder("team-b/b", "team-a/a", "shop.test")],
    },
    {
      name: "may be next to another namespace's path",
      given: [routed("team-a/a", "shop.test", "/log"), routed("team-b/b", "shop.test", "/login")],
      want: [],
    },
    {
      name: "may be below a path of the same namespace",
      given: [routed("team-a/a", "shop.test"), routed("team-a/b", "shop.test", "/login")],
      want: [],
    },
    {
      name: "belong to one service, also within a namespace",
      given: [routed("team-a/a", "shop.test", "/x"), routed("team-a/b", "shop.test", "/x/")],
      want: [holder("team-a/b", "team-a/a", "shop.test", "/x/")],
    },
    {
      name: "are refused below another namespace's wildcard",
      given: [routed("team-a/a", "*.wild.test"), routed("team-b/b", "x.wild.test")],
      want: [holder("team-b/b", "team-a/a", "x.wild.test")],
    },
    {
      name: "are refused as a wildcard over another namespace's host",
      given: [routed("team-a/a", "x.wild.test"), routed("team-b/b", "*.wild.test")],
      want: [holder("team-b/b", "team-a/a", "*.wild.test")],
    },
    {
      name: "without a grant do not affect the service that has the grant",
      given: [routed("team-a/a", "other.test"), routed("team-b/b", "b.apps.test")],
      want: [
        "team-a/a: spec.resources.web: host other.test is not granted\nuse a host below apps.test, or add other.test to spec.routes.hosts of LatticeEnvironment prod",
      ],
    },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(mistakes([environment(), ...given])).toEqual(want));

  test("without an environment are below the operator's ingress domain, or refused", () => {
    const web = (host: string) => serviceYaml("own/x", { spec: `  resources: {web: {type: route, params: {host: ${host}}}}\n` });
    const options = { settings: { ingressDomain: "op.test" } };
    expect(mistakes([web("a.op.test")], options)).toEqual([]);
    expect(mistakes([web("a.test")], options)).toEqual([
      "own/x: spec.resources.web: host a.test is not granted\nuse a host below op.test, or add a.test to spec.routes.hosts of a LatticeEnvironment, and name it in spec.environment of the service",
    ]);
    expect(mistakes([web("a.test")])).toHaveLength(1);
  });

  test("go to the next claimant, with the route, when the holder is removed", () => {
    const world = worldOf([environment(), routed("team-a/a", "shop.test"), routed("team-b/b", "shop.test")]);
    expect(world.compile("team-b/b").ok).toBe(false);
    expect(world.mesh.graph.service("prod/b")?.routedPorts).toEqual([]);
    expect(world.heldRoutes("team-b/b")).toEqual(new Map());
    expect(world.remove("LatticeService", "team-a/a")).toContain("team-b/b");
    expect(world.compile("team-b/b").ok).toBe(true);
    expect(world.mesh.graph.service("prod/b")?.routedPorts).toEqual([8080]);
    expect(world.heldRoutes("team-b/b")).toEqual(new Map([["web", { host: "shop.test", path: "/" }]]));
  });

  test("belong to the service that has held them longest, even if another service is older", () => {
    const put = (world: World, key: string, made: string, since?: string) => {
      const [namespace, name] = key.split("/");
      const metadata = { name, namespace, creationTimestamp: made };
      const spec = {
        environment: "prod",
        containers: { main: { image: "a" } },
        service: { ports: { http: { port: 80 } } },
        resources: { web: { type: "route", params: { host: "shop.test" } } },
      };
      const status = since === undefined ? {} : { status: { routes: { web: { host: "shop.test", path: "/", since } } } };
      world.put(expectOk(parseLatticeService({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata, spec, ...status })));
    };
    const spec = { sourceNamespaces: ["team-a", "team-b"], routes: { hosts: ["shop.test"] } };
    const prod = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeEnvironment", metadata: { name: "prod" }, spec };
    const world = new World(worldSettings());
    world.put(expectOk(parseLatticeEnvironment(prod)));
    put(world, "team-b/old", "2026-01-01T00:00:00Z");
    put(world, "team-a/new", "2026-02-01T00:00:00Z");
    expect([world.compile("team-b/old").ok, world.compile("team-a/new").ok]).toEqual([true, false]);
    put(world, "team-a/new", "2026-02-01T00:00:00Z", "2026-02-01T00:00:05Z");
    expect([world.compile("team-b/old").ok, world.compile("team-a/new").ok]).toEqual([false, true]);
    put(world, "team-b/old", "2026-01-01T00:00:00Z", "2026-01-15T00:00:00Z");
    expect([world.compile("team-b/old").ok, world.compile("team-a/new").ok]).toEqual([true, false]);
  });
});

describe("an object that a volume names", () => {
  const refused = (key: string, kind: string, name: string, source: string) =>
    `${key}: spec.containers.main.volumes["/data"]: ${kind} prod/${name} is neither made for a service of namespace ${source} nor shared with it\n` +
    `its owner shares it with the label lattice.dev/shareable: "true" (or: ${source})`;
  const shared = (value: string) => `{lattice.dev/shareable: "${value}"}`;

  test.each([
    ["Secret", "secret:payroll"],
    ["ConfigMap", "configmap:payroll"],
    ["PersistentVolumeClaim", "pvc:payroll"],
    ["PersistentVolumeClaim", "payroll"],
  ])("%s as %s must be among the files with the label", (kind, source) => {
    const own = [environment(), mounting("team-b/x", source)];
    const want = [refused("team-b/x", kind, "payroll", "team-b")];
    expect(mistakes(own)).toEqual(want);
    expect(mistakes([...own, object(kind, "prod/payroll")])).toEqual(want);
    expect(mistakes([...own, object(kind, "prod/payroll")], { assumeShareable: true })).toEqual(want);
    expect(mistakes([...own, object(kind, "prod/payroll", shared("team-a"))])).toEqual(want);
    expect(mistakes([...own, object(kind, "elsewhere/payroll", shared("true"))])).toEqual(want);
    expect(mistakes([...own, object(kind, "prod/payroll", shared("team-b"))])).toEqual([]);
    expect(mistakes([...own, object(kind, "prod/payroll", shared("true"))])).toEqual([]);
    expect(mistakes(own, { assumeShareable: true })).toEqual([]);
  });

  test("needs the label in the service's own namespace too: permission to write services does not include reading Secrets", () => {
    const own = serviceYaml("team-a/x").replace('image: "', 'volumes: {/data: {source: "secret:tls"}}, image: "');
    expect(mistakes([own])).toHaveLength(1);
    expect(mistakes([own, object("Secret", "team-a/tls", shared("true"))])).toEqual([]);
  });

  const disk = "  resources: {disk: {type: volume, params: {size: 1Gi}}}\n";
  const making = mounting("team-a/a", "${resources.disk.ref}", disk);
  test("may be a PersistentVolumeClaim of the service or of another service of its namespace", () => {
    expect(mistakes([environment(), making, mounting("team-a/b", "disk")])).toEqual([]);
  });
  test("may not be a PersistentVolumeClaim of another namespace's service, even with --assume-shareable", () => {
    const want = [refused("team-b/b", "PersistentVolumeClaim", "disk", "team-b")];
    expect(mistakes([environment(), making, mounting("team-b/b", "disk")])).toEqual(want);
    expect(mistakes([environment(), making, mounting("team-b/b", "disk")], { assumeShareable: true })).toEqual(want);
  });
  test("may not be an existing PersistentVolumeClaim that Lattice did not create", () => {
    const want = [refused("team-a/a", "PersistentVolumeClaim", "disk", "team-a")];
    expect(mistakes([environment(), making, object("PersistentVolumeClaim", "prod/disk")])).toEqual(want);
  });
});

describe("a Secret that a resource or a binding reads", () => {
  const database = (key: string) =>
    service(key, "  resources: {db: {type: postgres}}\n").replace('image: "', 'variables: {P: "${resources.db.password}"}, image: "');
  const password = (labels = "{}") => `${object("Secret", "prod/postgres-db", labels)}stringData: {password: x}\n`;
  const notShared = (name: string, source: string) =>
    `Secret ${name} of namespace prod is not shared with namespace ${source}\nits owner shares it with the label lattice.dev/shareable: "true" (or: ${source})`;

  test("is in the service's own namespace, or shared with it", () => {
    expect(mistakes([environment(), database("prod/x"), password()])).toEqual([]);
    expect(mistakes([environment(), database("team-b/x"), password()])).toEqual([
      `team-b/x: spec.resources.db: resource 'db' provisioner error: ${notShared("postgres-db", "team-b")}`,
    ]);
    expect(mistakes([environment(), database("team-b/x"), password("{lattice.dev/shareable: team-b}")])).toEqual([]);
  });

  const bound = (key: string) => service(key).replace('image: "', 'variables: {P: "${secrets.s.k}"}, image: "');
  const binding = (namespace: string, source: string) =>
    `apiVersion: lattice.dev/v1alpha1\nkind: LatticeSecretBindings\nmetadata: {name: b, namespace: ${namespace}}\nspec: {bindings: {s: ${source}}}\n`;
  const own = `${object("Secret", "prod/own")}stringData: {k: v}\n`;
  const variable = "spec.containers.main.variables.P: template error in container 'main' variable 'P': ${secrets.s.k}: ";

  test("through a binding of another namespace must be shared with it", () => {
    const given = (namespace: string) => [environment(), bound(`${namespace}/x`), binding(namespace, "{secretRef: {name: own}}"), own];
    expect(mistakes(given("prod"))).toEqual([]);
    expect(mistakes(given("team-b"))).toEqual([`team-b/x: ${variable}${notShared("own", "team-b")}`]);
  });

  test("through the environment's own binding is granted by it", () => {
    const spec = "{sourceNamespaces: [team-b], defaults: {secretBindings: [{name: s, secretRef: {name: own}}]}}";
    expect(mistakes([environment(spec), bound("team-b/x"), own])).toEqual([]);
  });

  test("of a store of External Secrets is bound in the namespace of the workload, or by the environment", () => {
    const source = "{external: {storeRef: {name: vault}, key: k}}";
    expect(mistakes([environment(), bound("prod/x"), binding("prod", source)])).toEqual([]);
    expect(mistakes([environment(), bound("team-b/x"), binding("team-b", source)])).toEqual([
      `team-b/x: ${variable}a binding in namespace team-b cannot use the secret stores of namespace prod; bind it in spec.defaults.secretBindings of LatticeEnvironment prod`,
    ]);
  });
});

describe("another namespace", () => {
  const using = (type: string, id: string) => service("team-b/x", `  resources: {x: {type: ${type}, id: ${id}}}\n`);
  const own =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: lattice-system, labels: {lattice.dev/provisioner: ''}}\n" +
    "data: {provisioner.yaml: \"{type: own, outputs: {a: b}, peer: {name: 'x', port: 1}}\"}\n";

  test.each(["postgres", "redis", "own"])("may be named by the id of type %s when the environment lists it", (type) => {
    const options = { placeholderSecrets: true };
    expect(mistakes([own, environment(), using(type, "kube-system/x")], options)).toEqual([
      "team-b/x: spec.resources.x: id names namespace kube-system, and this service runs in prod\nadd kube-system to spec.crossNamespace of LatticeEnvironment prod, or name a resource of prod",
    ]);
    expect(mistakes([own, environment(), using(type, "data/x")], options)).toEqual([]);
    expect(mistakes([own, environment("{sourceNamespaces: [team-b]}"), using(type, "data/x")], options)).toHaveLength(1);
  });

  test("may not be named without an environment", () => {
    expect(mistakes([serviceYaml("own/x", { spec: "  resources: {x: {type: redis, id: data/x}}\n" })])).toEqual([
      "own/x: spec.resources.x: id names namespace data, and this service runs in own\nadd data to spec.crossNamespace of a LatticeEnvironment, and name it in spec.environment of the service, or name a resource of own",
    ]);
  });

  test("may be named between services: both sides must agree", () => {
    expect(mistakes([environment(), serviceYaml("data/z"), using("service", "data/z")])).toEqual([]);
  });

  test("an environment that does not hold its namespace grants nothing", () => {
    const late = environment("{namespace: prod, sourceNamespaces: [team-b], crossNamespace: [data]}", "zlate");
    const given = using("redis", "data/x").replace("environment: prod", "environment: zlate");
    expect(mistakes([environment("{}"), late, given])).toHaveLength(1);
  });
});

describe("names that Flagger makes", () => {
  const canary = "  deploy: {strategy: canary}\n";
  const taken = (key: string, by: string, object: string) =>
    `${key}: metadata.name: ${object} would also be created for LatticeService ${by}, which takes precedence\nrename one of the two services, or its container or resource`;
  test.each(["x-primary", "x-canary"])("%s is refused beside another namespace's x", (name) => {
    expect(mistakes([environment(), service("team-a/x"), service(`team-b/${name}`)])).toEqual([
      taken(`team-b/${name}`, "team-a/x", `Deployment ${name}`),
    ]);
  });
  test("x-primary is refused beside a canary x of its own namespace, and not beside another x", () => {
    expect(mistakes([environment(), service("team-a/x"), service("team-a/x-primary")])).toEqual([]);
    expect(mistakes([environment(), service("team-a/x", canary), service("team-a/x-primary")])).toEqual([
      expect.stringContaining(
        "team-a/x-primary: metadata.name: Flagger makes Deployment and Service x-primary beside LatticeService team-a/x",
      ),
    ]);
    expect(mistakes([environment(), service("team-a/x"), service("team-a/x-primary", canary)])).toHaveLength(1);
  });
  test("a route of another service may not have the name of a canary's route", () => {
    const given = service("team-a/x", "  resources: {z: {type: route}}\n");
    expect(mistakes([environment(), given, service("team-a/x-z", canary)])).toEqual([taken("team-a/x-z", "team-a/x", "HTTPRoute x-z")]);
  });
  test("an older x-primary keeps its name, and x is refused", () => {
    expect(mistakes([environment(), service("team-b/x"), service("team-a/x-primary")])).toEqual([
      taken("team-b/x", "team-a/x-primary", "Deployment x-primary"),
    ]);
  });
});

test("a namespace has the pod security labels of its environment, a wider level for Istio's waypoint, and restricted without an environment", () => {
  const labels = (spec: string | undefined) => {
    const world = worldOf(spec === undefined ? serviceYaml("prod/x") : [environment(spec), serviceYaml("prod/x")]);
    const all = world.namespaceObjects("prod")[0]?.metadata.labels ?? {};
    return [all["pod-security.kubernetes.io/enforce"], all["pod-security.kubernetes.io/warn"]];
  };
  expect(labels(undefined)).toEqual(["restricted", "restricted"]);
  expect(labels("{isolation: {podSecurity: baseline}}")).toEqual(["baseline", "baseline"]);
  expect(labels("{mesh: {waypoint: true}}")).toEqual(["baseline", "restricted"]);
  expect(labels("{mesh: {waypoint: true}, isolation: {podSecurity: privileged}}")).toEqual(["privileged", "privileged"]);
});
