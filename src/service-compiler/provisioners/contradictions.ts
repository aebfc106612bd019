/**
 * Inbound declarations for one peer that allow different requests. Combined they would allow the methods of one on the paths and ports of the
 * other, which neither of them declares.
 */
import { sameRequests, type AgreementParams } from "./agreement.ts";
import type { Provisioned } from "./provisioner.ts";
import type { ResourceEntry } from "./resolve.ts";

export type Contradiction = { readonly name: string; readonly message: string };

export function contradictions(
  entries: readonly ResourceEntry[],
  provisioned: ReadonlyMap<string, Provisioned>,
  agreements: ReadonlyMap<string, AgreementParams>,
): readonly Contradiction[] {
  const inbound = entries.filter(({ name, direction }) => direction !== "outbound" && agreements.has(name));
  const byPeer = Map.groupBy(inbound, ({ name, address }) => {
    const peer = provisioned.get(name)?.peer?.address ?? address;
    return `${peer.namespace}/${peer.name}`;
  });
  return [...byPeer].flatMap(([peer, about]) => {
    const [first, ...others] = about;
    const taken = first === undefined ? undefined : agreements.get(first.name);
    const differing = others.find(({ name }) => {
      const own = agreements.get(name);
      return taken !== undefined && own !== undefined && !sameRequests(taken, own);
    });
    if (first === undefined || differing === undefined) return [];
    return about.map(({ name }) => ({
      name,
      message: `resources '${first.name}' and '${differing.name}' are both about ${peer} with different params.methods or params.paths; use one resource for it`,
    }));
  });
}
