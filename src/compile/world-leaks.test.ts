/** Secrets of a whole world are in the `data` of Secrets, and in no other output. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sensitive } from "#base";
import { loadYaml, serviceYaml } from "../../test/builders/world.ts";
import { compileAll } from "./compile-all.ts";
import { describeServiceError } from "./errors.ts";
import { formatGraph } from "./graph-view.ts";
import { formatAnswers } from "./answer-text.ts";
import { why } from "./why.ts";

const CANARY = "c4n4ry";
const rich = readFileSync(new URL("../../test/kube/compiled-objects/world.yaml", import.meta.url), "utf8");
const secrets = new Map(
  ["postgres/main-db/password", "redis/cache/password", "shared/key", "own/key"].map((path) => [path, sensitive(CANARY)]),
);
const bindings =
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeSecretBindings\nmetadata: {name: b, namespace: shop}\nspec: {bindings: {own: {secretRef: {name: own}}}}\n";

/** Everything that is readable without access to Secrets. */
function shown(...texts: readonly string[]): { readonly open: string; readonly closed: string } {
  const { world, problems } = loadYaml(texts, { secrets, assumeShareable: true });
  const { namespaces, objects, compiled, errors, warnings } = compileAll(world);
  const closed = objects.filter(({ kind }) => kind === "Secret");
  const open = objects.map((object) => (object.kind === "Secret" ? { ...object, data: {} } : object));
  const once = compiled.map((one) => one.once ?? {});
  const messages = [...errors].flatMap(([key, all]) => all.flatMap((error) => [key, JSON.stringify(error), describeServiceError(error)]));
  const answers = world.services().flatMap((from) => world.services().map((to) => why(world, { from, to })));
  const spoken = answers.map((answer) => (answer.ok ? formatAnswers(answer.value) : answer.error));
  const dependencies = world.services().map((key) => {
    const made = world.compile(key);
    return made.ok ? [...made.value.resolvedDependencies, ...made.value.peers, ...made.value.routes] : [];
  });
  const graphs = (["text", "dot", "json"] as const).map((format) => formatGraph(world, format));
  return {
    open: JSON.stringify([problems, namespaces, open, once, messages, warnings, spoken, dependencies, graphs]),
    closed: JSON.stringify(closed),
  };
}

const forms = [CANARY, Buffer.from(CANARY).toString("base64").replaceAll("=", ""), Buffer.from(CANARY).toString("hex")];

test("a world that uses every feature shows none of its secrets", () => {
  const { open, closed } = shown(rich);
  for (const form of forms) expect(open).not.toContain(form);
  expect(closed).toContain(Buffer.from(CANARY).toString("base64"));
});

test.each(["ports", "methods", "paths"])("a secret in params.%s of either side is in no policy, and opens nothing", (param) => {
  const entry = (peer: string, direction: string) =>
    `  resources: {${peer}: {direction: ${direction}, params: {${param}: "\${secrets.own.key}"}}}\n`;
  for (const texts of [
    [serviceYaml("a", { spec: entry("b", "outbound") }), serviceYaml("b", { calledBy: ["a"] })],
    [serviceYaml("a", { calls: ["b"] }), serviceYaml("b", { spec: entry("a", "inbound") })],
  ]) {
    const { open } = shown(bindings, ...texts);
    for (const form of forms) expect(open).not.toContain(form);
    expect(open).not.toContain("cluster.local/ns/shop/sa/a");
  }
});
