/** The processes of the bench `agents`, which answer requests by messages. */
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { projectRoot } from "../../scripts/process/project.ts";
import type { AgentsReply, AgentsRequest, ApiServerReply, ApiServerRequest } from "./agents-messages.ts";

/** A look at all statuses takes a part of a second. */
const LOOK_MS = 1_000;

export function startProcess(name: string): ChildProcess {
  return fork(join(projectRoot, "bench/support", name), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

type Reply = ApiServerReply | AgentsReply;

export function ask<Kind extends Reply["kind"]>(
  one: ChildProcess,
  request: ApiServerRequest | AgentsRequest,
  kind: Kind,
): Promise<Extract<Reply, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a process of the bench ended with code ${code}`));
    const answered = (reply: Reply) => {
      if (reply.kind !== kind) return;
      one.off("message", answered);
      one.off("exit", ended);
      resolve(reply as Extract<Reply, { kind: Kind }>);
    };
    one.on("message", answered);
    one.once("exit", ended);
    one.send(request);
  });
}

/** Waits at most so long. */
export async function until(ms: number, isReached: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + ms; !(await isReached()) && performance.now() < end;) await delay(LOOK_MS);
}
