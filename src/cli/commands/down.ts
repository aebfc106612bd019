/** Flags of `lattice down`. */
import { Option } from "commander";
import type { DownFlags } from "../down.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerDown: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "down", {
    group: "local",
    summary: "stop a lattice up that runs on this machine",
    examples: [
      { command: "lattice down", effect: "stop it and keep its state" },
      { command: "lattice down --purge", effect: "stop it and delete its state" },
    ],
  })
    .option("--data-dir <folder>", "the folder it runs in", ".lattice")
    .option("--purge", "delete the folder too, if lattice up created it")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: DownFlags) => done(await (await import("../down.ts")).down(io, flags)));
};
