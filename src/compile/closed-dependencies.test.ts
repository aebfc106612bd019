import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeExternalServiceKind, latticeServiceKind } from "#crds";
import type { KubeObject } from "#kube";
import { declaredProvisioner } from "#service-compiler";
import { worldSettings } from "./settings.ts";
import { World } from "./world.ts";

const API = "lattice.dev/v1alpha1";
const service = (key: string, resources: object = {}, ports: object = { http: { port: 80 } }) => {
  const [namespace, name] = key.split("/");
  const spec = { containers: { main: { image: "a:1" } }, service: { ports }, resources };
  return expectOk(latticeServiceKind.parse({ apiVersion: API, kind: "LatticeService", metadata: { name, namespace }, spec }));
};
const external = (requesters: readonly string[]) => {
  const spec = { endpoints: { api: "https://a.example.com" }, allowedRequesters: requesters };
  const metadata = { name: "stripe", namespace: "shop" };
  return expectOk(latticeExternalServiceKind.parse({ apiVersion: API, kind: "LatticeExternalService", metadata, spec }));
};
const bucket: KubeObject & { readonly data: object } = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "s3", labels: { "lattice.dev/provisioner": "s3" } },
  data: { "provisioner.yaml": "type: s3\noutputs: {url: x}" },
};

type Row = {
  readonly name: string;
  readonly resources: object;
  readonly others?: readonly Parameters<World["put"]>[0][];
  readonly want: Readonly<Record<string, string>>;
};

const rows: readonly Row[] = [
  { name: "without outbound resources nothing is closed", resources: { front: { direction: "inbound" } }, want: {} },
  {
    name: "both sides declare the call",
    resources: { api: {} },
    others: [service("shop/api", { cart: { direction: "inbound" } })],
    want: {},
  },
  {
    name: "the callee does not declare the caller",
    resources: { a: { id: "api" } },
    others: [service("shop/api")],
    want: { a: "shop/api has not agreed; add spec.resources.cart: {type: service, direction: inbound} to LatticeService shop/api" },
  },
  {
    name: "the callee declares the caller as outbound only",
    resources: { api: {} },
    others: [service("shop/api", { basket: { id: "cart" } })],
    want: { api: "shop/api has not agreed; add spec.resources.basket: {type: service, direction: both} to LatticeService shop/api" },
  },
  {
    name: "a callee in another namespace",
    resources: { api: { id: "pay/api" } },
    others: [service("pay/api")],
    want: {
      api: "pay/api has not agreed; add spec.resources.cart: {type: service, direction: inbound, id: shop/cart} to LatticeService pay/api",
    },
  },
  {
    name: "no common port",
    resources: { api: { params: { ports: ["admin"] } } },
    others: [service("shop/api", { cart: { direction: "inbound", params: { ports: ["http"] } } })],
    want: {
      api: "the caller and the callee have no port in common; compare params.ports here and in LatticeService shop/api with its spec.service.ports",
    },
  },
  {
    name: "a param that cannot be read",
    resources: { api: { params: { ports: "${config.nowhere}" } } },
    others: [service("shop/api", { cart: { direction: "inbound" } })],
    want: { api: "spec.resources.api has an error; see the condition TemplatesResolved" },
  },
  {
    name: "an external service",
    resources: { stripe: { type: "external-service" } },
    others: [external(["front"])],
    want: { stripe: "shop/stripe has not agreed; add cart to spec.allowedRequesters of LatticeExternalService shop/stripe" },
  },
  {
    name: "an external service of another namespace",
    resources: { pay: { type: "external-service", id: "shop/stripe" } },
    others: [external(["cart", "shop/cart"])],
    want: {},
  },
  { name: "a database that is not a Lattice service", resources: { db: { type: "postgres" } }, want: {} },
  { name: "a bucket, a route and a volume are not calls", resources: { files: { type: "s3" }, data: { type: "volume" } }, want: {} },
  {
    name: "resources that reference each other in a cycle",
    resources: {
      a: { type: "postgres", params: { database: "${resources.b.host}" } },
      b: { type: "postgres", params: { database: "${resources.a.host}" } },
    },
    want: {
      a: "spec.resources.a has an error; see the condition TemplatesResolved",
      b: "spec.resources.b has an error; see the condition TemplatesResolved",
    },
  },
];

describe("closed dependencies", () => {
  test.each(rows)("$name", ({ resources, others = [], want }) => {
    const world = new World(worldSettings());
    const made = declaredProvisioner(bucket);
    world.setProvisioners(made?.ok === true ? [made.value] : []);
    for (const one of [service("shop/cart", resources), ...others]) world.put(one);
    expect(Object.fromEntries(world.dependenciesOf("shop/cart")?.closed ?? [])).toEqual(want);
  });

  test("an invalid callee is reported as invalid, and a service without a target namespace has no dependencies", () => {
    const world = new World(worldSettings());
    world.put(service("shop/cart", { api: {} }));
    world.putInvalid("LatticeService", service("shop/api"));
    expect(world.dependenciesOf("shop/cart")?.closed.get("api")).toBe("LatticeService shop/api is invalid; its status has the error");
    expect(world.dependenciesOf("shop/nowhere")).toBeUndefined();
  });
});
