/**
 * The client of a contract. Each contract has its own existing namespace, and an id for names of cluster-scoped objects: all contracts run on
 * one server, concurrently, in any order.
 *
 * Paths: `configmaps/a` and `apps/v1/deployments/web/scale` are in the contract's namespace; paths with a leading "/" are used as they are, and
 * objects created there are deleted when the contract ends.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { ApiResponse } from "./api-response.ts";
import type { Connection, Method, Request } from "./exchange.ts";
import { Watch } from "./watch.ts";
import type { Hook, HookHost, Review } from "./hook-host.ts";

export type Headers = Readonly<Record<string, string | readonly string[]>>;
export type Body = string | object | undefined;

export type World = {
  readonly connection: Connection;
  readonly adminToken: string;
  readonly hooks: HookHost;
};

/** Shared by the users of one contract: what must be cleaned up. */
type Cleanup = { readonly made: string[]; readonly open: { end: () => void }[] };

const PATCHES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The garbage collector of a real controller manager discovers new kinds every 30 s. */
const TIME_LIMIT_MS = 75_000;
const RETRY_INTERVAL_MS = 25;

export class Api {
  readonly id: string;
  readonly #world: World;
  readonly #credentials: Headers;
  readonly #cleanup: Cleanup;

  constructor(world: World, id: string, credentials?: Headers, cleanup?: Cleanup) {
    this.id = id;
    this.#world = world;
    this.#credentials = credentials ?? { authorization: `Bearer ${world.adminToken}` };
    this.#cleanup = cleanup ?? { made: [], open: [] };
  }

  get namespace(): string {
    return `contract-${this.id}`;
  }

  path(path: string): string {
    if (path.startsWith("/")) return path;
    const grouped = /^([^/?]+\/v\d[^/]*)\/(.*)$/s.exec(path);
    const [base, rest] = grouped === null ? ["/api/v1", path] : [`/apis/${grouped[1]}`, grouped[2]];
    return `${base}/namespaces/${this.namespace}/${rest}`;
  }

  async send(method: Method, path: string, body?: Body, headers: Headers = {}): Promise<ApiResponse> {
    const request = this.#request(method, path, body, headers);
    const answer = new ApiResponse(request, await this.#world.connection.send(request));
    if (method === "POST" && answer.status === 201 && path.startsWith("/")) this.#remember(path, answer);
    return answer;
  }

  get = (path: string, headers?: Headers): Promise<ApiResponse> => this.send("GET", path, undefined, headers);
  post = (path: string, body: Body, headers?: Headers): Promise<ApiResponse> => this.send("POST", path, body, headers);
  put = (path: string, body: Body, headers?: Headers): Promise<ApiResponse> => this.send("PUT", path, body, headers);
  delete = (path: string, body?: Body, headers?: Headers): Promise<ApiResponse> => this.send("DELETE", path, body, headers);

  jsonPatch = (path: string, operations: Body): Promise<ApiResponse> => this.#patch("json", path, operations);
  mergePatch = (path: string, patch: Body): Promise<ApiResponse> => this.#patch("merge", path, patch);
  strategicPatch = (path: string, patch: Body): Promise<ApiResponse> => this.#patch("strategic", path, patch);

  /** Server-side apply. `manager` may have further query parameters: `one&force=true`. */
  apply(manager: string, path: string, object: Body): Promise<ApiResponse> {
    return this.#patch("apply", `${path}${path.includes("?") ? "&" : "?"}fieldManager=${manager}`, object);
  }

  /** The response of a POST that must succeed. */
  async created(path: string, body: Body): Promise<ApiResponse> {
    return (await this.post(path, body)).gives(201);
  }

  async watch(path: string): Promise<Watch> {
    const request = this.#request("GET", path, undefined, {});
    const watch = new Watch(await this.#world.connection.stream(request));
    this.#cleanup.open.push(watch);
    return watch;
  }

  /** Retries until the response matches: a real server reads definitions, roles and hooks with a delay. */
  async until(ask: () => Promise<ApiResponse>, isThere: (answer: ApiResponse) => boolean): Promise<ApiResponse> {
    const deadline = performance.now() + TIME_LIMIT_MS;
    for (;;) {
      const answer = await ask();
      if (isThere(answer) || performance.now() > deadline) {
        expect(
          isThere(answer),
          `not within ${TIME_LIMIT_MS / 1_000} s; the last answer: ${answer.status} ${answer.text.slice(0, 500)}`,
        ).toBe(true);
        return answer;
      }
      await delay(RETRY_INTERVAL_MS);
    }
  }

  /** Impersonates another user. */
  as(user: string, ...groups: readonly string[]): Api {
    return this.#with({ ...this.#credentials, "impersonate-user": user, ...(groups.length > 0 ? { "impersonate-group": groups } : {}) });
  }

  withToken(token: string): Api {
    return this.#with({ authorization: `Bearer ${token}` });
  }

  withoutToken(): Api {
    return this.#with({});
  }

  /** A webhook for this contract; `reply` returns its response, its `calls` has the requests. */
  hook(reply: (review: Review) => unknown): Hook {
    const hook = this.#world.hooks.add(reply);
    this.#cleanup.open.push(hook);
    return hook;
  }

  /** Called when the contract has ended, also after a failure. */
  async close(): Promise<void> {
    for (const one of this.#cleanup.open) one.end();
    for (const path of this.#cleanup.made.toReversed()) await this.send("DELETE", path);
  }

  #with(headers: Headers): Api {
    return new Api(this.#world, this.id, headers, this.#cleanup);
  }

  #patch(type: keyof typeof PATCHES, path: string, body: Body): Promise<ApiResponse> {
    return this.send("PATCH", path, body, { "content-type": PATCHES[type] });
  }

  #request(method: Method, path: string, body: Body, headers: Headers): Request {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const type = text === undefined ? {} : { "content-type": "application/json" };
    return { method, path: this.path(path), headers: { ...this.#credentials, ...type, ...headers }, body: text };
  }

  #remember(path: string, answer: ApiResponse): void {
    const [collection = ""] = path.split("?");
    const name = answer.textAt("metadata.name");
    // the namespace is kept: a real controller manager takes a second to delete its content, which would delay other contracts
    if (name !== "" && name !== this.namespace && !path.includes("dryRun")) this.#cleanup.made.push(`${collection}/${name}`);
  }
}
