/** Declared edges that stay closed, one sentence each. A warning, not an error: the other side may agree later. */
import { allEdges, type Edge } from "#mesh-compiler";
import type { World } from "./world.ts";

export function edgeWarnings(world: World): readonly string[] {
  return allEdges(world.mesh.graph).flatMap((edge) => {
    const text = warningFor(edge, world.patchProblem(edge.callee) ?? world.patchProblem(edge.caller));
    return text === undefined ? [] : [text];
  });
}

/** `problem`: why one of the two has no identity. */
function warningFor({ caller, callee, state }: Edge, problem: string | undefined): string | undefined {
  if (problem !== undefined) return `${caller} -> ${callee} is closed: ${problem}`;
  switch (state.kind) {
    case "caller-only":
      return `${caller} -> ${callee} is closed: ${callee} does not declare ${caller} as inbound`;
    case "callee-only":
      return `${caller} -> ${callee} is closed: ${caller} does not declare ${callee} as outbound`;
    case "no-port":
      return `${caller} -> ${callee} is closed: the caller and the callee have no port in common`;
    case "unknown-callee":
      return `${caller} -> ${callee} is closed: there is no ${callee}`;
    case "unknown-caller":
      return `${caller} -> ${callee} is closed: there is no ${caller}`;
    case "external-closed":
      return `${caller} -> ${callee} is closed: ${callee} does not name ${caller} in allowedRequesters`;
    case "managed":
      return `${caller} -> ${callee} is open on the side of ${caller} only: ${callee} is not a Lattice service, so Lattice cannot open its ingress`;
    case "agreed":
    case "external":
      return undefined;
  }
}
