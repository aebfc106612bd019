/** Compiles the spec of one service to its objects. Pure: the same input gives the same bytes. */
import { err, ok, type Result } from "#base";
import { boundErrors, boundWarnings, type CompileError, type Warning } from "./errors.ts";
import type { ServiceInput } from "./input.ts";
import type { PeerAddress, RouteTarget } from "./provisioners/index.ts";
import { renderService, type RenderedService } from "./rendering/render-service.ts";
import { compilePatch, type DeploymentPatch } from "./compile-patch.ts";
import { compileWorkload, type CompiledWorkload } from "./compile-workload.ts";
import type { CompiledObject } from "./workload/once.ts";

export type CompiledService = {
  /** In apply order. */
  readonly objects: readonly CompiledObject[];
  /** URL of each dependency, except sensitive ones. */
  readonly resolvedDependencies: ReadonlyMap<string, string>;
  /** The called service of each resource, by resource name: `main-db-postgres` and its port. */
  readonly peers: ReadonlyMap<string, PeerAddress>;
  readonly routes: ReadonlyMap<string, RouteTarget>;
  /** Number of expanded placeholders. */
  readonly resolved: number;
  readonly warnings: readonly Warning[];
  /** In patch mode: the changes of the Deployment. */
  readonly patch?: DeploymentPatch | undefined;
};

export function compileService(input: ServiceInput): Result<CompiledService, readonly CompileError[]> {
  const { rendered, errors } = renderService(input);
  const workload: Result<CompiledWorkload & { readonly patch?: DeploymentPatch }, readonly CompileError[]> =
    input.service.spec.workloadRef === undefined ? compileWorkload(input, rendered) : compilePatch(input, rendered);
  // report all mistakes at once: parts that could not be rendered are omitted from the workload, and the rest is checked
  if (!workload.ok || errors.length > 0) return err(boundErrors(workload.ok ? errors : [...errors, ...workload.error]));
  const { provisioned, resolved, warnings } = rendered;
  return ok({
    objects: workload.value.objects,
    resolvedDependencies: urlsOf(rendered),
    peers: new Map([...provisioned].flatMap(([name, { peer }]) => (peer === undefined ? [] : [[name, peer] as const]))),
    routes: new Map([...provisioned].flatMap(([name, { route }]) => (route === undefined ? [] : [[name, route] as const]))),
    resolved,
    warnings: boundWarnings([...warnings, ...workload.value.warnings]),
    patch: workload.value.patch,
  });
}

/** Longest URL that the schema of the status allows. */
const LONGEST_URL = 4_096;
/** Total size of all URLs: status and spec share the size limit of one object. */
const MOST_URL_CHARACTERS = 65_536;

/** Omits URLs that have errors, are sensitive or are too long for the status. */
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
