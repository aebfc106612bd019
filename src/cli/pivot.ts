/**
 * `lattice pivot`: the pivot of a child, shown and steered on its parent, and moves through a directory.
 *
 * Exit code 0: done, 1: refused, with the reasons, 2: not finished, or the command could not run.
 */
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { withCluster } from "./live-world.ts";
import { checkPivotFlags, type PivotFlags, type PivotRequestLine } from "./pivot/actions.ts";

export async function pivot(io: CommandIo, line: PivotRequestLine, flags: PivotFlags): Promise<ExitCode> {
  const checked = checkPivotFlags(line, flags);
  if (!checked.ok) return reportFailure(io, checked.error);
  const done = await withCluster(io, flags, async (client, config) => {
    const { name = "" } = line;
    switch (line.action) {
      case "plan":
        return (await import("./pivot/plan.ts")).printPivotPlan(io, { client, name, output: flags.output });
      case "status":
        return (await import("./pivot/status.ts")).printPivotStatus(io, { client, name, output: flags.output });
      case "resume":
      case "abort":
        return (await import("./pivot/request.ts")).requestPivot(io, { client, name, request: line.action, flags });
      case "export":
        return (await import("./pivot/export.ts")).exportToDirectory(io, { client, config, flags });
      case "import":
        return (await import("./pivot/import.ts")).importFromDirectory(io, { client, flags });
    }
  });
  return done.ok ? done.value : reportFailure(io, done.error);
}
