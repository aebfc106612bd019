/** One service from its spec to the objects that it needs. Pure: the same input gives the same bytes. */
import { err, ok, type Result } from "#base";
import { boundErrors, boundWarnings, type CompileError, type Warning } from "./errors.ts";
import type { ServiceInput } from "./input.ts";
import type { PeerAddress, RouteTarget } from "./provisioners/index.ts";
import { renderService, type RenderedService } from "./rendering/render-service.ts";
import { compileWorkload } from "./compile-workload.ts";
import type { CompiledObject } from "./workload/once.ts";

export type CompiledService = {
  /** In the order in which they are applied. */
  readonly objects: readonly CompiledObject[];
  /** URL of each dependency that has one which everybody may read. */
  readonly resolvedDependencies: ReadonlyMap<string, string>;
  /** What is really called behind a resource, by its name: `main-db-postgres` and its port. */
  readonly peers: ReadonlyMap<string, PeerAddress>;
  readonly routes: ReadonlyMap<string, RouteTarget>;
  /** Placeholders that were filled in. */
  readonly resolved: number;
  readonly warnings: readonly Warning[];
};

export function compileService(input: ServiceInput): Result<CompiledService, readonly CompileError[]> {
  const { rendered, errors } = renderService(input);
  const workload = compileWorkload(input, rendered);
  // all mistakes at once: what could not be rendered is left out of the workload, and the rest of it is checked
  if (!workload.ok || errors.length > 0) return err(boundErrors(workload.ok ? errors : [...errors, ...workload.error]));
  const { provisioned, resolved, warnings } = rendered;
  return ok({
    objects: workload.value.objects,
    resolvedDependencies: urlsOf(rendered),
    peers: new Map([...provisioned].flatMap(([name, { peer }]) => (peer === undefined ? [] : [[name, peer] as const]))),
    routes: new Map([...provisioned].flatMap(([name, { route }]) => (route === undefined ? [] : [[name, route] as const]))),
    resolved,
    warnings: boundWarnings([...warnings, ...workload.value.warnings]),
  });
}

/** What the schema of the status allows. */
const LONGEST_URL = 4_096;
/** Of all URLs together: the status is stored with the spec, and both share the size of one object. */
const MOST_URL_CHARACTERS = 65_536;

/** A URL that cannot be made out, that is sensitive or that the status cannot hold is left out. */
function urlsOf({ provisioned }: RenderedService): ReadonlyMap<string, string> {
  const urls = new Map<string, string>();
  let characters = 0;
  for (const [name, { outputs }] of provisioned) {
    const url = outputs.get("url")?.();
    if (url?.ok === true && url.value.kind === "plain" && url.value.text.length <= LONGEST_URL) {
      characters += url.value.text.length;
      if (characters <= MOST_URL_CHARACTERS) urls.set(name, url.value.text);
    }
  }
  return urls;
}
