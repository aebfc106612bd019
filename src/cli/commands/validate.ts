/** Flags of `lattice validate`. */
import { Option } from "commander";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_TEXT } from "./shared-flags.ts";

export const registerValidate: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "validate", {
    group: "services",
    summary: "check files, without a cluster",
    description:
      "check Lattice resources and Score files without a cluster. Exit code 0: valid, 1: mistakes found, 2: could not be checked",
    examples: [
      { command: "lattice validate -f examples/", effect: "all mistakes of all files in a folder" },
      { command: "lattice validate -f examples/shop/cart.yaml -o json", effect: "one file, for a script" },
    ],
  })
    .requiredOption(FILES_FLAG, FILES_TEXT)
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: { filename: string[]; output: string }) => done(await (await import("../validate.ts")).validate(io, flags)));
};
