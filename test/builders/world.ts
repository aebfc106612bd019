/** Loads worlds from YAML. */
import { expectOk } from "#base";
import { loadWorld, type LoadedWorld, type WorldDocument, type WorldOptions } from "#compile";
import { parseYaml } from "#kube";

/** Each text is a separate file: `1.yaml`, `2.yaml (document 2)`. */
export function documentsOf(...texts: readonly string[]): readonly WorldDocument[] {
  return texts.flatMap((text, file) =>
    expectOk(parseYaml(text)).map((value, at) => ({ value, from: `${file + 1}.yaml${at === 0 ? "" : ` (document ${at + 1})`}` })),
  );
}

export function loadYaml(texts: string | readonly string[], options: WorldOptions = {}): LoadedWorld {
  return loadWorld(documentsOf(...(typeof texts === "string" ? [texts] : texts)), options);
}

/** A world without problems: any problem fails the test. */
export function worldOf(texts: string | readonly string[], options: WorldOptions = {}): LoadedWorld["world"] {
  const { world, problems } = loadYaml(texts, options);
  if (problems.length > 0) throw new Error(problems.map(({ from, path, message }) => `${from}: ${path}: ${message}`).join("\n"));
  return world;
}

/** A service with the names of its callees and callers. */
export function serviceYaml(name: string, given: { calls?: readonly string[]; calledBy?: readonly string[]; spec?: string } = {}): string {
  const [namespace, own] = name.includes("/") ? name.split("/") : ["shop", name];
  const entry = (peer: string, direction: string) =>
    `    ${peer.replace(/^.*\//, "")}: {direction: ${direction}${peer.includes("/") ? `, id: ${peer}` : ""}}\n`;
  const entries = [
    ...(given.calls ?? []).map((peer) => entry(peer, "outbound")),
    ...(given.calledBy ?? []).map((peer) => entry(peer, "inbound")),
  ];
  return [
    "apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\n",
    `metadata: {name: ${own}, namespace: ${namespace}}\nspec:\n  containers: {main: {image: "${own}:1"}}\n  service: {ports: {http: {port: 8080}}}\n`,
    entries.length === 0 ? "" : `  resources:\n${entries.join("")}`,
    given.spec ?? "",
  ].join("");
}
