/**
 * The log files of a container, as a kubelet names them: `pods/NAMESPACE_NAME_UID/CONTAINER/N.log`, where N counts the starts from 0.
 *
 * The number of the newest file is the restart count of the container: it survives the process that counts.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fromThrowing } from "#base";
import type { ObjectMeta } from "#kube";

export function podLogFolder(logs: string, { namespace = "", name, uid = "" }: Pick<ObjectMeta, "namespace" | "name" | "uid">): string {
  return join(logs, "pods", [namespace, name, uid].map(fileName).join("_"));
}

export function containerLogFolder(podFolder: string, container: string): string {
  return join(podFolder, fileName(container));
}

/** Valid names stay as they are; others cannot leave the folder. */
function fileName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9.-]/g, "_").replace(/^\.+/, "_");
}

/** The newest log, or the one before it. */
export function findContainerLog(folder: string, { previous }: { readonly previous: boolean }): string | undefined {
  const number = logNumbers(folder).at(previous ? -2 : -1);
  return number === undefined ? undefined : logPath(folder, number);
}

export function logPath(folder: string, number: number): string {
  return join(folder, `${number}.log`);
}

/** The number of the next log. All but the newest one are deleted: it is the log of the previous container now. */
export function nextLogNumber(folder: string): number {
  const numbers = logNumbers(folder);
  for (const number of numbers.slice(0, -1)) {
    for (const path of [logPath(folder, number), rotatedPath(logPath(folder, number))])
      fromThrowing(() => rmSync(path, { force: true }), String);
  }
  return (numbers.at(-1) ?? -1) + 1;
}

/** The part of a log that was moved away because the file was too long. */
export function rotatedPath(path: string): string {
  return `${path}.1`;
}

/** In ascending order. */
function logNumbers(folder: string): readonly number[] {
  const names = fromThrowing(() => readdirSync(folder), String);
  if (!names.ok) return [];
  return names.value
    .flatMap((name) => /^([0-9]{1,9})\.log$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}
