/** `lattice version`. */
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerVersion: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "version", {
    group: "other",
    summary: "print the version",
    examples: [{ command: "lattice version", effect: "the version, and the version of Node that it runs on" }],
  }).action(async () => done((await import("../version.ts")).printVersion(io)));
};
