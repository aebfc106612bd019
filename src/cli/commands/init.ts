/** Flags of `lattice init`. */
import type { InitFlags } from "../init.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerInit: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "init", {
    group: "services",
    summary: "write first services, or convert Compose and Score files",
    description:
      "write a first LatticeService, or convert a Docker Compose or Score file. What cannot be converted is listed with its line",
    examples: [
      { command: "lattice init api", effect: "a first service with comments" },
      {
        command: "lattice init --from docs/guides/from-compose/compose.yaml --out services",
        effect: "one file for each service of a Compose file",
      },
      { command: "lattice init --from docs/guides/services/web.score.yaml", effect: "a Score file as a LatticeService" },
    ],
  })
    .argument("[name]", "of the first service (default: hello)")
    .option("--from <file>", "a Docker Compose file or a Score file; - reads standard input")
    .option("--out <folder>", "write a file for each service there; without it, everything is printed")
    .option("--force", "overwrite existing files")
    .action(async (name: string | undefined, flags: InitFlags) => done(await (await import("../init.ts")).init(io, name, flags)));
};
