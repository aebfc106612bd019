/** Namespaces of gateways and of monitoring cannot get a default deny from a service or an environment. */
import { describe, expect, it } from "vitest";
import { loadYaml, serviceYaml } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { describeServiceError } from "./errors.ts";
import type { WorldOptions } from "./documents.ts";

function environment(name: string, spec: string, made?: string): string {
  const metadata = made === undefined ? `{name: ${name}}` : `{name: ${name}, creationTimestamp: "${made}"}`;
  return `apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: ${metadata}\nspec: ${spec}\n`;
}

const madeAt = (text: string, made: string) => text.replace("metadata: {", `metadata: {creationTimestamp: "${made}", `);

/** The namespaces with a default deny, and the refused resources with the first line of the reason. */
function seen(texts: readonly string[], options: WorldOptions = {}) {
  const { world, problems } = loadYaml(texts, options);
  const { errors, namespaces } = compileAll(world);
  return {
    closed: namespaces.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name),
    refused: [
      ...problems.map(({ path, message }) => `${path}: ${message.split("\n")[0]}`),
      ...[...errors].map(([key, [error]]) => `${key}: ${error === undefined ? "" : describeServiceError(error).split("\n")[0]}`),
    ],
  };
}

const target = (namespace: string, why: string) => `namespace ${namespace} cannot be a target: ${why}, and a default deny would cut it off`;
const GATEWAY = "the gateway of all services is in it (--gateway)";
const SCRAPER = "metrics are scraped from it (--monitoring-namespace)";
const GATEWAY_OF = (name: string) => `the gateway of LatticeEnvironment ${name} is in it (spec.gatewayRef)`;

describe("a service is refused", () => {
  it("in istio-ingress, even when another gateway is used", () => {
    const settings = { gateway: { namespace: "edge", name: "gw" } };
    expect(seen([serviceYaml("istio-ingress/api")], { settings })).toEqual({
      closed: [],
      refused: ["istio-ingress/api: namespace istio-ingress is a system namespace, which Lattice never changes"],
    });
  });

  it("in the namespace of the gateway, and of monitoring", () => {
    const settings = { gateway: { namespace: "edge", name: "gw" }, monitoring: "metrics" };
    expect(seen([serviceYaml("edge/api"), serviceYaml("metrics/api"), serviceYaml("shop/api")], { settings })).toEqual({
      closed: ["shop"],
      refused: [`edge/api: ${target("edge", GATEWAY)}`, `metrics/api: ${target("metrics", SCRAPER)}`],
    });
  });

  it("in the namespace of the gateway of any environment", () => {
    const prod = environment("prod", "{gatewayRef: {name: gw, namespace: edge}}");
    expect(seen([serviceYaml("edge/api"), prod])).toEqual({
      closed: ["prod"],
      refused: [`edge/api: ${target("edge", GATEWAY_OF("prod"))}`],
    });
  });

  it("when its environment has such a namespace, and the environment is refused too", () => {
    const settings = { monitoring: "metrics" };
    const bad = environment("bad", "{namespace: metrics, sourceNamespaces: [shop]}");
    expect(seen([bad, serviceYaml("shop/api", { spec: "  environment: bad\n" })], { settings })).toEqual({
      closed: [],
      refused: [`spec.namespace: ${target("metrics", SCRAPER)}`, `shop/api: ${target("metrics", SCRAPER)}`],
    });
  });
});

describe("a gatewayRef to a namespace with an older service or environment", () => {
  const prod = (made?: string) => environment("prod", "{gatewayRef: {name: gw, namespace: team}}", made);
  const problem = (holder: string) =>
    `spec.gatewayRef.namespace: namespace team is closed by default, because ${holder} runs in it; use a Gateway in a namespace without services`;

  it("is refused, and the namespace stays closed: of a service", () => {
    const api = madeAt(serviceYaml("team/api"), "2026-01-01T00:00:00Z");
    expect(seen([api, prod("2026-01-02T00:00:00Z")])).toEqual({ closed: ["prod", "team"], refused: [problem("LatticeService team/api")] });
  });

  it("is refused, and the namespace stays closed: of an environment", () => {
    const team = environment("team", "{}", "2026-01-01T00:00:00Z");
    expect(seen([team, prod("2026-01-02T00:00:00Z")])).toEqual({ closed: ["prod", "team"], refused: [problem("LatticeEnvironment team")] });
  });

  it("is accepted if the environment with the gatewayRef is older, or of the same age", () => {
    for (const made of ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"]) {
      const api = madeAt(serviceYaml("team/api"), made);
      expect(seen([api, prod("2026-01-01T00:00:00Z")])).toEqual({
        closed: ["prod"],
        refused: [`team/api: ${target("team", GATEWAY_OF("prod"))}`],
      });
    }
  });

  it("is refused for the environment's own namespace", () => {
    expect(seen([environment("team", "{gatewayRef: {name: gw, namespace: team}}")])).toEqual({
      closed: ["team"],
      refused: [problem("LatticeEnvironment team")],
    });
  });

  it("is not prevented by a service that may not run there, or by an external service", () => {
    const foreign = madeAt(serviceYaml("other/api", { spec: "  environment: team\n" }), "2026-01-01T00:00:00Z");
    const external =
      'apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: x, namespace: team, creationTimestamp: "2026-01-01T00:00:00Z"}\n' +
      "spec: {endpoints: {a: https://a.test}}\n";
    const { refused } = seen([foreign, external, prod("2026-01-02T00:00:00Z")]);
    expect(refused).toEqual([
      `team/x: ${target("team", GATEWAY_OF("prod"))}`,
      "other/api: namespace other may not deploy into team: there is no LatticeEnvironment team",
    ]);
  });

  it("to a system namespace, or to the namespace of the default gateway, is accepted", () => {
    const refs = ["istio-system", "istio-ingress"].map((namespace, at) =>
      environment(`e${at}`, `{gatewayRef: {name: gw, namespace: ${namespace}}}`),
    );
    expect(seen(refs)).toEqual({ closed: ["e0", "e1"], refused: [] });
  });
});

describe("after changes", () => {
  it("the namespace is released with the gatewayRef, and reserved when the older service is removed", () => {
    const older = madeAt(serviceYaml("team/older"), "2026-01-01T00:00:00Z");
    const younger = madeAt(serviceYaml("team/younger"), "2026-01-03T00:00:00Z");
    const prod = environment("prod", "{gatewayRef: {name: gw, namespace: team}}", "2026-01-02T00:00:00Z");
    const { world } = loadYaml([older, younger, prod]);
    const now = () => [world.namespaces().includes("team"), world.compile("team/younger").ok, world.gatewayProblem("prod") === undefined];
    expect(now()).toEqual([true, true, false]);
    expect(world.remove("LatticeService", "team/older")).toContain("team/younger");
    expect(now()).toEqual([false, false, true]);
    expect(world.remove("LatticeEnvironment", "prod")).toContain("team/younger");
    expect(now()).toEqual([true, true, true]);
  });
});
