/**
 * The environment of a machine's process and of its commands: names of an allow-list, and what the tools of the machine need. The only programs
 * besides kubeadm, kubectl and curl are those of the system.
 */
import { join } from "node:path";
import { ROOT_VARIABLE } from "./re-root.ts";

export const SOCKET_VARIABLE = "LATTICE_FLEET_SOCKET";
export const TOKEN_VARIABLE = "LATTICE_MACHINE_TOKEN";
/** The process of the machine. Its commands end when that has ended. */
export const PROCESS_VARIABLE = "LATTICE_MACHINE_PID";

const PASSED = /^(?:LANG|LC_[A-Z]+|TZ|LATTICE_CACHE|NODE_COMPILE_CACHE)$/;
const OWN: readonly string[] = ["PATH", "HOME", "TMPDIR", ROOT_VARIABLE, SOCKET_VARIABLE, TOKEN_VARIABLE];

export type MachineEnvironment = { readonly folder: string; readonly socket: string; readonly token: string };

export function machineEnvironment(
  env: Readonly<Record<string, string>>,
  { folder, socket, token }: MachineEnvironment,
): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => PASSED.test(name))),
    PATH: `${join(folder, "bin")}:/usr/bin:/bin`,
    HOME: folder,
    TMPDIR: join(folder, "tmp"),
    [ROOT_VARIABLE]: folder,
    [SOCKET_VARIABLE]: socket,
    [TOKEN_VARIABLE]: token,
  };
}

/** Of the machine's process, for its commands. */
export function commandEnvironment(env: Readonly<Record<string, string | undefined>>, pid: number): Readonly<Record<string, string>> {
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && (PASSED.test(entry[0]) || OWN.includes(entry[0])),
  );
  return { ...Object.fromEntries(passed), [PROCESS_VARIABLE]: String(pid) };
}
