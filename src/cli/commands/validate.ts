/** Flags of `lattice validate`. */
import { Option } from "commander";
import { addCommand, type RegisterCommand } from "./command.ts";
import type { ValidateFlags } from "../validate.ts";
import { FILES_FLAG, FILES_TEXT, withDomains, withFileNamespace, withShareable } from "./shared-flags.ts";

export const registerValidate: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "validate", {
    group: "services",
    summary: "check files, without a cluster",
    description:
      "report every error of lattice compile, with file, line and column, and warn of likely mistakes. Values of secrets are not needed. Exit code 0: valid, 1: mistakes found, 2: could not be checked",
    examples: [
      { command: "lattice validate -f examples/", effect: "all mistakes of all files in a folder" },
      { command: "lattice validate -f examples/shop -o json", effect: "the shop, for a script" },
    ],
  });
  withShareable(withDomains(withFileNamespace(command)))
    .requiredOption(FILES_FLAG, FILES_TEXT)
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: ValidateFlags) => done(await (await import("../validate.ts")).validate(io, flags)));
};
