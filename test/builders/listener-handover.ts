/**
 * Two operators with a listener of the leader, as processes on one cluster. The leader is killed with -9: the other one's listener accepts, and at no
 * time do both.
 */
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { expectOk } from "#base";
import { leaseTimesFor } from "#controller-runtime";
import { findFreePorts } from "../kube/harness/free-ports.ts";
import { OperatorProcess } from "./operator-process.ts";

const PROGRAM = fileURLToPath(new URL("../programs/operator-with-listener.ts", import.meta.url));
const LEASE_MS = 5_000;
const POLL_MS = 25;
const FIRST_LEADER_MS = 60_000;

type Candidate = { readonly name: string; readonly port: number; readonly process: OperatorProcess };

/** Throws when a claim does not hold. Returns how long the takeover lasted. */
export async function listenerHandover(cluster: { readonly kubeconfig: string; readonly namespace: string }): Promise<number> {
  const ports = expectOk(await findFreePorts(2));
  const candidates = ports.map((port, at) => start(cluster, `candidate-${at}`, port));
  try {
    const leader = await firstAccepting(candidates, FIRST_LEADER_MS);
    const standby = candidates.find((one) => one !== leader);
    if (standby === undefined) throw new Error("there is no second candidate");
    expect(await greetingOf(leader.port)).toBe(leader.name);
    await standby.process.untilPrinted(/health and metrics at/);
    // several renewals: the standby stays one
    for (const until = performance.now() + LEASE_MS / 2; performance.now() < until; await delay(POLL_MS)) {
      expect([await greetingOf(leader.port), await greetingOf(standby.port)]).toEqual([leader.name, undefined]);
    }
    expect(await standby.process.leads()).toBe(false);

    const killedAt = performance.now();
    await leader.process.end("SIGKILL");
    const limitMs = LEASE_MS + leaseTimesFor(LEASE_MS).retryMs;
    expect(await firstAccepting([leader, standby], limitMs - (performance.now() - killedAt))).toBe(standby);
    const tookMs = performance.now() - killedAt;
    expect(await greetingOf(standby.port)).toBe(standby.name);
    expect(await standby.process.end("SIGTERM")).toBe(0);
    expect(await greetingOf(standby.port)).toBeUndefined();
    return tookMs;
  } finally {
    for (const { process } of candidates) await process[Symbol.asyncDispose]();
  }
}

function start(
  { kubeconfig, namespace }: { readonly kubeconfig: string; readonly namespace: string },
  name: string,
  port: number,
): Candidate {
  const args = ["--kubeconfig", kubeconfig, "--namespace", namespace, "--lease-duration", `${LEASE_MS}ms`];
  return { name, port, process: new OperatorProcess([...args, "--port", String(port), "--identity", name], PROGRAM) };
}

async function firstAccepting(candidates: readonly Candidate[], withinMs: number): Promise<Candidate> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    for (const one of candidates) if ((await greetingOf(one.port)) !== undefined) return one;
    if (performance.now() > deadline) throw new Error(`no listener accepts: ${candidates.map(({ process }) => process.output).join("\n")}`);
    await delay(POLL_MS);
  }
}

/** The first line that a listener sends; undefined: it does not accept. */
function greetingOf(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("data", (chunk: Buffer) => {
      resolve(chunk.toString().trim());
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
    socket.once("close", () => resolve(undefined));
  });
}
