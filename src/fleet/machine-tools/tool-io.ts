/** Input and output of the tools on the PATH of a machine, and their client of an API server. */
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Clock, type Result } from "#base";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { ROOT_VARIABLE, reRootKnownPath } from "../machines/index.ts";

export type ToolIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly stdout: (text: string) => void;
  readonly signal: AbortSignal;
};

/** A path in arguments: on a machine, folders such as /etc are below its own folder. */
export function toolPath({ env, cwd }: Pick<ToolIo, "env" | "cwd">, path: string): string {
  const root = env[ROOT_VARIABLE];
  if (!isAbsolute(path)) return join(cwd, path);
  return root === undefined || root === "" ? path : reRootKnownPath(root, path);
}

export function readToolFile(io: ToolIo, path: string): Result<string, string> {
  const text = fromThrowing(() => readFileSync(toolPath(io, path), "utf8"), describeThrown);
  return text.ok ? text : err(`${path} cannot be read: ${text.error}`);
}

/** `path`: of a kubeconfig file, as it is. */
export async function openClient(io: ToolIo, path: string): Promise<Result<KubeClient, string>> {
  const { clock, random } = io;
  const config = await loadKubeconfig({ path, env: {}, home: io.cwd, clock });
  if (!config.ok) return err(config.error.message);
  return ok(createKubeClient({ transport: httpTransport(config.value, { clock }), clock, random }));
}
