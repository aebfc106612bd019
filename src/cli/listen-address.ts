/** "127.0.0.1:8080", "[::1]:0": where to listen. */
import { err, ok, type Result } from "#base";

export type ListenAddress = { readonly host: string; readonly port: number };

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]+)):([0-9]{1,5})$/;

export function parseListenAddress(raw: string): Result<ListenAddress, string> {
  const parts = ADDRESS.exec(raw);
  const port = Number(parts?.[3]);
  const host = parts?.[1] ?? parts?.[2];
  if (host === undefined || !(port <= 65_535)) return err(`"${raw}" is not an address; write it as 127.0.0.1:8080 or [::1]:8080`);
  return ok({ host, port });
}
