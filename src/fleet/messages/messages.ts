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

/** A machine that the API server requests for a LocalMachine; `id` is its uid. */
const machineRequest = z.object({
  id: z.string(),
  name: z.string(),
  cluster: z.string(),
  namespace: z.string(),
  controlPlane: z.boolean(),
  version: z.string(),
  bootstrapData: z.string(),
});

const machineReport = z.object({
  id: z.string(),
  phase: z.enum(["starting", "running", "failed", "stopped"]),
  message: z.string().optional(),
  nodeName: z.string().optional(),
});

const toApiServer = z.discriminatedUnion("kind", [
  /** The first message. `processes` and `machines` run already: the API server is not the first one of its cluster. */
  z.object({
    kind: z.literal("begin"),
    repair: z.boolean(),
    /** The cluster is made of machines: what runs in it comes with its bootstrap data. */
    bare: z.boolean(),
    /** The Kubernetes version that it reports. */
    version: z.string().optional(),
    processes: z.array(podReport),
    machines: z.array(machineReport),
  }),
  z.object({ kind: z.literal("process"), process: podReport }),
  z.object({ kind: z.literal("machine-state"), machine: machineReport }),
  /** The machine was removed, with all that it left. */
  z.object({ kind: z.literal("machine-gone"), id: z.string() }),
  /** A control-plane machine of a newer version has joined. */
  z.object({ kind: z.literal("version"), version: z.string() }),
]);

const fromApiServer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready"), url: z.string(), movedPort: z.object({ from: z.number(), to: z.number() }).optional() }),
  /** It cannot start, and ends. */
  z.object({ kind: z.literal("failed"), message: z.string() }),
  z.object({ kind: z.literal("ensure"), process: podRequest }),
  z.object({ kind: z.literal("stop"), uid: z.string(), graceMs: z.number() }),
  /** The Pod is gone: its process ends, and its files are deleted after it. */
  z.object({ kind: z.literal("forget"), uid: z.string(), graceMs: z.number() }),
  z.object({ kind: z.literal("machine-ensure"), machine: machineRequest }),
  z.object({ kind: z.literal("machine-remove"), id: z.string() }),
]);

const fromOperator = z.discriminatedUnion("kind", [z.object({ kind: z.literal("listening"), health: z.string() })]);

export type PodProcessReport = z.infer<typeof podReport>;
export type PodProcessRequest = z.infer<typeof podRequest>;
export type MachineRequest = z.infer<typeof machineRequest>;
export type MachineReport = z.infer<typeof machineReport>;
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
