/** A declaration with a misspelled param opens nothing, on either side. */
import { describe, expect, it } from "vitest";
import { allEdges, DataPlane } from "#mesh-compiler";
import { loadYaml, serviceYaml, worldOf } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { describeServiceError } from "./errors.ts";

const resource = (text: string) => `  resources:\n    ${text}\n`;

/** Open edges of the graph, and the messages of the errors. */
function seen(...texts: readonly string[]) {
  const { world } = loadYaml(texts);
  const { errors } = compileAll(world);
  return {
    open: allEdges(world.mesh.graph).flatMap(({ caller, callee, state }) =>
      ["agreed", "external", "managed"].includes(state.kind) ? [`${caller} -> ${callee}`] : [],
    ),
    errors: [...errors].map(([key, list]) => `${key}: ${list.map(describeServiceError).join()}`),
  };
}

describe("an inbound declaration with a misspelled param", () => {
  const web = serviceYaml("web", { calls: ["api"] });
  const rows = [
    { params: "{prots: [http]}", want: 'params.prots: unknown parameter; did you mean "ports"?' },
    { params: "{method: [GET]}", want: 'params.method: unknown parameter; did you mean "methods"?' },
    { params: "{ports: []}", want: "params.ports: must not be empty; leave it out to mean all ports" },
    { params: "{ports: [htp]}", want: 'params.ports[0]: this service has no port "htp"; did you mean "http"?; it has http (8080)' },
    { params: "{methods: GET}", want: "params.methods: must be a list, such as [GET]" },
  ];
  it.each(rows)("$params opens nothing, and is an error of the service", ({ params, want }) => {
    const api = serviceYaml("api", { spec: resource(`web: {direction: inbound, params: ${params}}`) });
    expect(seen(web, api)).toEqual({ open: [], errors: [`shop/api: resource 'web' provisioner error: ${want}`] });
    expect(seen(web, api.replace(params, "{ports: [http]}"))).toEqual({ open: ["shop/web -> shop/api"], errors: [] });
  });

  it("closes the edge in the policies of a service that has other errors too", () => {
    const api = serviceYaml("api", { spec: resource("web: {direction: inbound, params: {prots: [http]}}") });
    const world = worldOf([web, api]);
    const objects = [...world.namespaceObjects("shop"), ...world.mesh.policiesOf("shop/api"), ...compileAll(world).objects];
    expect(JSON.stringify(world.mesh.policiesOf("shop/api"))).not.toContain("/sa/web");
    expect(new DataPlane(objects, () => "cluster.local").ask({ from: "shop/web", to: "shop/api", port: 8080 })?.open).not.toBe(true);
  });

  it("does not widen a valid declaration for the same peer", () => {
    const spec = (second: string) =>
      `  resources:\n    web: {direction: inbound, params: {methods: [GET]}}\n    again: {direction: inbound, id: web, params: ${second}}\n`;
    const world = worldOf([web, serviceYaml("api", { spec: spec("{prots: [http]}") })]);
    const policies = JSON.stringify(world.mesh.policiesOf("shop/api"));
    expect(policies).toContain('"methods":["GET"]');
  });
});

describe("an outbound declaration with a misspelled param", () => {
  it("opens nothing to a service", () => {
    const web = serviceYaml("web", { spec: resource("api: {params: {prots: [http]}}") });
    expect(seen(web, serviceYaml("api", { calledBy: ["web"] }))).toEqual({
      open: [],
      errors: [`shop/web: resource 'api' provisioner error: params.prots: unknown parameter; did you mean "ports"?`],
    });
  });

  it("opens nothing to an external service", () => {
    const stripe =
      "apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: stripe, namespace: shop}\n" +
      "spec: {endpoints: {api: https://api.stripe.com}, allowedRequesters: [web]}\n";
    const web = (params: string) => serviceYaml("web", { spec: resource(`stripe: {type: external-service, params: ${params}}`) });
    const { world } = loadYaml([stripe, web("{ports: [443]}")]);
    expect(compileAll(world).errors.get("shop/web")?.map(describeServiceError)).toEqual([
      "resource 'stripe' provisioner error: params.ports: unknown parameter; external-service has no parameters",
    ]);
    expect(JSON.stringify(world.mesh.policiesOf("shop/web"))).not.toContain("stripe");
    expect(JSON.stringify(worldOf([stripe, web("{}")]).mesh.policiesOf("shop/web"))).toContain("stripe");
  });

  it("of a database opens no egress", () => {
    const web = serviceYaml("web", { spec: resource("db: {type: postgres, params: {prot: 5433}}") });
    expect(seen(web).open).toEqual([]);
  });
});

describe("a declared type", () => {
  const provisioner = (text: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s3, labels: {lattice.dev/provisioner: ""}}\ndata: {provisioner.yaml: '${text}'}\n`;
  const uses = (params: string) => serviceYaml("web", { spec: resource(`files: {type: s3, params: ${params}}`) });

  it("accepts the params that it declares or reads, and no others", () => {
    const declared = provisioner('{type: s3, params: {region: eu}, outputs: {url: "${params.bucket}.${params.region}"}}');
    expect(seen(declared, uses("{bucket: b, region: us}")).errors).toEqual([]);
    expect(seen(declared, uses("{bucket: b, regoin: us}")).errors).toEqual([
      `shop/web: resource 'files' provisioner error: params.regoin: unknown parameter; did you mean "region"?`,
    ]);
  });

  it("that mentions no params accepts all", () => {
    expect(seen(provisioner("{type: s3, outputs: {url: x}}"), uses("{anything: 1}")).errors).toEqual([]);
  });
});
