/** The side of `lattice stop` and `lattice start`: sends one request to the control socket of a running fleet. */
import { connect, type Socket } from "node:net";
import { andThen, describeThrown, err, fromPromise, type Result } from "#base";
import type { ControlRequest, ControlResponse } from "../fleet-types.ts";
import { MAX_RESPONSE_BYTES, parseControlResponse } from "./control-protocol.ts";
import { readLine } from "./read-line.ts";

/** An error when no fleet listens there, or the signal fires first. A refused request is a response. */
export async function requestControl(path: string, request: ControlRequest, signal: AbortSignal): Promise<Result<ControlResponse, string>> {
  const socket = await fromPromise(connected(path, signal), describeThrown);
  if (!socket.ok) return err(`lattice up does not answer at ${path}: ${socket.error}`);
  const end = () => void socket.value.destroy();
  signal.addEventListener("abort", end, { once: true });
  socket.value.on("error", () => {}).write(`${JSON.stringify(request)}\n`);
  const line = await readLine(socket.value, MAX_RESPONSE_BYTES);
  signal.removeEventListener("abort", end);
  end();
  return andThen(line, parseControlResponse);
}

function connected(path: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect(path);
  const onAbort = () => socket.destroy(new Error("stopped by a signal"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return new Promise<Socket>((resolve, reject) => {
    socket.once("error", reject).once("connect", () => resolve(socket.off("error", reject)));
  }).finally(() => signal.removeEventListener("abort", onAbort));
}
