/** `lattice crds`: the CustomResourceDefinitions, ready for `kubectl apply --server-side -f -`, or the schemas editors use. */
import { latticeKinds } from "#crds";
import { formatYamlDocuments } from "#kube";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";

export function printCrds(io: CliIo, names: readonly string[], output: string): ExitCode {
  const unknown = names.filter((name) => !latticeKinds.some((kind) => isCalled(kind, name)));
  const known = latticeKinds.map(({ resource, shortName }) => `${resource.kind} (${shortName})`).join(", ");
  if (unknown.length > 0) return reportFailure(io, `unknown kind ${unknown.map((name) => `"${name}"`).join(", ")}; there are ${known}`);
  const chosen = latticeKinds.filter((kind) => names.length === 0 || names.some((name) => isCalled(kind, name)));
  io.stdout(render(chosen, output));
  return 0;
}

function render(kinds: typeof latticeKinds, output: string): string {
  switch (output) {
    case "json":
      return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: kinds.map(({ crd }) => crd()) }, null, 2)}\n`;
    case "schema":
      return `${JSON.stringify({ $schema: "http://json-schema.org/draft-07/schema#", anyOf: kinds.map(({ jsonSchema }) => jsonSchema()) }, null, 2)}\n`;
    default:
      return formatYamlDocuments(kinds.map(({ crd }) => crd()));
  }
}

function isCalled({ resource, shortName }: (typeof latticeKinds)[number], name: string): boolean {
  const wanted = name.toLowerCase();
  return [resource.kind.toLowerCase(), resource.plural, shortName].includes(wanted);
}
