/**
 * `lattice pivot resume|abort NAME`: a request to the operator of the parent by annotations, and its answer in condition Pivoting. The request has an id,
 * which the status returns with the answer: a condition that an earlier request has left is no answer.
 *
 * The operator undoes the move, because only it holds the lease and knows what it is doing. An abort whose outcome is in doubt is refused.
 */
import { ok, sha256Hex, sleep, type Result } from "#base";
import { PIVOT_ANNOTATION, PIVOT_REQUEST_ANNOTATION } from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import { findCondition } from "#kube";
import type { KubeClient } from "#kube-client";
import { parseDurationFlag } from "../duration-flag.ts";
import { reportError, reportFailure, type CommandIo, type ExitCode } from "../io.ts";
import type { PivotFlags } from "./actions.ts";
import { readLatticeCluster } from "./child.ts";

type Request = "resume" | "abort";
export type PivotAnswer = { readonly kind: "done" | "refused"; readonly message: string } | undefined;

const DEFAULT_WAIT_MS = 300_000;
const POLL_MS = 1_000;
const WAIT = {
  name: "--wait",
  least: { text: "1s", why: "the status is read once a second" },
  most: { text: "24h", why: "a pivot takes minutes" },
};

export type PivotRequestOptions = {
  readonly client: KubeClient;
  readonly name: string;
  readonly request: Request;
  readonly flags: PivotFlags;
};

export async function requestPivot(
  io: CommandIo,
  { client, name, request, flags }: PivotRequestOptions,
): Promise<Result<ExitCode, string>> {
  const waitMs = parseDurationFlag(WAIT, flags.wait);
  if (!waitMs.ok) return waitMs;
  const before = await readLatticeCluster(client, name, io.signal);
  if (!before.ok) return before;
  const early = request === "abort" && before.value.status?.ownedBy === "self";
  if (early) return ok(reportError(io, `cluster ${name} owns itself already; deleting its LatticeCluster takes the objects back`));
  const id = sha256Hex(`${io.hostname} ${io.clock.now()} ${io.random()}`).slice(0, 16);
  const patch = { metadata: { annotations: { [PIVOT_ANNOTATION]: request, [PIVOT_REQUEST_ANNOTATION]: id } } };
  const asked = await client.patch<LatticeCluster>(latticeClusters, { name }, { type: "merge", patch }, { signal: io.signal });
  if (!asked.ok) return ok(reportFailure(io, asked.error.message));
  const until = io.clock.monotonic() + (waitMs.value ?? DEFAULT_WAIT_MS);
  for (;;) {
    const cluster = await readLatticeCluster(client, name, io.signal);
    if (!cluster.ok) return cluster;
    const answer = answerOf(cluster.value, { request, id });
    if (answer !== undefined) return ok(reportAnswer(io, flags, { request, answer }));
    if (io.clock.monotonic() >= until || !(await sleep(io.clock, POLL_MS, io.signal)))
      return ok(
        reportFailure(io, `the operator has not answered in condition Pivoting yet; the request stays: see lattice pivot status ${name}`),
      );
  }
}

export type SentRequest = { readonly request: Request; readonly id: string };

/** Undefined: the operator has not answered yet. */
export function answerOf({ status }: LatticeCluster, { request, id }: SentRequest): PivotAnswer {
  if (status?.pivot?.request !== id) return undefined;
  const condition = findCondition(status.conditions, "Pivoting");
  if (condition === undefined) return undefined;
  const { reason, message } = condition;
  if (request === "resume") return reason === "PivotAborted" || reason === "AbortRefused" ? undefined : { kind: "done", message };
  if (reason === "PivotAborted") return { kind: "done", message };
  return reason === "AbortRefused" || reason === "Pivoted" ? { kind: "refused", message } : undefined;
}

function reportAnswer(
  io: CommandIo,
  { output }: PivotFlags,
  { request, answer }: { readonly request: Request; readonly answer: NonNullable<PivotAnswer> },
): ExitCode {
  if (output === "json") io.stdout(`${JSON.stringify({ request, ...answer })}\n`);
  if (answer.kind === "refused") return reportError(io, answer.message);
  if (output === "text") io.stdout(`${answer.message}\n`);
  return 0;
}
