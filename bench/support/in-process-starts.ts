/**
 * The time until a cluster in the same process has handled its first request: the first time with loading its modules, later without.
 *
 * `entry` is the module that a test imports: the sources, or the published file. Each first time needs a new process.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "../../scripts/process/project.ts";
import { median } from "./measure.ts";

export type InProcessStarts = { readonly firstMs: number; readonly laterMs: number };

const CHILD = join(import.meta.dirname, "in-process-start-child.ts");
export const ENTRY_SOURCE = join(projectRoot, "src/embedded-cluster/index.ts");
export const ENTRY_BUNDLE = join(projectRoot, "dist/kube-server.js");

export async function inProcessStarts(entry: string, rounds = 5): Promise<InProcessStarts> {
  const measured: InProcessStarts[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, entry]);
    measured.push(JSON.parse(stdout) as InProcessStarts);
  }
  return { firstMs: median(measured.map(({ firstMs }) => firstMs)), laterMs: median(measured.map(({ laterMs }) => laterMs)) };
}
