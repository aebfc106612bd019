/** Flags of `lattice certs`. */
import { Option } from "commander";
import type { CertsFlags } from "../certs.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster } from "./shared-flags.ts";

export const registerCerts: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "certs", {
    group: "operator",
    summary: "show the certificates of a cell and of its children",
    description:
      "show the authorities of a cell and the certificate of every child's agent, with expiry dates. Exit code 0: all are valid, 1: one has expired or was revoked, 2: could not be read",
    examples: [
      { command: "lattice certs", effect: "authorities first, then one line per child" },
      { command: "lattice certs -o json", effect: "the same for a script" },
    ],
  });
  withCluster(command)
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: CertsFlags) => done(await (await import("../certs.ts")).printCerts(io, flags)));
};
