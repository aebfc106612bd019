/** The tools that own a Deployment, as real programs or as plain requests: each writes it with given values, and returns to earlier ones. */
import { join } from "node:path";
import { fieldAt, isJsonObject, type JsonObject } from "#kube";
import { runProgram, type Ran } from "../harness/index.ts";
import { DEPLOYMENT, FIRST, ownedManifest, writeChart, writeKustomization, type OwnerValues } from "./owned-manifest.ts";
import type { PatchServer } from "./patch-servers.ts";

export type ToolContext = {
  readonly server: PatchServer;
  readonly namespace: string;
  /** Of this tool alone. */
  readonly folder: string;
  /** The folders of the programs. */
  readonly kubectl: string;
  readonly helm: string;
};

export type OwnerTool = {
  readonly name: string;
  readonly install: (context: ToolContext, values: OwnerValues) => Promise<Ran>;
  readonly upgrade: (context: ToolContext, values: OwnerValues) => Promise<Ran>;
  /** Returns to the values of the run before the last one. */
  readonly rollback: (context: ToolContext, earlier: OwnerValues) => Promise<Ran>;
};

const environment = ({ server, folder }: ToolContext) => ({ PATH: process.env["PATH"], HOME: folder, KUBECONFIG: server.kubeconfig });

function helm(name: string, program: "helm" | "helm3", flags: readonly string[] = []): OwnerTool {
  const run = (context: ToolContext, verb: readonly string[]) =>
    runProgram(join(context.helm, program), [...verb, "-n", context.namespace, ...flags], { env: environment(context) });
  const withChart = (verb: string) => (context: ToolContext, values: OwnerValues) => {
    const chart = join(context.folder, "chart");
    writeChart(chart, values);
    return run(context, [verb, DEPLOYMENT, chart]);
  };
  return {
    name,
    install: withChart("install"),
    upgrade: withChart("upgrade"),
    rollback: (context) => run(context, ["rollback", DEPLOYMENT]),
  };
}

export function kubectl(context: ToolContext, args: readonly string[]): Promise<Ran> {
  const all = [...args, "-n", context.namespace, `--cache-dir=${join(context.folder, "cache")}`];
  return runProgram(join(context.kubectl, "kubectl"), all, { env: environment(context), cwd: context.folder });
}

function kubectlApply(name: string, flags: readonly string[]): OwnerTool {
  const apply = (context: ToolContext, values: OwnerValues) => {
    writeKustomization(join(context.folder, "kustomization"), values);
    return kubectl(context, ["apply", ...flags]);
  };
  return { name, install: apply, upgrade: apply, rollback: apply };
}

const path = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;

async function send(
  { server, namespace }: ToolContext,
  method: "POST" | "PUT" | "PATCH",
  body: JsonObject,
  contentType = "application/json",
): Promise<Ran> {
  const target = method === "POST" ? path(namespace) : `${path(namespace)}/${DEPLOYMENT}`;
  const response = await server.request({ method, path: `${target}?fieldManager=owner`, body, contentType });
  const failed = response.code >= 300;
  return { code: failed ? 1 : 0, stdout: "", stderr: failed ? response.text : "" };
}

const create = (context: ToolContext, values: OwnerValues) => send(context, "POST", ownedManifest(values));

function requests(name: string, change: (context: ToolContext, values: OwnerValues) => Promise<Ran>): OwnerTool {
  return { name, install: create, upgrade: change, rollback: change };
}

type LiveDeployment = {
  metadata: { resourceVersion?: string };
  spec: { replicas: number; template: { spec: { containers: { env: { name: string; value: string }[] }[] } } };
};

/** The live object with the owner's new values, as a controller writes it that reads before it writes. */
async function changedLive({ server, namespace }: ToolContext, values: OwnerValues): Promise<JsonObject> {
  const live = structuredClone((await server.request({ path: `${path(namespace)}/${DEPLOYMENT}` })).json()) as unknown as LiveDeployment;
  delete live.metadata.resourceVersion; // the controller manager writes the status meanwhile
  live.spec.replicas = values.replicas;
  const level = live.spec.template.spec.containers[0]?.env.find((entry) => entry.name === "LEVEL");
  // a controller that changes only what its own input changed
  if (level !== undefined && values.level !== FIRST.level) level.value = values.level;
  return live;
}

export const OWNER_TOOLS: readonly OwnerTool[] = [
  helm("helm 3", "helm3"),
  helm("helm 4, client-side", "helm", ["--server-side=false"]),
  helm("helm 4, server-side", "helm"),
  helm("helm 4, server-side, force", "helm", ["--force-conflicts"]),
  kubectlApply("kubectl apply -f", ["-f", "kustomization/deployment.yaml"]),
  kubectlApply("kubectl apply -k", ["-k", "kustomization"]),
  kubectlApply("kubectl apply -k --server-side", ["-k", "kustomization", "--server-side"]),
  kubectlApply("kubectl apply -k --server-side --force-conflicts", ["-k", "kustomization", "--server-side", "--force-conflicts"]),
  requests("PUT of the manifest", (context, values) => send(context, "PUT", ownedManifest(values))),
  requests("PUT of the live object", async (context, values) => send(context, "PUT", await changedLive(context, values))),
  requests("merge patch of replicas", (context, { replicas }) =>
    send(context, "PATCH", { spec: { replicas } }, "application/merge-patch+json"),
  ),
  requests("merge patch of the pod template", (context, values) => {
    const spec = fieldAt(ownedManifest(values), "spec");
    return send(context, "PATCH", { spec: isJsonObject(spec) ? spec : {} }, "application/merge-patch+json");
  }),
];

/** The file with the measurement of a tool. */
export function fileOf(tool: string): string {
  return join(import.meta.dirname, "measured", `${tool.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}.txt`);
}
