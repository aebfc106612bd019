/** Flags of `lattice crds`. */
import { Option } from "commander";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerCrds: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "crds", {
    group: "operator",
    summary: "print the CustomResourceDefinitions",
    description: "print Lattice's CustomResourceDefinitions",
    examples: [
      { command: "lattice crds | kubectl apply --server-side -f -", effect: "install all eight kinds" },
      { command: "lattice crds ls -o schema", effect: "the JSON Schema of LatticeService, for an editor" },
    ],
  })
    .argument("[kind...]", "only these, by kind, plural or short name")
    .addOption(new Option("-o, --output <form>", "schema: JSON Schema, for editors").choices(["yaml", "json", "schema"]).default("yaml"))
    .action(async (names: string[], { output }: { output: string }) => done((await import("../crds.ts")).printCrds(io, names, output)));
};
