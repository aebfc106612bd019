/**
 * Why one service reaches another, or does not. The policies are evaluated as the data plane does; the declarations only show which one is
 * missing and what to add.
 */
import { err, ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import {
  agreement,
  calls,
  isCalled,
  outgoing,
  splitId,
  type DataPlane,
  type ExternalNode,
  type ServiceId,
  type ServiceNode,
  type EnforcementStep,
} from "#mesh-compiler";
import { findNode, type NameScope } from "./find-service.ts";
import { missingBetween, missingToOutside, type Missing } from "./missing.ts";
import { planeOf } from "./plane.ts";
import { trustNotes } from "./trust-note.ts";
import type { World } from "./world.ts";

/** Whether one port is reachable, the enforcement points on the path, and what would open it. */
export type WhyAnswer = {
  readonly from: ServiceId;
  /** For an external service with its host: `shop/stripe (api.stripe.com)`. */
  readonly to: string;
  readonly port: number | undefined;
  readonly open: boolean;
  /** The enforcement points on the path, in order. */
  readonly steps: readonly EnforcementStep[];
  /** The missing declarations; empty when it is open. */
  readonly missing: readonly Missing[];
  /** Other reasons, one sentence each. */
  readonly notes: readonly string[];
};

/** Caller and callee: a name if it is unique, else `namespace/name`. */
export type WhyQuestion = {
  readonly from: string;
  readonly to: string;
  /** By number or name; absent: all ports of the callee. */
  readonly port?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** The namespace of names without one. */
  readonly scope?: NameScope | undefined;
};

/**
 * Evaluates the policies of a world; one answer per port. `objects` are those of a cluster; absent: the compiled objects of the world.
 *
 * @example
 * const answers = why(world, { from: "frontend", to: "shop/api", port: "8080" });
 * if (answers.ok) for (const answer of answers.value) console.log(formatAnswer(answer));
 */
export function why(world: World, question: WhyQuestion, objects?: readonly KubeObject[]): Result<readonly WhyAnswer[], string> {
  const from = findNode(world, question.from, question.scope);
  if (!from.ok) return from;
  const caller = world.mesh.graph.service(from.value);
  if (caller === undefined) return err(`${from.value} is an external service, and makes no calls`);
  const managed = whyManaged(world, caller, question.to);
  if (managed !== undefined) return ok([managed]);
  const to = findNode(world, question.to, question.scope);
  if (!to.ok) return to;
  const callee = world.mesh.graph.get(to.value);
  const plane = planeOf(world, objects);
  if (callee?.kind === "external") return whyOutside(plane, { world, caller, callee }, question.port);
  return callee === undefined ? err(`there is no ${to.value}`) : whyInside(plane, { world, caller, callee }, question, objects);
}

type Pair<Callee> = { readonly world: World; readonly caller: ServiceNode; readonly callee: Callee };

/** A database that Lattice does not run: only the caller has a declaration. */
function whyManaged(world: World, { id, ...caller }: ServiceNode, to: string): WhyAnswer | undefined {
  const found = outgoing(world.mesh.graph, { id, ...caller }).managed.find(({ peer }) => peer === to || splitId(peer).name === to);
  if (found === undefined) return undefined;
  const note = `${found.peer} is not a Lattice service: egress from ${id} is allowed, and whether ${found.peer} accepts the connection is not known`;
  return { from: id, to: found.peer, port: found.port, open: true, steps: [], missing: [], notes: [note] };
}

function whyInside(
  plane: DataPlane,
  pair: Pair<ServiceNode>,
  { port: wanted, method, path }: WhyQuestion,
  objects: readonly KubeObject[] | undefined,
): Result<readonly WhyAnswer[], string> {
  const { world, caller, callee } = pair;
  const ports = callee.ports.filter(({ name, port }) => wanted === undefined || wanted === name || wanted === String(port));
  if (ports.length === 0 && wanted !== undefined && callee.ports.length > 0) return err(noSuchPort(callee.id, wanted, callee.ports));
  const closedBy = patchNotes(pair);
  const missing = closedBy.length > 0 ? [] : missingBetween(world, caller, callee);
  const trustDomain = world.trustDomainOf(splitId(caller.id).namespace);
  if (ports.length === 0) {
    const note = `${callee.id} offers no port; add one in its spec.service.ports`;
    return ok([{ from: caller.id, to: callee.id, port: undefined, open: false, steps: [], missing, notes: [note] }]);
  }
  return ok(
    ports.map(({ port }) => {
      const verdict = plane.ask({
        from: caller.id,
        to: callee.id,
        port,
        ...(method === undefined ? {} : { method }),
        ...(path === undefined ? {} : { path }),
      });
      const open = verdict?.open === true;
      const closed = open ? [] : [...closedBy, ...narrowing(pair, port), ...trustNotes(objects ?? [], caller, trustDomain)];
      const absent = closedBy.length > 0 ? closedBy : [notThere(objects !== undefined)];
      const notes = verdict === undefined ? absent : [...closed, ...requestNotes(pair)];
      return { from: caller.id, to: callee.id, port, open, steps: verdict?.steps ?? [], missing: open ? [] : missing, notes };
    }),
  );
}

/** Services in patch mode without an identity. */
function patchNotes({ world, caller, callee }: Pair<ServiceNode>): readonly string[] {
  return [...new Set([caller.id, callee.id])].flatMap((id) => {
    const problem = world.patchProblem(id);
    return problem === undefined ? [] : [`nothing is open for ${id}: ${problem}`];
  });
}

function notThere(live: boolean): string {
  return live
    ? "one of the two does not run in the cluster: kubectl get latticeservices -A says more"
    : "one of the two has an error and is not compiled; run lattice compile to see the error";
}

type Named = { readonly name: string; readonly port: number };

function noSuchPort(id: string, wanted: string, ports: readonly Named[]): string {
  return `${id} has no port ${wanted}; it has ${ports.map(({ name, port }) => `${name} (${port})`).join(", ")}`;
}

/** Both sides declare the call, but not this port. */
function narrowing({ caller, callee }: Pair<ServiceNode>, port: number): readonly string[] {
  const name = callee.ports.find((one) => one.port === port)?.name ?? "";
  const leavesOut = (node: ServiceNode, peer: ServiceId, direction: typeof calls) => {
    const about = (node.declarations.get(peer) ?? []).filter(direction);
    return about.length > 0 && about.every(({ ports }) => ports !== undefined && !ports.some((one) => one === name || one === port));
  };
  const sentence = (at: ServiceId, about: ServiceId) =>
    `${at} lists ports for ${about} in params.ports, and ${name} (${port}) is not among them`;
  return [
    ...(leavesOut(callee, caller.id, isCalled) ? [sentence(callee.id, caller.id)] : []),
    ...(leavesOut(caller, callee.id, calls) ? [sentence(caller.id, callee.id)] : []),
  ];
}

/** The requests that the callee allows, if it limits them. */
function requestNotes({ caller, callee }: Pair<ServiceNode>): readonly string[] {
  const { methods = [], paths = [] } = agreement(caller, callee)?.requests ?? {};
  if (methods.length === 0 && paths.length === 0) return [];
  const what = [methods.length === 0 ? "any method" : methods.join(", "), ...(paths.length === 0 ? [] : [`on ${paths.join(", ")}`])];
  return [`${callee.id} accepts from ${caller.id} only ${what.join(" ")}`];
}

function whyOutside(
  plane: DataPlane,
  { world, caller, callee }: Pair<ExternalNode>,
  wanted: string | undefined,
): Result<readonly WhyAnswer[], string> {
  const endpoints = callee.endpoints.filter(({ name, port }) => wanted === undefined || wanted === name || wanted === String(port));
  if (endpoints.length === 0) return err(noSuchPort(callee.id, wanted ?? "", callee.endpoints));
  const missing = missingToOutside(world, caller, callee);
  return ok(
    endpoints.map(({ host, port }) => {
      const address = callee.resolution === "static" ? host.replace(/^\[|\]$/g, "") : undefined;
      const verdict = plane.askOutside(caller.id, { kind: "outside", host, address }, port);
      const open = verdict?.open === true;
      const notes = verdict === undefined ? [`${caller.id} has an error and is not compiled; run lattice compile to see the error`] : [];
      return {
        from: caller.id,
        to: `${callee.id} (${host})`,
        port,
        open,
        steps: verdict?.steps ?? [],
        missing: open ? [] : missing,
        notes,
      };
    }),
  );
}
