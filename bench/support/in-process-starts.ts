/** How long a server in one's own process takes until it has answered its first request: the first time with its modules, later without. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { median } from "./measure.ts";

export type InProcessStarts = { readonly firstMs: number; readonly laterMs: number };

const CHILD = join(import.meta.dirname, "in-process-start-child.ts");

export async function inProcessStarts(rounds = 3): Promise<InProcessStarts> {
  const measured: InProcessStarts[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD]);
    measured.push(JSON.parse(stdout) as InProcessStarts);
  }
  return { firstMs: median(measured.map(({ firstMs }) => firstMs)), laterMs: median(measured.map(({ laterMs }) => laterMs)) };
}
