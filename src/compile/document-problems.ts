/** Errors and warnings of documents, and of the services that were read from them, each with the field of its document. */
import type { Warning } from "#service-compiler";
import type { CompiledWorld } from "./compile-all.ts";
import type { DocumentProblem, LoadedWorld } from "./documents.ts";
import { describeServiceError, fieldOfError, placeOfError, type ServiceError } from "./errors.ts";
import { scorePlace } from "./score/place.ts";

type Loaded = Pick<LoadedWorld, "problems" | "places" | "scores" | "incomplete">;

/**
 * All errors of documents, parse errors first. Empty: everything was compiled.
 *
 * @example
 * const loaded = loadWorld(documents);
 * for (const { from, path, message } of problemsOf(loaded, compileAll(loaded.world))) console.error(`${from}: ${path}: ${message}`);
 */
export function problemsOf(loaded: Loaded, { errors }: Pick<CompiledWorld, "errors">): readonly DocumentProblem[] {
  const own = [...errors].flatMap(([key, all]) => {
    const from = loaded.places.get(key) ?? key;
    const written = loaded.scores.has(from) ? scorePlace : (path: string) => path;
    return all.map((error): DocumentProblem => {
      const [path, field] = [written(placeOfError(error)), written(fieldOfError(error))];
      return { from, path, message: `${describeServiceError(error)}${elsewhere(error)}`, ...(field === path ? {} : { field }) };
    });
  });
  return [...loaded.problems, ...own];
}

/** The documents may be only a part of the resources of a cluster. */
function elsewhere({ kind }: ServiceError): string {
  if (kind === "resource-not-found") return "; if another file has it, give that file too";
  return kind === "unsupported-resource-type" ? "; if a ConfigMap in another file declares it, give that file too" : "";
}

/**
 * Warnings about single services. A service whose document has errors is omitted: a part of it was not read.
 *
 * @example for (const { from, path, message } of documentWarnings(loaded, compiled)) console.warn(`${from}: ${path}: ${message}`);
 */
export function documentWarnings(loaded: Loaded, { serviceWarnings }: Pick<CompiledWorld, "serviceWarnings">): readonly DocumentProblem[] {
  return [...serviceWarnings].flatMap(([key, warnings]) => {
    const from = loaded.places.get(key) ?? key;
    if (loaded.incomplete.has(from)) return [];
    const written = loaded.scores.has(from) ? scorePlace : (path: string) => path;
    return warnings.map(({ place, message }: Warning): DocumentProblem => ({ from, path: written(place), message }));
  });
}
