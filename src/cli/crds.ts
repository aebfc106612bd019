/** `lattice crds`: the CustomResourceDefinitions, ready for `kubectl apply --server-side -f -`, or the schemas editors use. */
import type { Command } from "commander";
import { latticeKinds } from "#crds";
import { formatYamlDocuments } from "#kube";
import { complain, type CliIo, type ExitCode } from "./io.ts";

export function addCrdsCommand(program: Command, io: CliIo, done: (code: ExitCode) => void): void {
  program
    .command("crds")
    .description("print the CustomResourceDefinitions of Lattice")
    .argument("[kind...]", "only these, by kind, plural or short name")
    .option("-o, --output <form>", "yaml, json, or schema (JSON Schema, for editors)", "yaml")
    .action((names: string[], { output }: { output: string }) => done(printCrds(io, names, output)));
}

function printCrds(io: CliIo, names: readonly string[], output: string): ExitCode {
  const unknown = names.filter((name) => !latticeKinds.some((kind) => isCalled(kind, name)));
  const known = latticeKinds.map(({ resource, shortName }) => `${resource.kind} (${shortName})`).join(", ");
  if (unknown.length > 0) return complain(io, `unknown kind ${unknown.map((name) => `"${name}"`).join(", ")}; there are ${known}`);
  const chosen = latticeKinds.filter((kind) => names.length === 0 || names.some((name) => isCalled(kind, name)));
  switch (output) {
    case "yaml":
      io.stdout(formatYamlDocuments(chosen.map(({ crd }) => crd())));
      return 0;
    case "json":
      io.stdout(`${JSON.stringify({ apiVersion: "v1", kind: "List", items: chosen.map(({ crd }) => crd()) }, null, 2)}\n`);
      return 0;
    case "schema":
      io.stdout(
        `${JSON.stringify({ $schema: "http://json-schema.org/draft-07/schema#", anyOf: chosen.map(({ jsonSchema }) => jsonSchema()) }, null, 2)}\n`,
      );
      return 0;
    default:
      complain(io, `unknown output "${output}"; it is yaml, json or schema`);
      return 2;
  }
}

function isCalled({ resource, shortName }: (typeof latticeKinds)[number], name: string): boolean {
  const wanted = name.toLowerCase();
  return [resource.kind.toLowerCase(), resource.plural, shortName].includes(wanted);
}
