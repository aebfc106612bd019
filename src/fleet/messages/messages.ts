/**
 * The messages between the supervisor and its processes, over IPC channels.
 *
 * A new supervisor never meets an old process: it ends the leftovers of the one before. A message that does not parse is a bug, or comes
 * from a process that is not Lattice's; it is ignored.
 */
import * as z from "zod";
import { err, ok, type Result } from "#base";

const endedRun = z.object({ exitCode: z.number(), startedAt: z.number(), finishedAt: z.number() });

/** What the API server needs to know of the process of a Pod. */
const podReport = z.object({
  uid: z.string(),
  pod: z.string(),
  container: z.string(),
  /** Of its logs, `CONTAINER/N.log`. */
  folder: z.string(),
  phase: z.enum(["idle", "running", "waiting", "stopping", "ended"]),
  pid: z.number().optional(),
  startedAt: z.number().optional(),
  /** Until the next start. */
  delayMs: z.number().optional(),
  /** Why the last start failed. */
  problem: z.string().optional(),
  last: endedRun.optional(),
  restarts: z.number(),
  ready: z.boolean(),
});

/** A process that the API server requests for a Pod. Secrets are in files, never in `args`. */
const podRequest = z.object({
  uid: z.string(),
  pod: z.string(),
  container: z.string(),
  folder: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
});

const toApiServer = z.discriminatedUnion("kind", [
  /** The first message. `processes` run already: the API server is not the first one of its cluster. */
  z.object({ kind: z.literal("begin"), repair: z.boolean(), processes: z.array(podReport) }),
  z.object({ kind: z.literal("process"), process: podReport }),
]);

const fromApiServer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready"), url: z.string(), movedPort: z.object({ from: z.number(), to: z.number() }).optional() }),
  /** It cannot start, and ends. */
  z.object({ kind: z.literal("failed"), message: z.string() }),
  z.object({ kind: z.literal("ensure"), process: podRequest }),
  z.object({ kind: z.literal("stop"), uid: z.string(), graceMs: z.number() }),
  /** The Pod is gone: its process ends, and its files are deleted after it. */
  z.object({ kind: z.literal("forget"), uid: z.string(), graceMs: z.number() }),
]);

const fromOperator = z.discriminatedUnion("kind", [z.object({ kind: z.literal("listening"), health: z.string() })]);

export type PodProcessReport = z.infer<typeof podReport>;
export type PodProcessRequest = z.infer<typeof podRequest>;
export type ToApiServer = z.infer<typeof toApiServer>;
export type FromApiServer = z.infer<typeof fromApiServer>;
export type FromOperator = z.infer<typeof fromOperator>;

export const parseToApiServer = parserOf(toApiServer);
export const parseFromApiServer = parserOf(fromApiServer);
export const parseFromOperator = parserOf(fromOperator);

function parserOf<T>(schema: z.ZodType<T>): (message: unknown) => Result<T, string> {
  return (message) => {
    const parsed = schema.safeParse(message);
    return parsed.success ? ok(parsed.data) : err(z.prettifyError(parsed.error));
  };
}
