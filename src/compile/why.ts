/**
 * Why one service reaches another, or does not. The compiled policies are read as the data plane reads them; the declarations only tell whose
 * word is missing and what to add.
 */
import { err, ok, type Result } from "#base";
import { formatYaml } from "#kube";
import {
  admits,
  calls,
  DataPlane,
  isCalled,
  splitId,
  type Door,
  type ExternalNode,
  type ServiceId,
  type ServiceNode,
  type Step,
} from "#mesh-compiler";
import { compileAll } from "./compile-all.ts";
import { findNode } from "./find-service.ts";
import type { World } from "./world.ts";

export type Answer = {
  readonly from: ServiceId;
  readonly to: ServiceId;
  readonly port: number | undefined;
  readonly open: boolean;
  readonly steps: readonly Step[];
  /** What to add, and to which resource; empty when it is open. */
  readonly missing: readonly Missing[];
  /** Other reasons, in a sentence each. */
  readonly notes: readonly string[];
};

export type Missing = {
  /** `LatticeService shop/api`. */
  readonly where: string;
  readonly what: string;
  readonly yaml: string;
};

export type WhyQuestion = { readonly from: string; readonly to: string; readonly port?: string | undefined };

export function why(world: World, question: WhyQuestion): Result<readonly Answer[], string> {
  const from = findNode(world, question.from);
  const to = findNode(world, question.to);
  if (!from.ok) return from;
  if (!to.ok) return to;
  const caller = world.mesh.graph.service(from.value);
  const callee = world.mesh.graph.get(to.value);
  if (caller === undefined) return err(`${from.value} is an external service, and calls nobody here`);
  if (callee === undefined) return err(`there is no ${to.value}`);
  const { namespaces, objects } = compileAll(world);
  const plane = new DataPlane([...namespaces, ...objects], (namespace) => world.trustDomainOf(namespace));
  if (callee.kind === "external") return ok(whyOutside(plane, caller, callee));
  return whyInside(plane, { world, caller, callee }, question.port);
}

type Pair = { readonly world: World; readonly caller: ServiceNode; readonly callee: ServiceNode };

function whyInside(plane: DataPlane, pair: Pair, wanted: string | undefined): Result<readonly Answer[], string> {
  const { caller, callee } = pair;
  const ports = callee.ports.filter(({ name, port }) => wanted === undefined || wanted === name || wanted === String(port));
  if (ports.length === 0 && wanted !== undefined && callee.ports.length > 0)
    return err(`${callee.id} has no port ${wanted}; it has ${callee.ports.map(({ name, port }) => `${name} (${port})`).join(", ")}`);
  const missing = missingDeclarations(pair);
  if (ports.length === 0) {
    const note = `${callee.id} offers no port; add one in its spec.service.ports`;
    return ok([{ from: caller.id, to: callee.id, port: undefined, open: false, steps: [], missing, notes: [note] }]);
  }
  return ok(
    ports.map(({ port }) => {
      const verdict = plane.ask({ from: caller.id, to: callee.id, port });
      const open = verdict?.open === true;
      const notes =
        verdict === undefined
          ? [`one of the two has an error and is not compiled: lattice compile says which`]
          : open
            ? []
            : narrowing(pair, port);
      return { from: caller.id, to: callee.id, port, open, steps: verdict?.steps ?? [], missing: open ? [] : missing, notes };
    }),
  );
}

/** Both agree, but not on this port. */
function narrowing({ caller, callee }: Pair, port: number): readonly string[] {
  const name = callee.ports.find((one) => one.port === port)?.name ?? "";
  const leavesOut = (node: ServiceNode, peer: ServiceId, direction: typeof calls) => {
    const about = (node.declarations.get(peer) ?? []).filter(direction);
    return about.length > 0 && about.every(({ ports }) => ports !== undefined && !ports.some((one) => one === name || one === port));
  };
  return [
    ...(leavesOut(callee, caller.id, isCalled)
      ? [`${callee.id} lists ports for ${caller.id} in params.ports, and ${name} (${port}) is not among them`]
      : []),
    ...(leavesOut(caller, callee.id, calls)
      ? [`${caller.id} lists ports for ${callee.id} in params.ports, and ${name} (${port}) is not among them`]
      : []),
  ];
}

