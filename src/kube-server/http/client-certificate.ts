/**
 * The user of a client certificate: its common name, in the groups that are its organisations.
 *
 * The certificate belongs to the connection, so it is read once per connection. OpenSSL verifies it then; whether it has expired since is
 * checked with every request.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { err, memoizeByObject, ok, type Result } from "#base";
import type { HttpRequest } from "#listener";
import { authenticated, EXTRA } from "../auth/users.ts";
import type { User } from "../protocol/request.ts";

type Read = { readonly user: User | undefined; readonly valid: boolean; readonly notAfter: number };

const NONE: Read = { user: undefined, valid: true, notAfter: Number.POSITIVE_INFINITY };

/** `undefined`: no certificate, or one without a name. An error: an invalid one. */
export function certificateUser(request: HttpRequest, now: number): Result<User, undefined> | undefined {
  const socket = "stream" in request ? request.stream.session?.socket : request.socket;
  if (!isTls(socket)) return undefined;
  const read = readPeer(socket);
  if (!read.valid || read.notAfter < now) return err(undefined);
  return read.user === undefined ? undefined : ok(read.user);
}

/** HTTP/2 returns a proxy of its socket, which is an instance of no class; its properties can only be read. */
function isTls(socket: Socket | undefined): socket is TLSSocket {
  return socket !== undefined && typeof (socket as Partial<TLSSocket>).getPeerCertificate === "function";
}

const readPeer = memoizeByObject((socket: TLSSocket): Read => {
  const certificate = socket.getPeerCertificate();
  if (certificate === null || Object.keys(certificate).length === 0) return NONE;
  const notAfter = Date.parse(certificate.valid_to);
  if (!socket.authorized) return { user: undefined, valid: false, notAfter };
  const { CN, O } = certificate.subject as { readonly CN?: string | readonly string[]; readonly O?: string | readonly string[] };
  const name = listOf(CN).at(-1) ?? "";
  if (name === "") return NONE;
  const id = `X509SHA256=${certificate.fingerprint256.replaceAll(":", "").toLowerCase()}`;
  const user = authenticated({ name, uid: "", groups: listOf(O), extra: new Map([[EXTRA.credential, [id]]]) });
  return { user, valid: true, notAfter };
});

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
