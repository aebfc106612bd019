/**
 * `lattice status`: services, external services and environments of a cluster, with one sentence each.
 *
 * Exit code 0: all are Ready, 1: some are not, 2: the state could not be read.
 */
import { err, ok, type Result } from "#base";
import { namespaceOfEnvironment } from "#compile";
import { didYouMean } from "#crds";
import { fieldAt, formatYaml, type KubeObject } from "#kube";
import type { ClusterFlags } from "./cluster.ts";
import { reportFailure, untilStopped, type CommandIo, type ExitCode } from "./io.ts";
import { listNamespaced, withCluster } from "./live-world.ts";
import { nothingIn, scopeOf, type NamespaceFlags } from "./namespace-scope.ts";
import { STATE_KINDS, stateOf, type ResourceState, type StateKind } from "./resource-state.ts";
import { stateJson, stateTable } from "./status/view.ts";

export type StatusFlags = ClusterFlags & NamespaceFlags & { readonly output: "text" | "wide" | "json" | "yaml"; readonly watch?: boolean };

export async function printStatus(io: CommandIo, names: readonly string[], flags: StatusFlags): Promise<ExitCode> {
  if (flags.watch === true && (flags.output === "json" || flags.output === "yaml"))
    return reportFailure(io, "--watch prints lines as they happen, and has no -o json or -o yaml; leave one of the two out");
  const code = await withCluster(io, flags, async (client, config) => {
    const scope = scopeOf(flags, config);
    if (!scope.ok) return scope;
    if (flags.watch === true) return watchStates(io, client, { names, scope: scope.value });
    const found = await readStates(client, io.signal, scope.value);
    if (!found.ok) return found;
    const chosen = choose(found.value, names, scope.value);
    return chosen.ok ? ok(show(io, chosen.value, { flags, scope: scope.value })) : chosen;
  });
  return code.ok ? code.value : reportFailure(io, code.error);
}

type Client = Parameters<Parameters<typeof withCluster>[2]>[0];

/** In display order. */
const ORDER: readonly StateKind[] = ["service", "external", "environment"];

async function readStates(
  client: Client,
  signal: AbortSignal,
  scope: string | undefined,
): Promise<Result<readonly ResourceState[], string>> {
  const objects = new Map<StateKind, readonly KubeObject[]>();
  for (const { resource, kind } of STATE_KINDS) {
    const listed = await listNamespaced(client, resource, { signal, namespace: scope });
    if (!listed.ok) return listed;
    objects.set(kind, listed.value);
  }
  const inScope = scopeFilter(scope, objects);
  return ok(
    ORDER.flatMap((kind) =>
      (objects.get(kind) ?? [])
        .filter((object) => inScope(kind, object))
        .map((object) => stateOf(kind, object))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ),
  );
}

/** A resource is in the namespace where it is declared and in the one where its environment runs it. */
function scopeFilter(
  scope: string | undefined,
  objects: ReadonlyMap<StateKind, readonly KubeObject[]>,
): (kind: StateKind, object: KubeObject) => boolean {
  if (scope === undefined) return () => true;
  const environments = new Map((objects.get("environment") ?? []).map((object) => [object.metadata.name, runsIn(object)]));
  const declared = (object: KubeObject) => object.metadata.namespace === scope;
  const used = new Set(
    [...(objects.get("service") ?? []), ...(objects.get("external") ?? [])]
      .filter(declared)
      .map((object) => fieldAt(object, "spec", "environment")),
  );
  return (kind, object) => {
    if (kind === "environment") return environments.get(object.metadata.name) === scope || used.has(object.metadata.name);
    const environment = fieldAt(object, "spec", "environment");
    return declared(object) || (typeof environment === "string" && (environments.get(environment) ?? environment) === scope);
  };
}

function runsIn(environment: KubeObject): string {
  const namespace = fieldAt(environment, "spec", "namespace");
  return typeof namespace === "string" ? namespace : namespaceOfEnvironment(environment.metadata.name, undefined);
}

function choose(
  states: readonly ResourceState[],
  names: readonly string[],
  scope: string | undefined,
): Result<readonly ResourceState[], string> {
  if (names.length === 0) return ok(states);
  for (const name of names)
    if (!states.some((state) => isCalled(state, name))) {
      const known = states.map((state) => (name.includes("/") ? state.name : nameOf(state)));
      return err(`there is no ${name}${scope === undefined ? "" : ` in namespace ${scope}`}${didYouMean(name, known)}`);
    }
  return ok(states.filter((state) => names.some((name) => isCalled(state, name))));
}

function isCalled(state: ResourceState, name: string): boolean {
  return name.includes("/") ? state.name === name : nameOf(state) === name;
}

function nameOf({ name }: ResourceState): string {
  return name.slice(name.indexOf("/") + 1);
}

type Shown = { readonly flags: StatusFlags; readonly scope: string | undefined };

function show(io: CommandIo, states: readonly ResourceState[], { flags, scope }: Shown): ExitCode {
  const ready = states.filter((state) => state.ready).length;
  if (flags.output === "json") io.stdout(`${JSON.stringify(stateJson(states), null, 2)}\n`);
  else if (flags.output === "yaml") io.stdout(formatYaml(stateJson(states)));
  else if (states.length === 0) io.stderr(`${nothingIn("services", scope)}\n`);
  else {
    io.print(stateTable(states, { wide: flags.output === "wide", columns: flags.output === "wide" ? undefined : io.terminal?.columns() }));
    io.stdout(`${summary(states, ready)}\n`);
  }
  return ready === states.length ? 0 : 1;
}

function summary(states: readonly ResourceState[], ready: number): string {
  const failed = states.find(({ stuck }) => stuck) ?? states.find((state) => !state.ready);
  const hint = failed === undefined ? "" : `; all conditions: ${describeCommand(failed)}`;
  return `${ready} of ${states.length} Ready${hint}`;
}

function describeCommand(state: ResourceState): string {
  const [namespace, name] = state.name.includes("/") ? state.name.split("/", 2) : [undefined, state.name];
  const short = { service: "ls", external: "les", environment: "lenv" }[state.kind];
  return `kubectl describe ${short} ${name ?? ""}${namespace === undefined ? "" : ` -n ${namespace}`}`;
}

type Watched = { readonly names: readonly string[]; readonly scope: string | undefined };

/** Prints a line for each change, until Ctrl-C. */
async function watchStates(io: CommandIo, client: Client, { names, scope }: Watched): Promise<Result<ExitCode, string>> {
  // a list first, to report a missing permission: a watch retries for ever
  const found = await readStates(client, io.signal, scope);
  if (!found.ok) return found;
  const chosen = choose(found.value, names, scope);
  if (!chosen.ok) return chosen;
  const known = new Set(found.value.map(({ kind, name }) => `${kind} ${name}`));
  const { WatchBoard } = await import("./up/watch-board.ts");
  const shows = (kind: StateKind, object: KubeObject) => {
    const state = stateOf(kind, object);
    const inScope = scope === undefined || object.metadata.namespace === scope || known.has(`${kind} ${state.name}`);
    return inScope && (names.length === 0 || names.some((name) => isCalled(state, name)));
  };
  const board = new WatchBoard({ ...io, client, shows, columns: () => io.terminal?.columns() });
  board.start();
  await untilStopped(io.signal);
  await board.ended();
  return ok(0);
}