function missingDeclarations({ world, caller, callee }: Pair): readonly Missing[] {
  const declared = (node: ServiceNode, peer: ServiceId, direction: typeof calls) => (node.declarations.get(peer) ?? []).some(direction);
  return [
    ...(declared(caller, callee.id, calls) ? [] : [declarationFor(world, caller.id, callee.id, "outbound")]),
    ...(declared(callee, caller.id, isCalled) ? [] : [declarationFor(world, callee.id, caller.id, "inbound")]),
  ];
}

function declarationFor(world: World, at: ServiceId, peer: ServiceId, direction: "inbound" | "outbound"): Missing {
  const other = splitId(peer);
  const near = splitId(at).namespace === other.namespace;
  const entry = { type: "service", direction, ...(near ? {} : { id: peer }) };
  return {
    where: `LatticeService ${world.keyOf(at) ?? at}`,
    what: direction === "outbound" ? `${at} does not say that it calls ${peer}` : `${at} does not say that ${peer} may call it`,
    yaml: formatYaml({ spec: { resources: { [other.name]: entry } } }),
  };
}

function whyOutside(plane: DataPlane, caller: ServiceNode, callee: ExternalNode): readonly Answer[] {
  const declared = (caller.declarations.get(callee.id) ?? []).some(calls);
  const { namespace, name } = splitId(callee.id);
  const id = splitId(caller.id).namespace === namespace ? {} : { id: callee.id };
  const requester = splitId(caller.id).namespace === namespace ? splitId(caller.id).name : caller.id;
  const missing: readonly Missing[] = [
    ...(declared
      ? []
      : [
          {
            where: `LatticeService ${caller.id}`,
            what: `${caller.id} does not say that it calls ${callee.id}`,
            yaml: formatYaml({ spec: { resources: { [name]: { type: "external-service", direction: "outbound", ...id } } } }),
          },
        ]),
    ...(admits(callee, caller.id)
      ? []
      : [
          {
            where: `LatticeExternalService ${callee.id}`,
            what: `${callee.id} does not let ${caller.id} call it`,
            yaml: formatYaml({ spec: { allowedRequesters: [requester] } }),
          },
        ]),
  ];
  return callee.endpoints.map(({ host, port }) => {
    const address = callee.resolution === "static" ? host.replace(/^\[|\]$/g, "") : undefined;
    const verdict = plane.askOutside(caller.id, { kind: "outside", host, address }, port);
    const open = verdict?.open === true;
    return {
      from: caller.id,
      to: `${callee.id} (${host})`,
      port,
      open,
      steps: verdict?.steps ?? [],
      missing: open ? [] : missing,
      notes: [],
    };
  });
}

const DOORS: Readonly<Record<Door, string>> = {
  egress: "leaves (Cilium egress)",
  ingress: "enters (Cilium ingress)",
  waypoint: "passes the waypoint (Istio)",
  identity: "is let in by identity (Istio)",
};

/** For a terminal. */
export function formatAnswer({ from, to, port, open, steps, missing, notes }: Answer): string {
  const lines = [`${from} -> ${to}${port === undefined ? "" : `:${port}`}  ${open ? "open" : "closed"}`];
  for (const { door, at, allowed, by } of steps) {
    const who = by.length === 0 ? "no policy" : by.slice(0, 3).join(", ");
    lines.push(`  ${allowed ? "yes" : "NO "}  ${DOORS[door].padEnd(30)} ${at.padEnd(28)} ${who}`);
  }
  for (const note of notes) lines.push("", note);
  for (const { where, what, yaml } of missing) lines.push("", `${what}. Add to ${where}:`, "", yaml.replace(/^(?=.)/gm, "    ").trimEnd());
  return `${lines.join("\n")}\n`;
}
