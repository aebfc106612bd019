/** The file of `lattice install`: checked as `lattice validate` checks it, then for what a management cluster needs. */
import { compileAll } from "#compile";
import { checkManagementCluster, type ManagementFile } from "#install";
import type { KubeObject } from "#kube";
import { allProblems, printProblems } from "../compile.ts";
import { reportError, reportFailure, type CliIo, type ExitCode } from "../io.ts";
import { readWorld } from "../world-files.ts";

/** A number is the exit code; the errors were printed on stderr. */
export async function readInstallFile(io: CliIo, paths: readonly string[], bootstrap: string): Promise<ManagementFile | ExitCode> {
  const loaded = await readWorld(io, paths, { placeholderSecrets: true });
  if (!loaded.ok) return reportFailure(io, loaded.error);
  const problems = allProblems(loaded.value, compileAll(loaded.value.world));
  if (problems.length > 0) {
    printProblems(io, problems);
    return loaded.value.unreadable ? 2 : reportError(io, "nothing was installed, since the file has errors");
  }
  const checked = checkManagementCluster(asWritten(loaded.value), { bootstrap });
  return checked.ok ? checked.value : reportError(io, checked.error);
}

type Loaded = Parameters<typeof allProblems>[0];

/** Without the defaults of the schemas, which the API server adds. */
function asWritten({ documents, resources, leftOut }: Loaded): readonly KubeObject[] {
  const own = [...documents.values()].flatMap(({ object }) => object ?? []);
  const secrets = resources.filter(({ apiVersion }) => apiVersion === "v1");
  const others = leftOut.map(({ object }) => object).filter((object) => !secrets.includes(object));
  return [...own, ...secrets, ...others];
}
