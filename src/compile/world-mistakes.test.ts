/** Mistakes between several resources: target namespaces and conflicting names. With exact messages. */
import { describe, expect, test } from "vitest";
import { loadYaml, serviceYaml } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { describeServiceError, placeOfError } from "./errors.ts";

const environment = (name: string, spec: string) =>
  `apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const external = (name: string, more = "") => {
  const [namespace, own] = name.split("/");
  return `apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: ${own}, namespace: ${namespace}}\nspec: {${more}endpoints: {default: "https://x.test"}}\n`;
};
const inProd = (name: string) => serviceYaml(name, { spec: "  environment: prod\n" });
const made = (yaml: string, at: string) => yaml.replace("metadata: {", `metadata: {creationTimestamp: "${at}", `);
const withContainers = (name: string, ...containers: readonly string[]) =>
  serviceYaml(name).replace(/containers: .*\n/, `containers: {${containers.map((one) => `${one}: {image: "i:1"}`).join(", ")}}\n`);
const withVolume = (name: string, volume: string) => serviceYaml(name, { spec: `  resources: {data: {type: volume, ${volume}}}\n` });

function mistakes(...texts: readonly string[]): readonly string[] {
  const { world, problems } = loadYaml(texts, { settings: { ingressDomain: "test" } });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return [...compileAll(world).errors].flatMap(([key, errors]) =>
    errors.map((error) => `${key}: ${placeOfError(error)}: ${describeServiceError(error)}`),
  );
}

const rename = "rename one of the two services, or its container or resource";

type Row = { name: string; given: readonly string[]; want: readonly string[] };

describe("target namespaces", () => {
  const notAllowed = (key: string, from: string, to: string, name = to) =>
    `${key}: spec.environment: namespace ${from} may not deploy into ${to}\nadd ${from} to spec.sourceNamespaces of LatticeEnvironment ${name}, or write the service in ${to}`;
  const noEnvironment = (key: string, from: string, to: string) =>
    `${key}: spec.environment: namespace ${from} may not deploy into ${to}: there is no LatticeEnvironment ${to}\ncreate it with ${from} in spec.sourceNamespaces, or write the service in ${to}`;
  const system = (key: string, namespace: string) =>
    `${key}: spec.environment: namespace ${namespace} is a system namespace, which Lattice never changes`;
  const rows: readonly Row[] = [
    { name: "its own namespace is allowed in any environment", given: [inProd("prod/a")], want: [] },
    { name: "an environment that does not exist", given: [inProd("team/a")], want: [noEnvironment("team/a", "team", "prod")] },
    {
      name: "an environment that does not list the source namespace",
      given: [environment("prod", "{sourceNamespaces: [other]}"), inProd("team/a")],
      want: [notAllowed("team/a", "team", "prod")],
    },
    {
      name: "an environment that lists the source namespace",
      given: [environment("prod", "{sourceNamespaces: [team]}"), inProd("team/a")],
      want: [],
    },
    {
      name: "an environment with another target namespace",
      given: [environment("prod", "{namespace: production}"), inProd("prod/a")],
      want: [notAllowed("prod/a", "prod", "production", "prod")],
    },
    {
      name: "an external service is refused too",
      given: [external("team/x", "environment: prod, ")],
      want: [noEnvironment("team/x", "team", "prod")],
    },
    ...["kube-system", "istio-system", "cilium-system", "lattice-system", "cert-manager", "capi-east", "capd-system"].map((namespace) => ({
      name: `in ${namespace}`,
      given: [serviceYaml(`${namespace}/a`)],
      want: [system(`${namespace}/a`, namespace)],
    })),
  ];
  test.each(rows)("$name", ({ given, want }) => expect(mistakes(...given)).toEqual(want));
});

describe("conflicting names", () => {
  const both = environment("prod", "{sourceNamespaces: [one, two]}");
  const taken = (key: string, by: string, namespace = "prod") =>
    `${key}: metadata.name: ${by} has the same name in namespace ${namespace} and takes precedence\nrename one of the two`;
  const rows: readonly Row[] = [
    {
      name: "two services in one namespace",
      given: [both, inProd("two/api"), inProd("one/api")],
      want: [taken("two/api", "LatticeService one/api")],
    },
    {
      name: "the older service has the name, whatever its namespace",
      given: [both, made(inProd("one/api"), "2026-02-01T00:00:00Z"), made(inProd("two/api"), "2026-01-01T00:00:00Z")],
      want: [taken("one/api", "LatticeService two/api")],
    },
    {
      name: "a service that is not created yet is the youngest",
      given: [both, inProd("one/api"), made(inProd("two/api"), "2026-01-01T00:00:00Z")],
      want: [taken("one/api", "LatticeService two/api")],
    },
    {
      name: "a service and an external service",
      given: [external("shop/api"), serviceYaml("api")],
      want: [taken("shop/api", "LatticeService shop/api", "shop")],
    },
    {
      name: "an external service that is older",
      given: [made(external("shop/api"), "2026-01-01T00:00:00Z"), serviceYaml("api")],
      want: [taken("shop/api", "LatticeExternalService shop/api", "shop")],
    },
    { name: "the same name in two namespaces is allowed", given: [serviceYaml("one/api"), serviceYaml("two/api")], want: [] },
    {
      name: "the name of the waypoint",
      given: [serviceYaml("waypoint")],
      want: ["shop/waypoint: metadata.name: the name waypoint is reserved for the waypoint of a namespace\nrename the service"],
    },
    {
      name: "the API server's own Service is not replaced",
      given: [serviceYaml("default/kubernetes"), serviceYaml("shop/kubernetes")],
      want: ["default/kubernetes: metadata.name: the name kubernetes is reserved for the API server's own Service\nrename the service"],
    },
    {
      name: "the name of the default ServiceAccount, which pods without a service use",
      given: [serviceYaml("shop/default")],
      want: ["shop/default: metadata.name: the name default is reserved for the default ServiceAccount of a namespace\nrename the service"],
    },
    {
      name: "the names of the default deny",
      given: [serviceYaml("lattice-default-deny"), serviceYaml("lattice-default-deny-waypoint")],
      want: ["lattice-default-deny", "lattice-default-deny-waypoint"].map(
        (name) => `shop/${name}: metadata.name: the name ${name} is reserved for the default deny of a namespace\nrename the service`,
      ),
    },
    { name: "external services may have reserved names: they have no identity", given: [external("shop/waypoint")], want: [] },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(mistakes(...given)).toEqual(want));

  test("a service with a reserved name is not in the mesh", () => {
    const { world } = loadYaml([serviceYaml("a", { calledBy: ["waypoint"] }), serviceYaml("waypoint", { calls: ["a"] })]);
    expect(world.mesh.graph.get("shop/waypoint")).toBeUndefined();
    expect(world.idOf("shop/waypoint")).toBeUndefined();
  });
});

describe("objects that two services would create", () => {
  const config = [
    "ConfigMap api-main-env",
    "ConfigMap api-main-files",
    "Secret api-main-secrets",
    "Secret api-main-external-secrets",
    "Secret api-main-files-secret",
    "Secret api-main-files-external",
  ];
  const taken = (key: string, by: string, objects: readonly string[], remedy = rename) =>
    objects.map(
      (object) => `${key}: metadata.name: ${object} would also be created for LatticeService ${by}, which takes precedence\n${remedy}`,
    );
  const rows: readonly Row[] = [
    {
      name: "config of container main of service api, and of service api-main",
      given: [withContainers("api", "main", "side"), withContainers("api-main", "main")],
      want: taken("shop/api-main", "shop/api", config),
    },
    {
      name: "the older service has the object",
      given: [withContainers("api", "main", "side"), made(withContainers("api-main", "main"), "2026-01-01T00:00:00Z")],
      want: taken("shop/api", "shop/api-main", config),
    },
    { name: "a single container has no suffix", given: [withContainers("api", "main"), withContainers("api-main", "main")], want: [] },
    {
      name: "in two namespaces there is no conflict",
      given: [withContainers("one/api", "main", "side"), withContainers("two/api-main", "main")],
      want: [],
    },
    {
      name: "the waypoint policy of one service, and the policy of another",
      given: [serviceYaml("api"), serviceYaml("api-waypoint")],
      want: taken("shop/api-waypoint", "shop/api", ["AuthorizationPolicy api-waypoint"]),
    },
    {
      name: "routes",
      given: [
        serviceYaml("api", { spec: '  resources: {web-x: {type: route, params: {host: "a.test"}}}\n' }),
        serviceYaml("api-web", { spec: '  resources: {x: {type: route, params: {host: "b.test"}}}\n' }),
      ],
      want: taken("shop/api-web", "shop/api", ["HTTPRoute api-web-x"]),
    },
    {
      name: "PersistentVolumeClaims of both",
      given: [withVolume("a", "id: disk, params: {size: 1Gi}"), withVolume("b", "id: disk, params: {size: 2Gi}")],
      want: taken(
        "shop/b",
        "shop/a",
        ["PersistentVolumeClaim disk"],
        "leave out params.size of the volume here, and it is used as the other makes it",
      ),
    },
    {
      name: "a PersistentVolumeClaim that one creates and the other mounts",
      given: [withVolume("a", "id: disk, params: {size: 1Gi}"), withVolume("b", "id: disk")],
      want: [],
    },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(mistakes(...given)).toEqual(want));
});

test("mistakes in params of one service do not open its neighbours", () => {
  const broken = serviceYaml("a", { spec: '  resources: {b: {direction: outbound, params: {ports: ["${config.nothing}"]}}}\n' });
  const { world } = loadYaml([broken, serviceYaml("b", { calledBy: ["a"] })]);
  const compiled = world.compile("shop/b");
  const kinds = compiled.ok ? compiled.value.objects.map(({ object }) => object.kind) : [];
  expect(kinds).not.toContain("AuthorizationPolicy");
});
