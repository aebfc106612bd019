/** The control socket's protocol: one line of JSON for the request, one for the response. */
import * as z from "zod";
import { err, ok, type Result } from "#base";
import { parseJson } from "#kube";
import type { ControlRequest, ControlResponse } from "../fleet-types.ts";

/** A request has one name; a response lists the clusters. */
export const MAX_REQUEST_BYTES = 4_096;
export const MAX_RESPONSE_BYTES = 1024 * 1024;

const request = z.discriminatedUnion("command", [
  z.object({ command: z.enum(["stop", "start"]), name: z.string() }),
  z.object({ command: z.literal("list") }),
  z.object({ command: z.literal("machine-init"), token: z.string(), cluster: z.string(), version: z.string() }),
  z.object({ command: z.literal("machine-join"), token: z.string() }),
  z.object({ command: z.literal("machine-node"), token: z.string(), node: z.string() }),
]);

const cluster = z.object({
  name: z.string(),
  parent: z.string().optional(),
  kubeconfig: z.string(),
  url: z.string().optional(),
  pids: z.array(z.number()),
  state: z.enum(["Starting", "Running", "Restarting", "Stopping", "Stopped"]),
  message: z.string().optional(),
  movedPort: z.object({ from: z.number(), to: z.number() }).optional(),
  operators: z.array(z.object({ pod: z.string(), pid: z.number().optional(), ready: z.boolean(), health: z.string().optional() })),
});

const machine = z.object({
  name: z.string(),
  namespace: z.string(),
  cluster: z.string(),
  controlPlane: z.boolean(),
  version: z.string(),
  kubeconfig: z.string(),
});

const response = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), message: z.string().optional(), clusters: z.array(cluster).optional(), machine: machine.optional() }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);

export function parseControlRequest(line: string): Result<ControlRequest, string> {
  const parsed = request.safeParse(jsonOf(line));
  return parsed.success ? ok(parsed.data) : err('the request must be one line of JSON: {"command": "stop", "name": "mgmt"}');
}

export function parseControlResponse(line: string): Result<ControlResponse, string> {
  const parsed = response.safeParse(jsonOf(line));
  return parsed.success ? ok(parsed.data) : err("lattice up sent a response that cannot be read; is it another version of Lattice?");
}

function jsonOf(line: string): unknown {
  const parsed = parseJson(line);
  return parsed.ok ? parsed.value : undefined;
}
