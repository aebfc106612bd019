/** Hostile input, and names that JavaScript objects inherit. */
import { describe, expect, test } from "vitest";
import { parseLatticeService } from "#crds";
import { loadYaml, serviceYaml, worldOf } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { why } from "./why.ts";

test("services, namespaces and ports may have names of JavaScript's built-in properties", () => {
  const port = (name: string) => serviceYaml(name).replace("ports: {http: {port: 8080}}", "ports: {constructor: {port: 8080}}");
  const caller = serviceYaml("constructor/a", {
    spec: "  resources: {constructor: {id: constructor/constructor, params: {ports: [constructor]}}}\n",
  });
  const callee = port("constructor/constructor") + "  resources: {a: {direction: inbound}}\n";
  const world = worldOf([caller, callee]);
  expect(compileAll(world).errors.size).toBe(0);
  const answer = why(world, { from: "constructor/a", to: "constructor/constructor" });
  expect(answer.ok && answer.value.map(({ open }) => open)).toEqual([true]);
  expect(why(world, { from: "constructor/a", to: "constructor/toString" }).ok).toBe(false);
});

test("a port named like a built-in property opens nothing", () => {
  const world = worldOf([
    serviceYaml("a", { spec: "  resources: {b: {params: {ports: [toString, __proto__]}}}\n" }),
    serviceYaml("b", { calledBy: ["a"] }),
  ]);
  expect(compileAll(world).warnings).toContain("shop/a -> shop/b is closed: the caller and the callee have no port in common");
});

describe("input that no cluster would accept is refused, and not quoted in full", () => {
  const service = (spec: unknown, name = "a") =>
    parseLatticeService({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name, namespace: "shop" }, spec });
  const container = (fields: object) => ({ containers: { main: { image: "i:1", ...fields } } });
  test("ten megabytes in a variable", () => {
    const parsed = service(container({ variables: { A: "x".repeat(10_000_000) } }));
    expect(parsed.ok).toBe(false);
    expect(JSON.stringify(parsed).length).toBeLessThan(1_000);
  });
  test.each(["ünï", "a/b", "A", "a b", "..", "a.b", "", "-a", "a".repeat(64), "a\u0000"])("a service called %j", (name) =>
    expect(service(container({}), name).ok).toBe(false),
  );
  test.each(["ünï", "__proto__", "A B"])("a container called %j", (name) => {
    expect(service(JSON.parse(`{"containers":{${JSON.stringify(name)}:{"image":"i"}}}`)).ok).toBe(false);
  });
});

test("a thousand services that call their neighbour, and all call one hub", () => {
  const count = 1_000;
  const texts = Array.from({ length: count }, (_, at) =>
    serviceYaml(`s${at}`, { calls: [`s${(at + 1) % count}`, "hub"], calledBy: [`s${(at - 1 + count) % count}`] }),
  );
  const hub = serviceYaml("hub", { calledBy: Array.from({ length: 128 }, (_, at) => `s${at}`) });
  const { world, problems } = loadYaml([...texts, hub]);
  expect(problems).toEqual([]);
  const { errors, objects } = compileAll(world);
  expect(errors.size).toBe(0);
  // callers with the same ports share a rule: a hub's policy grows by a line per caller, not by a rule
  const policy = objects.find(({ kind, metadata }) => kind === "AuthorizationPolicy" && metadata.name === "hub") as unknown as {
    spec: { rules: readonly unknown[] };
  };
  expect(policy.spec.rules).toHaveLength(1);
}, 60_000);
