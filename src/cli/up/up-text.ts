/** What `lattice up` prints about its clusters, and which commands to try. */
import { isAbsolute } from "node:path";
import { reducedMeshCrds } from "#controllers";
import { latticeKinds } from "#crds";
import { clusterFolder, type ClusterView, type FleetFolder } from "#fleet";
import { splitId } from "#mesh-compiler";
import type { CliIo } from "../io.ts";
import { shortPath } from "../short-path.ts";
import type { OwnServices } from "./own-services.ts";
import type { ClosedFlow } from "./shop.ts";

const NODES = 2;
const DEFAULT_FOLDER = ".lattice";

export function describeManagement(io: CliIo, folder: FleetFolder, { name, url = "" }: ClusterView): string {
  const { data, logs } = clusterFolder(folder, name);
  const short = (path: string) => shortPath(io.cwd, path);
  return [
    `  API server  ${url} (embedded, a process; state in ${short(data)})`,
    "  operator    a process too: Deployment lattice-system/lattice-operator",
    `  nodes       ${NODES}, simulated: no other container runs`,
    `  kinds       ${latticeKinds.length} of Lattice (${latticeKinds.map(({ shortName }) => shortName).join(" ")})`,
    `              ${reducedMeshCrds().length} of Cilium, Istio and others, reduced: no policy is enforced`,
    `  logs        ${short(logs)}`,
    `  kubeconfig  ${short(folder.kubeconfig)}`,
    "",
    "",
  ].join("\n");
}

export function describeEmpty(clusters: readonly ClusterView[]): string {
  const what = clusters.length === 1 ? "A cluster starts, with" : `${clusters.length} clusters start, each with`;
  return `${what} an API server and an operator as processes:\n\n`;
}

export function describeCell(name: string): string {
  return `${name} is a cell: a LatticeCluster of provider local that is created there becomes a cluster of this machine.\n\n`;
}

/** Other kubeconfigs than those of the folder have the old port. */
export function describeMoved(clusters: readonly ClusterView[]): string {
  const lines = clusters.flatMap(({ name, movedPort }) =>
    movedPort === undefined
      ? []
      : [
          `Port ${movedPort.from} of cluster ${name} is used by another program; its API server has port ${movedPort.to} now, as its kubeconfig says.`,
        ],
  );
  return lines.length === 0 ? "" : `${lines.join("\n")}\n\n`;
}

export function describeOwn({ objects, madeUp, leftOut }: OwnServices): string {
  const services = objects.filter(({ object }) => object.kind === "LatticeService").length;
  const secrets = ["These Secrets hold made-up values; --secrets FILE gives others:", ...madeUp.map((name) => `  ${name}`), ""];
  const lines = [
    ...leftOut.map((name) => `left out, since lattice up does not apply its kind: ${name}`),
    ...(madeUp.length === 0 ? [] : secrets),
    services === 1 ? "Your service starts:" : `Your ${services} services start:`,
  ];
  return `${lines.join("\n")}\n\n`;
}

export function describeStopped(io: CliIo, folder: FleetFolder, name: string): string {
  return `Cluster ${name} is stopped; ./lattice start ${name}${dataDirFlag(io, folder)} starts it.\n\n`;
}

export function nextForServices(io: CliIo, folder: FleetFolder, closed: ClosedFlow | undefined): string {
  return [
    "Try, in another terminal:",
    "",
    described("./lattice status", "services with one sentence each"),
    ...(closed === undefined ? [] : [described(whyCommand(closed), "what decides it, and what to add")]),
    `  export KUBECONFIG=${absolute(shortPath(io.cwd, folder.kubeconfig))}`,
    described("kubectl get ls -A", "the same services as resources"),
    described("kubectl logs -n lattice-system deploy/lattice-operator", "what the operator does"),
    ...(closed === undefined ? [] : toOpen(closed)),
    described(`./lattice stop mgmt${dataDirFlag(io, folder)}`, "stops the cluster and keeps its state"),
    described(`./lattice start mgmt${dataDirFlag(io, folder)}`, "starts it, with the same kubeconfig"),
    "",
    ...ending(io, folder),
  ].join("\n");
}

export function nextForEmpty(io: CliIo, folder: FleetFolder, clusters: readonly ClusterView[]): string {
  const last = clusters.at(-1);
  if (last === undefined) return "";
  const flag = dataDirFlag(io, folder);
  return [
    "Try, in another terminal:",
    "",
    `  export KUBECONFIG=${absolute(shortPath(io.cwd, last.kubeconfig))}`,
    described("kubectl get nodes,pods -A", `what cluster ${last.name} has`),
    described(`./lattice stop ${last.name}${flag}`, "stops the cluster and keeps its state"),
    described(`./lattice start ${last.name}${flag}`, "starts it, with the same kubeconfig"),
    "",
    `${shortPath(io.cwd, folder.state)} lists all clusters with their kubeconfigs and processes;`,
    `logs are in ${shortPath(io.cwd, folder.clusters)}/NAME/logs.`,
    ...ending(io, folder),
  ].join("\n");
}

export function ending(io: CliIo, folder: FleetFolder): readonly string[] {
  return [
    "Changes show here as they happen. Ctrl-C stops it and keeps the state;",
    `./lattice down --purge${dataDirFlag(io, folder)} stops it and deletes the state.`,
    "",
    "",
  ];
}

const COMMAND_WIDTH = 35;

/** A long command has its description in a line of its own. */
function described(command: string, effect: string): string {
  if (command.length > COMMAND_WIDTH) return `  ${command}\n${" ".repeat(COMMAND_WIDTH + 4)}${effect}`;
  return `  ${command.padEnd(COMMAND_WIDTH)}  ${effect}`;
}

export function dataDirFlag(io: CliIo, { path }: FleetFolder): string {
  const short = shortPath(io.cwd, path);
  return short === DEFAULT_FOLDER ? "" : ` --data-dir ${short}`;
}

export function absolute(path: string): string {
  return isAbsolute(path) ? path : `$PWD/${path}`;
}

function whyCommand({ caller, callee }: ClosedFlow): string {
  return `./lattice why ${splitId(caller).name} ${splitId(callee).name}`;
}

/** One shell command in two lines that fit 80 columns. */
function toOpen({ caller, callee, declaredIn }: ClosedFlow): readonly string[] {
  const namespace = declaredIn === "default" ? "" : ` -n ${declaredIn}`;
  const patch = JSON.stringify({ spec: { resources: { [splitId(caller).name]: { direction: "inbound" } } } });
  return [
    `  kubectl patch ls ${splitId(callee).name}${namespace} --type merge -p \\`,
    `    '${patch}'`,
    `${" ".repeat(COMMAND_WIDTH + 4)}declares the missing side; the flow opens`,
  ];
}
