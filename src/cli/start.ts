/**
 * `npm start`: what this release can show a person in a minute. It checks the examples, shows what a mistake looks like, and
 * says what to try next. Offline: it dials nothing. It grows into the laptop fleet.
 */
import { join, relative } from "node:path";
import { PROGRAM_VERSION } from "#base";
import { latticeKinds, parseLatticeObject } from "#crds";
import { fieldAt, formatYaml, type KubeObject } from "#kube";
import type { CliIo, ExitCode } from "./io.ts";
import { checkFiles, formatChecked, type Checked } from "./validate.ts";

export async function lookAround(io: CliIo): Promise<ExitCode> {
  const checked = await checkFiles(io, [join(io.root, "examples")]);
  io.stdout(introduction());
  io.stdout(`The examples, checked as the API server will check them:\n${checked.map((one) => formatExample(io, one)).join("")}\n`);
  io.stdout(aMistake(checked));
  io.stdout(whatNext(io));
  return checked.every((one) => one.ok) ? 0 : 1;
}

function introduction(): string {
  const kinds = latticeKinds.map(({ resource, shortName }) => `${resource.kind} (${shortName})`);
  return [
    `Lattice ${PROGRAM_VERSION}: clusters that own themselves, services that talk only when both sides agree.`,
    "",
    "This release is the foundation: eight resource kinds, a Kubernetes client, a controller runtime, and an operator that",
    "validates your resources and says in their status what it does not act on yet. The laptop fleet comes with a later release.",
    "",
    `Kinds: ${kinds.slice(0, 4).join(", ")},`,
    `       ${kinds.slice(4).join(", ")}`,
    "",
    "",
  ].join("\n");
}

function formatExample(io: CliIo, checked: Checked): string {
  const file = relative(io.cwd, checked.file);
  if (!checked.ok) return formatChecked({ ...checked, file });
  return `  ok  ${file.padEnd(36)} ${checked.object.kind.padEnd(26)} ${summary(checked.object)}\n`;
}

/** The one thing a person would ask first about an object of this kind. */
function summary(object: KubeObject): string {
  const { name, namespace } = object.metadata;
  const details: Partial<Record<string, readonly string[]>> = {
    LatticeCluster: ["spec", "provider", "type"],
    LatticeService: ["spec", "environment"],
    LatticeServiceRegistration: ["spec", "git", "url"],
    LatticeImageRegistry: ["spec", "host"],
  };
  const path = Object.hasOwn(details, object.kind) ? details[object.kind] : undefined;
  const detail = path === undefined ? undefined : fieldAt(object, ...path);
  return `${namespace === undefined ? "" : `${namespace}/`}${name}${typeof detail === "string" ? ` (${detail})` : ""}`;
}

/** Made from a real example by changing two fields, and refused by the real parser. */
function aMistake(checked: readonly Checked[]): string {
  const cluster = checked.find((one) => one.ok && one.object.kind === "LatticeCluster");
  if (cluster === undefined || !cluster.ok) return "";
  const spec = fieldAt(cluster.object, "spec") as Readonly<Record<string, unknown>>;
  const change = { nodes: { controlPlane: 2, worker: 3 } };
  const refused = parseLatticeObject({ ...cluster.object, spec: { ...spec, ...change } });
  if (refused.ok) return "";
  const lines = refused.error.map(({ path, message }) => `    ${path}: ${message}\n`);
  return `A mistake is named, with its place and what would fix it. This:\n${indent(formatYaml(change))}  gives\n${lines.join("")}\n`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "    ");
}

function whatNext(io: CliIo): string {
  const examples = relative(io.cwd, join(io.root, "examples")) || ".";
  return [
    "Try next:",
    `  ./lattice validate -f ${join(examples, "service-api.yaml")}       check a file of yours the same way`,
    "  ./lattice crds | kubectl apply --server-side -f -   install the kinds on a cluster",
    "  ./lattice operator --kubeconfig FILE                 run the operator against that cluster; kubectl get lattice -A",
    "  npm run test:kube                                    the same against a real control plane, built here with Go",
    "",
  ].join("\n");
}
