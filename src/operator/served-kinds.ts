/**
 * Whether the cluster serves Lattice's kinds, before anything is started on it.
 *
 * An API server that restarts cannot be reached for a while. A process that ends each time would be started again later and later, so it waits.
 */
import { err, ok, sleep, type Clock, type Logger, type Result } from "#base";
import { LATTICE_API_VERSION, latticeKinds } from "#crds";
import { field, isJsonObject, parseJson } from "#kube";
import type { KubeClient, KubeErrorKind } from "#kube-client";

const RETRY_MS = 500;
/** Errors that pass without a change of the configuration. */
const TEMPORARY: ReadonlySet<KubeErrorKind> = new Set(["network", "timeout", "unavailable", "too-many-requests", "server-error"]);

type Server = { readonly client: KubeClient; readonly clock: Clock; readonly logger: Logger };
type Patience = { readonly withinMs: number; readonly signal: AbortSignal };

/** The error of missing kinds has the command that installs them. */
export async function untilServed({ client, clock, logger }: Server, { withinMs, signal }: Patience): Promise<Result<void, string>> {
  const started = clock.monotonic();
  for (let attempt = 1; ; attempt += 1) {
    const answer = await client.raw(`/apis/${LATTICE_API_VERSION}`, { signal });
    if (answer.ok || answer.error.kind === "not-found") return allServed(answer.ok ? servedKinds(answer.value) : new Set());
    const problem = `the API server cannot be asked: ${answer.error.message}`;
    const left = withinMs - (clock.monotonic() - started);
    if (left <= 0 || !TEMPORARY.has(answer.error.kind)) return err(problem);
    if (attempt === 1) logger.warn("the API server cannot be reached, and is tried again", { reason: answer.error.message });
    if (!(await sleep(clock, Math.min(RETRY_MS, left), signal))) return err(problem);
  }
}

function allServed(served: ReadonlySet<string>): Result<void, string> {
  const missing = latticeKinds.map(({ kind }) => kind).filter((kind) => !served.has(kind));
  if (missing.length === 0) return ok(undefined);
  return err(`the cluster does not serve ${missing.join(", ")}; install the kinds with: lattice crds | kubectl apply --server-side -f -`);
}

function servedKinds(text: string): ReadonlySet<string> {
  const parsed = parseJson(text);
  const resources = parsed.ok ? field(parsed.value, "resources") : undefined;
  const kinds = Array.isArray(resources) ? resources.map((resource) => (isJsonObject(resource) ? resource["kind"] : undefined)) : [];
  return new Set(kinds.filter((kind) => typeof kind === "string"));
}
