/** A server in this process, and functions that send requests to it. Only for tests. */
import { FakeClock, seededRandom } from "#base";
import type { Json } from "#kube";
import { rbacOf } from "../auth/index.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { builtinKinds } from "../kinds.ts";
import type { ResourceType } from "../resource-type.ts";
import { createApiServer, type ApiServer, type ApiServerOptions } from "./api-server.ts";
import type { ApiResponse, User } from "../protocol/request.ts";
import { configMaps, namespaces, things } from "./types.test-support.ts";

export type TestRequest = {
  readonly body?: Json | string | undefined;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Default: an administrator. */
  readonly user?: User;
};

const ADMIN: User = { name: "admin", uid: "", groups: ["system:masters"] };

export type TestResponse = { readonly status: number; readonly body: Json; readonly response: ApiResponse };

export type TestServer = {
  readonly server: ApiServer;
  readonly clock: FakeClock;
  readonly ask: (method: string, url: string, request?: TestRequest) => Promise<TestResponse>;
};

export function testServer(
  types: readonly ResourceType[] = [namespaces, configMaps, things],
  more: Partial<ApiServerOptions> = {},
): TestServer {
  const clock = new FakeClock();
  const server = createApiServer({ store: createMemoryStore(), types, clock, random: seededRandom(7), ...more });
  const ask = async (
    method: string,
    url: string,
    { body, type, headers = {}, signal, user = ADMIN }: TestRequest = {},
  ): Promise<TestResponse> => {
    const mark = url.indexOf("?");
    const response = await server.handle(
      {
        method,
        path: mark < 0 ? url : url.slice(0, mark),
        query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
        headers: {
          "user-agent": "test/1",
          accept: "application/json",
          ...(type === undefined ? {} : { "content-type": type }),
          ...headers,
        },
        body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
        user,
      },
      signal ?? new AbortController().signal,
    );
    return { status: response.status, body: bodyOf(response), response };
  };
  return { server, clock, ask };
}

/** A server with all built-in kinds. */
export function realServer(more: Partial<ApiServerOptions> = {}): TestServer {
  const store = createMemoryStore();
  return testServer(builtinKinds(store), { store, ...more });
}

/** A server with all built-in kinds and RBAC. */
export function guardedServer(): TestServer {
  const store = createMemoryStore();
  return testServer(builtinKinds(store), { store, authorize: rbacOf(store).authorize });
}

function bodyOf({ body }: ApiResponse): Json {
  if (body.kind === "json") return JSON.parse(JSON.stringify(body.value)) as Json;
  return body.kind === "text" ? body.text : null;
}
