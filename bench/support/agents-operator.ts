/** `lattice operator` of the cell in the bench `agents`, as a user runs it: its metrics and its health check. */
import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { freshDist } from "../../scripts/build/fresh-dist.ts";

export type CellOperator = {
  readonly pid: number;
  /** The value of a metric, with its labels as they are printed; 0 before it exists, NaN without an answer. */
  readonly metric: (name: string) => Promise<number>;
  /** The sum of all values of a metric, whatever labels they have. */
  readonly sumOf: (name: string) => Promise<number>;
  /** Health checks until `end`, one after the other: how long the slowest took, in milliseconds. */
  readonly checkHealth: () => { readonly end: () => Promise<number> };
  readonly stop: () => Promise<void>;
};

const CHECK_EVERY_MS = 100;
const CHECK_WITHIN_MS = 30_000;

/** `folder`: has the kubeconfig, and gets the log. */
export async function startCellOperator(folder: string): Promise<CellOperator> {
  const program = join(await freshDist(), "lattice.js");
  const kubeconfig = join(folder, "kubeconfig");
  // resync as in a fleet: with one minute, all 5,000 namespaces are reconciled once a minute
  const args = [program, "operator", "--kubeconfig", kubeconfig, "--health-address", "127.0.0.1:0", "--resync", "10m"];
  // a file, because a pipe would delay the operator when this process is busy
  const log = openSync(join(folder, "operator.log"), "w");
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", log] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await healthUrl(child.stdout as NodeJS.ReadableStream);
  return {
    pid: child.pid ?? 0,
    metric: async (name) => valueOf((await read(`${url}/metrics`).catch(() => undefined))?.text, name),
    sumOf: async (name) => sumOf((await read(`${url}/metrics`)).text, name),
    checkHealth: () => checkHealth(url),
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function valueOf(metrics: string | undefined, name: string): number {
  if (metrics === undefined) return Number.NaN;
  const line = metrics.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

function sumOf(metrics: string, name: string): number {
  const lines = metrics.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

function healthUrl(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => {
      const url = /health and metrics at (\S+);/.exec(line)?.[1];
      if (url !== undefined) resolve(url.replace(/\/$/, ""));
    });
    lines.once("close", () => reject(new Error("the operator ended before it served its health")));
  });
}

/** A check that fails counts as one that takes for ever. */
function checkHealth(url: string): { readonly end: () => Promise<number> } {
  const state = { slowestMs: 0, isEnding: false };
  const checkOnce = async () => {
    const start = performance.now();
    const { status } = await read(`${url}/livez`).catch(() => ({ status: 0 }));
    return status === 200 ? performance.now() - start : Number.POSITIVE_INFINITY;
  };
  const checking = (async () => {
    for (; !state.isEnding; await delay(CHECK_EVERY_MS)) state.slowestMs = Math.max(state.slowestMs, await checkOnce());
  })();
  return {
    end: async () => {
      state.isEnding = true;
      await checking;
      return state.slowestMs;
    },
  };
}

type HttpAnswer = { readonly status: number; readonly text: string };

function read(url: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, timeout: CHECK_WITHIN_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("timeout", () => request.destroy(new Error(`${url} was not answered within ${CHECK_WITHIN_MS / 1_000} s`)));
    request.on("error", reject);
  });
}
