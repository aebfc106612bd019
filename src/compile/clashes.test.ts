/** Conflicts of names and routes, between two services or between two resources of one service. */
import { expect, test } from "vitest";
import { loadYaml, serviceYaml } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { problemsOf } from "./document-problems.ts";

function problems(...texts: readonly string[]): readonly string[] {
  const loaded = loadYaml(texts, { settings: { ingressDomain: "example.com" } });
  return problemsOf(loaded, compileAll(loaded.world)).map(({ from, path, message }) => `${from}: ${path}: ${message}`);
}

const canary = (name: string) => serviceYaml(name, { spec: "  deploy: {strategy: canary}\n" });

test.each(["primary", "canary"])("a service x-%s beside a canary x is refused, and both are named", (suffix) => {
  expect(problems(canary("x"), serviceYaml(`x-${suffix}`))).toEqual([
    `2.yaml: metadata.name: Flagger makes Deployment and Service x-${suffix} beside LatticeService shop/x, whose deploy.strategy is canary\nrename LatticeService shop/x-${suffix}, or give LatticeService shop/x another strategy`,
  ]);
  expect(problems(serviceYaml("x"), serviceYaml(`x-${suffix}`))).toEqual([]);
});

test("the canary is refused when the other service is older", () => {
  const made = (text: string, year: number) =>
    text.replace("namespace: shop}", `namespace: shop, creationTimestamp: "${year}-01-01T00:00:00Z"}`);
  expect(problems(made(canary("x"), 2026), made(serviceYaml("x-primary"), 2025))).toEqual([
    "1.yaml: metadata.name: Flagger makes Deployment and Service x-primary beside LatticeService shop/x, whose deploy.strategy is canary\nrename LatticeService shop/x-primary, or give LatticeService shop/x another strategy",
  ]);
});

test("two routes with the same host and path in one service are refused, and both are named", () => {
  const spec = (second: string) =>
    `  resources:\n    a: {type: route, params: {host: w.example.com, path: /x}}\n    b: {type: route, params: {host: w.example.com, path: ${second}}}\n`;
  expect(problems(serviceYaml("web", { spec: spec("/x/") }))).toEqual([
    "1.yaml: spec.resources.b: resource 'a' of this service already claims host w.example.com with path /x/, or part of it\nuse another host or path",
  ]);
  expect(problems(serviceYaml("web", { spec: spec("/x/y") }))).toEqual([]);
});

test("two services with the same host and path: the first claim wins, and the error of the other names it", () => {
  const spec = "  resources: {web: {type: route, params: {host: w.example.com}}}\n";
  expect(problems(serviceYaml("a", { spec }), serviceYaml("b", { spec }))).toEqual([
    "2.yaml: spec.resources.web: LatticeService shop/a already claims host w.example.com with path /, or part of it\nuse another host or path",
  ]);
});
