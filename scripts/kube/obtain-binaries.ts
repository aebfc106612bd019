/** Obtains a folder with the binaries of Kubernetes, or the reason why there is none, in one line. */
import { buildBinaries } from "./build-binaries.ts";
import { binaryCache, findBinaries, missingBinaries, otherVersions } from "./find-binaries.ts";
import { findGo } from "./go.ts";
import type { Binary } from "./versions.ts";

export type Obtained =
  | { readonly kind: "binaries"; readonly folder: string }
  /** This machine cannot build them; the lane is skipped. */
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

export type ObtainOptions = {
  readonly named: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
};

export async function obtainBinaries({ named, environment, say }: ObtainOptions): Promise<Obtained> {
  const source = await findBinaries(named, environment);
  switch (source.kind) {
    case "incomplete":
      return { kind: "failed", why: `${source.by} (${source.folder}) lacks ${source.missing.join(", ")}` };
    case "given":
      for (const note of await otherVersions(source.folder)) say(note);
      say(`binaries from ${source.by}: ${source.folder}`);
      return { kind: "binaries", folder: source.folder };
    case "cache":
      if (source.note !== undefined) say(source.note);
      if (source.complete) return { kind: "binaries", folder: source.folder };
      return buildInto(source.folder, environment, say);
  }
}

async function buildInto(folder: string, environment: NodeJS.ProcessEnv, say: (line: string) => void): Promise<Obtained> {
  const go = await findGo(environment);
  if (!go.ok) return { kind: "skipped", why: `${go.error}, and no binaries are given (--bin DIR, LATTICE_KUBE_BIN or KUBEBUILDER_ASSETS)` };
  say(`no binaries given: building them with ${go.value}`);
  const built = await buildBinaries({ folder, environment, say });
  return built.ok ? { kind: "binaries", folder } : { kind: "failed", why: built.error };
}

export type ProgramOptions = {
  /** The folder of the other programs, which may have it too. */
  readonly beside: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
};

/** The folder of programs that only some stories need: that of the others, or the cache, where they are built if missing. */
export async function obtainPrograms(programs: readonly Binary[], { beside, environment, say }: ProgramOptions): Promise<Obtained> {
  const cache = binaryCache(environment);
  for (const folder of [beside, cache]) {
    if ((await missingBinaries(folder, programs)).length === 0) return { kind: "binaries", folder };
  }
  const go = await findGo(environment);
  const names = programs.map(({ name }) => name).join(", ");
  if (!go.ok) return { kind: "skipped", why: `${go.error}, and ${beside} has no ${names}` };
  const built = await buildBinaries({ folder: cache, environment, say, binaries: programs });
  return built.ok ? { kind: "binaries", folder: cache } : { kind: "failed", why: built.error };
}
