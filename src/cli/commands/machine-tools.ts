/**
 * The hidden commands `kubeadm`, `kubectl` and `curl`: the programs of these names on the PATH of a local machine. They read their arguments
 * themselves, as those programs do.
 */
import type { RegisterCommand } from "./command.ts";

const TOOLS = ["kubeadm", "kubectl", "curl"] as const;

export const registerMachineTools: RegisterCommand = (program, { io, done }) => {
  for (const tool of TOOLS)
    program
      .command(tool, { hidden: true })
      .description(`${tool} of a local machine of lattice up`)
      .helpOption(false)
      .allowUnknownOption()
      .argument("[args...]", `as those of ${tool}`)
      .action(async (args: readonly string[]) => done(await (await import("../machine-tools.ts")).runMachineTool(io, tool, args)));
};
