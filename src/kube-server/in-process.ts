/** The server as a transport of #kube-client: the same client code, no socket. */
import { ok, type Clock, type Logger, type Result } from "#base";
import { createKubeClient, inProcessTransport, type InProcessHandler, type KubeClient, type KubeError, type TransportAnswer } from "#kube-client";
import type { ApiServer } from "./rest/api-server.ts";
import type { ApiBody, User } from "./rest/request.ts";

export type InProcessOptions = { readonly user?: User; readonly clock: Clock; readonly random: () => number; readonly logger: Logger };

const ADMIN: User = { name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] };

export function inProcessClient(server: ApiServer, { user = ADMIN, clock, random, logger }: InProcessOptions): KubeClient {
  return createKubeClient({ transport: inProcessTransport(handlerOf(server, user)), clock, random, logger });
}

function handlerOf(server: ApiServer, user: User): InProcessHandler {
  return async ({ method, path, headers, body }, signal): Promise<TransportAnswer> => {
    const mark = path.indexOf("?");
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answered = await server.handle(
      {
        method,
        path: mark < 0 ? path : path.slice(0, mark),
        query: new URLSearchParams(mark < 0 ? "" : path.slice(mark + 1)),
        headers: lower,
        body,
        user,
      },
      signal,
    );
    return { code: answered.status, headers: answered.headers, body: bytesOf(answered.body) };
  };
}

const encoder = new TextEncoder();

async function* bytesOf(body: ApiBody): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  if (body.kind === "json") yield ok(encoder.encode(JSON.stringify(body.value)));
  else if (body.kind === "text") yield ok(encoder.encode(body.text));
  else if (body.kind === "stream") for await (const chunk of body.chunks) yield ok(encoder.encode(chunk));
}
