/**
 * Which clusters need a pass because of their agents: those whose visible state changed, and those whose last heartbeat is due to be written.
 * A cell with 5,000 agents gets 170 heartbeats a second, and nearly all of them change nothing that a user sees.
 */
import { HEARTBEAT_WRITTEN_EVERY_MS, visibleAgent } from "./agent-status.ts";
import type { CellSlot, ChildLink, RunningCell } from "./ports.ts";

type Seen = { readonly text: string; readonly heartbeat: number };

/** Calls back for the agents of the running cell, also after another cell was started. The returned function ends it. */
export function followAgents(cell: CellSlot, changed: (cluster: string) => void): () => void {
  return followCell(cell, ({ link }) => followLink(link, changed));
}

/** Likewise for its moves. */
export function followPivots(cell: CellSlot, changed: (cluster: string) => void): () => void {
  return followCell(cell, ({ pivots }) => pivots.subscribe(changed));
}

function followCell(cell: CellSlot, follow: (running: RunningCell) => () => void): () => void {
  let detach = () => {};
  const attach = () => {
    detach();
    detach = cell.running === undefined ? () => {} : follow(cell.running);
  };
  attach();
  const unsubscribe = cell.subscribe(attach);
  return () => {
    unsubscribe();
    detach();
  };
}

function followLink(link: ChildLink, changed: (cluster: string) => void): () => void {
  const seen = new Map<string, Seen>();
  const check = (cluster: string) => {
    const agent = link.agents().get(cluster);
    if (agent === undefined) return void (seen.delete(cluster) && changed(cluster));
    const before = seen.get(cluster);
    const next = { text: visibleAgent(agent), heartbeat: agent.lastHeartbeat ?? 0 };
    if (before?.text === next.text && next.heartbeat - before.heartbeat < HEARTBEAT_WRITTEN_EVERY_MS) return;
    seen.set(cluster, next);
    changed(cluster);
  };
  const unsubscribe = link.subscribe(check);
  for (const cluster of link.agents().keys()) check(cluster);
  return unsubscribe;
}
