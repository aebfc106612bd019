/** `lattice kubeadm`, `lattice kubectl` and `lattice curl`: the tools of local machines. Exit codes are those of the real programs. */
import { curl, kubeadm, kubectl } from "#fleet";
import type { CliIo, CommandExitCode } from "./io.ts";

export type MachineTool = "kubeadm" | "kubectl" | "curl";

export async function runMachineTool(io: CliIo, tool: MachineTool, args: readonly string[]): Promise<CommandExitCode> {
  if (tool === "curl") {
    const { exitCode, message } = await curl(io, args);
    if (message !== undefined) io.stderr(`curl: (${exitCode}) ${message}\n`);
    return exitCode;
  }
  const done = await (tool === "kubeadm" ? kubeadm(io, args) : kubectl(io, args));
  if (!done.ok) io.stderr(`${tool}: ${done.error}\n`);
  return done.ok ? 0 : 1;
}
