/** `--bind`: the address of this machine to listen on. */
import { isIP } from "node:net";
import { err, ok, type Result } from "#base";

export const LOOPBACK = "127.0.0.1";

/** Clients on other machines may reach it. */
export function isPublic(address: string): boolean {
  return !address.startsWith("127.") && address !== "::1";
}

export function parseBind(address: string, { http }: { readonly http: boolean }): Result<string, string> {
  if (isIP(address) === 0) return err(`--bind: "${address}" is not an IP address; write 127.0.0.1, an address of this machine, or 0.0.0.0`);
  if (http && isPublic(address)) return err(`--bind ${address}: plain HTTP is for loopback only; leave out --http`);
  return ok(address);
}
