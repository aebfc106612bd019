/** `lattice version`. */
import { Option } from "commander";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerVersion: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "version", {
    group: "other",
    summary: "print the version",
    examples: [{ command: "lattice version", effect: "the version, and the version of Node that it runs on" }],
  })
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async ({ output }: { output: "text" | "json" }) => done((await import("../version.ts")).printVersion(io, output)));
};
