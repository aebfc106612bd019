/**
 * The mover between two API servers: with a claim on the namespace, a move or the way back.
 *
 * A move that is refused before its commit is rolled back, whichever run has begun it: nothing stays paused because of it.
 */
import { ok } from "#base";
import { abortMove } from "./abort.ts";
import { openSide } from "./api-side.ts";
import { discoverFacts, planMove, type MovePlan } from "./begin.ts";
import { forgetClaim, withClaim, type ClaimOptions, type FencedClients } from "./claim.ts";
import type { MoveContext } from "./context.ts";
import type { Moved } from "./failure.ts";
import { readHead } from "./journal.ts";
import { runMove, type MoveReport } from "./move.ts";
import { rollBackRefused } from "./roll-back.ts";

export type MoveOptions = ClaimOptions & Pick<MoveContext, "waitMs" | "onlyCluster" | "supersedes" | "report" | "leftToTarget">;

export async function moveNamespace(options: MoveOptions): Moved<MoveReport> {
  const moved = await withClaim(options, async (clients) => {
    const context = contextOf(options, clients);
    const result = await runMove(context);
    return result.ok || result.error.kind !== "refused" ? result : rollBackRefused(context, result.error);
  });
  if (moved.ok) await forgetClaim(options);
  return moved;
}

/** False: there was no unfinished move. */
export async function abortNamespaceMove(options: MoveOptions): Moved<boolean> {
  const aborted = await withClaim(options, (clients) => abortMove(contextOf(options, clients)));
  if (aborted.ok) await forgetClaim(options);
  return aborted;
}

export type PlannedMove = MovePlan & { /** The phase of an unfinished move, which the next run continues. */ readonly unfinished?: string };

/** Reads only. */
export async function planNamespaceMove(options: MoveOptions): Moved<PlannedMove> {
  const context = contextOf(options, options);
  const head = await readHead(context);
  if (!head.ok) return head;
  const facts = await discoverFacts(context);
  if (!facts.ok) return facts;
  const plan = await planMove(context, facts.value);
  if (!plan.ok) return plan;
  return ok({ ...plan.value, ...(head.value === undefined ? {} : { unfinished: head.value.phase }) });
}

function contextOf(options: MoveOptions, { source, target, signal }: FencedClients): MoveContext {
  const { namespace, clock, random, waitMs, onlyCluster, supersedes, report, leftToTarget } = options;
  const shared = { clock, random, signal };
  return {
    ...shared,
    namespace,
    waitMs,
    onlyCluster,
    supersedes,
    report,
    leftToTarget,
    source: openSide({ ...shared, client: source, side: "source" }),
    target: openSide({ ...shared, client: target, side: "target" }),
  };
}
