/** `lattice completion`, and the hidden command that its scripts call. */
import { Argument } from "commander";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerCompletion: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "completion", {
    group: "other",
    summary: "print a completion script for bash, zsh or fish",
    examples: [
      { command: "lattice completion bash > ~/.local/share/bash-completion/completions/lattice", effect: "for every new bash" },
      { command: "lattice completion zsh > ~/.zfunc/_lattice", effect: "for zsh, with ~/.zfunc in fpath" },
      { command: "lattice completion fish > ~/.config/fish/completions/lattice.fish", effect: "for every new fish" },
    ],
  })
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .action(async (shell: "bash" | "zsh" | "fish") => done((await import("../completion.ts")).printCompletion(io, shell)));
  program
    .command("__complete", { hidden: true })
    .description("print the candidates, one per line: for completion scripts")
    .argument("[argument...]", "the arguments after lattice, the last one being completed")
    .helpOption(false)
    .action(async (args: string[]) => done(await (await import("../completion/candidates.ts")).complete(io, program, args)));
};
