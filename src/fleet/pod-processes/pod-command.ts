/**
 * The process of a Pod: arguments and environment of its container, as this machine runs it. Pure.
 *
 * The program is always Lattice and its command `operator`; the image is not read. A container sees only its volumes: a path in an argument
 * must be below a mount of an emptyDir, and becomes a path in the folder of the Pod. Everything else is refused with one sentence, which is
 * shown in the Pod's status.
 */
import { join, posix } from "node:path";
import { err, ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, type Json, type Pod } from "#kube";
import { withLoopbackAddresses } from "./loopback-addresses.ts";
import {
  expandVariables,
  listOf,
  podEnvironment,
  referencesIn,
  textAt,
  type PodEnvironment,
  type VariableSources,
} from "./pod-environment.ts";

export type PodCommand = {
  readonly container: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables that the process does not get. */
  readonly leftOut: readonly string[];
  /** The emptyDir volumes, each a folder in the Pod's. */
  readonly volumes: readonly string[];
};

export type PodCommandOptions = {
  /** Of the volumes, one folder each. */
  readonly volumesFolder: string;
  readonly sources: VariableSources;
};

const COMMAND = "operator";
const PROGRAM_NAME = "lattice";
const MAX_ARGS = 200;
/** The process gets the kubeconfig of its ServiceAccount. */
const REFUSED_FLAGS = ["--kubeconfig", "--context"] as const;
const VOLUME_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

export function podCommand(pod: Pod, { volumesFolder, sources }: PodCommandOptions): Result<PodCommand, string> {
  const [container, ...more] = pod.spec.containers;
  if (container === undefined || more.length > 0) return err("a Pod of the operator has one container; remove the others");
  if ((pod.spec.initContainers ?? []).length > 0) return err("initContainers are not supported for a process of the fleet; remove them");
  const program = listOf(container, "command");
  if (program.length > 1 || (program.length === 1 && program[0] !== PROGRAM_NAME))
    return err(`command: the program is always ${PROGRAM_NAME}; remove the command, and put arguments into args`);
  const environment = podEnvironment(pod, container, sources);
  if (!environment.ok) return environment;
  const mounts = mountsOf(pod, container);
  const args = argumentsOf(container, environment.value, { mounts, volumesFolder });
  if (!args.ok) return args;
  const { passed, leftOut } = environment.value;
  return ok({ container: container.name, args: args.value, env: passed, leftOut, volumes: [...new Set(mounts.values())] });
}

/** By mount path, volumes that this machine has. */
function mountsOf(pod: Pod, container: Json): ReadonlyMap<string, string> {
  const folders = new Set((pod.spec.volumes ?? []).filter((volume) => isJsonObject(field(volume, "emptyDir"))).map(({ name }) => name));
  const mounts = new Map<string, string>();
  for (const mount of listOf(container, "volumeMounts")) {
    const [name = "", path = ""] = [textAt(mount, "name"), textAt(mount, "mountPath")];
    const wholeVolume = fieldAt(mount, "subPath") === undefined && fieldAt(mount, "subPathExpr") === undefined;
    if (folders.has(name) && VOLUME_NAME.test(name) && path.startsWith("/") && wholeVolume) mounts.set(posix.normalize(`${path}/`), name);
  }
  return mounts;
}

type Folders = { readonly mounts: ReadonlyMap<string, string>; readonly volumesFolder: string };

function argumentsOf(container: Json, environment: PodEnvironment, folders: Folders): Result<readonly string[], string> {
  const given = listOf(container, "args").map(String);
  if (given[0] !== COMMAND) return err(`args[0]: must be ${COMMAND}, the command that a process of the fleet can run`);
  if (given.length > MAX_ARGS) return err(`args: there are ${given.length}; the limit is ${MAX_ARGS}`);
  const args: string[] = [];
  for (const [index, text] of given.entries()) {
    const argument = argumentOf(text, environment, folders);
    if (!argument.ok) return err(`args[${index}]: ${argument.error}`);
    args.push(argument.value);
  }
  return ok(withLoopbackAddresses(args));
}

function argumentOf(text: string, { variables, secret }: PodEnvironment, folders: Folders): Result<string, string> {
  const visible = referencesIn(text).find((name) => secret.has(name));
  if (visible !== undefined)
    return err(`$(${visible}) is the value of a Secret, which every user of this machine could read in the list of processes`);
  const expanded = expandVariables(text, variables);
  if (!expanded.ok) return expanded;
  if (expanded.value.includes("\0")) return err("contains a NUL character");
  const [flag, path] = splitFlag(expanded.value);
  if (REFUSED_FLAGS.some((refused) => refused === flag))
    return err(`${flag}: the operator gets the kubeconfig of its ServiceAccount; remove the flag`);
  if (path === undefined) return expanded;
  const placed = placePath(path, folders);
  return placed.ok ? ok(flag === "" ? placed.value : `${flag}=${placed.value}`) : placed;
}

/** `--flag=/path` and `/path`; the path is absent when the value is none. */
function splitFlag(argument: string): readonly [string, string | undefined] {
  const equals = argument.startsWith("-") ? argument.indexOf("=") : -1;
  const [flag, value] = argument.startsWith("-")
    ? [equals < 0 ? argument : argument.slice(0, equals), equals < 0 ? "" : argument.slice(equals + 1)]
    : ["", argument];
  return [flag, value.startsWith("/") || value.split("/").includes("..") ? value : undefined];
}

function placePath(path: string, { mounts, volumesFolder }: Folders): Result<string, string> {
  const whole = posix.normalize(path);
  const mount = [...mounts].filter(([mountPath]) => `${whole}/`.startsWith(mountPath)).toSorted(([a], [b]) => b.length - a.length)[0];
  if (mount === undefined) return err(`${path} is not below a mount of an emptyDir volume; the process has no other folders`);
  return ok(join(volumesFolder, mount[1], whole.slice(mount[0].length)));
}
