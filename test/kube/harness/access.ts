/**
 * A story's access to a plane. `PlaneData` can be sent to another thread, which creates the functions from it.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sensitive, type Sensitive } from "#base";
import { COMPONENTS, filesIn, logFile, type Component } from "./components.ts";
import { kubeconfigFor } from "./credentials.ts";
import { send, type HttpResponse, type HttpRequest } from "./http.ts";
import { runProgram, type Ran } from "./run-program.ts";

export type PlaneData = {
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
  readonly folder: string;
  readonly logs: string;
  readonly binaries: string;
};

export type KubectlOptions = { readonly stdin?: string; readonly limitMs?: number };

export type PlaneAccess = {
  /** https://127.0.0.1:PORT */
  readonly url: string;
  readonly caPem: string;
  /** The token of a user in system:masters. */
  readonly adminToken: Sensitive<string>;
  readonly kubeconfigPath: string;
  /** Contains the administrator's token: must not be logged. */
  readonly kubeconfigText: string;
  /** The folder of the plane; removed with the plane. */
  readonly folder: string;
  readonly binaries: string;
  /** kubectl as the administrator, with a separate discovery cache and HOME. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<Ran>;
  /** The same for steps that must succeed: returns stdout, throws kubectl's stderr otherwise. */
  kubectlOk(args: readonly string[], options?: KubectlOptions): Promise<string>;
  request(request: HttpRequest): Promise<HttpResponse>;
  /** A kubeconfig for another user, with a client certificate: for stories about permissions. */
  kubeconfigFor(user: string, groups?: readonly string[]): string;
  /** A new namespace that no other story uses; its name. */
  makeNamespace(prefix: string): Promise<string>;
  /** The last lines that each component logged. */
  logTail(lines?: number): string;
};

export function accessTo(data: PlaneData): PlaneAccess {
  const files = filesIn(data.folder);
  const adminToken = sensitive(data.adminToken);
  const kubectl = (args: readonly string[], { stdin, limitMs }: KubectlOptions = {}) =>
    runProgram(join(data.binaries, "kubectl"), [`--cache-dir=${files.kubectlCache}`, ...args], {
      env: { PATH: process.env["PATH"], HOME: data.folder, KUBECONFIG: files.kubeconfig },
      stdin,
      limitMs,
    });
  const kubectlOk = async (args: readonly string[], options?: KubectlOptions) => {
    const ran = await kubectl(args, options);
    if (ran.code !== 0) throw new Error(`kubectl ${args.join(" ")} ended with code ${ran.code}: ${ran.stderr.trim()}`);
    return ran.stdout;
  };
  return {
    url: data.url,
    caPem: data.caPem,
    adminToken,
    kubeconfigPath: files.kubeconfig,
    kubeconfigText: readFileSync(files.kubeconfig, "utf8"),
    folder: data.folder,
    binaries: data.binaries,
    kubectl,
    kubectlOk,
    request: (request) => send({ url: data.url, caPem: data.caPem, token: adminToken }, request),
    kubeconfigFor: (user, groups = []) => kubeconfigFor(data, user, groups),
    async makeNamespace(prefix) {
      const name = uniqueName(prefix);
      await kubectlOk(["create", "namespace", name]);
      return name;
    },
    logTail: (lines = 20) => logTail(data.logs, lines),
  };
}

/** For cluster-scoped objects: the names of two stories on one plane must differ. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString("hex")}`;
}

export function logTail(logs: string, lines: number, components: readonly Component[] = COMPONENTS): string {
  const tails = components.map((component) => {
    const last = readIfThere(logFile(logs, component)).trimEnd().split("\n").slice(-lines);
    return `--- ${component}, last lines of its log\n${last.join("\n")}\n`;
  });
  return tails.join("");
}

/** A component that was never started has no log. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "(nothing)";
  }
}
