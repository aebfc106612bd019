/**
 * What a contract does with a server. Each contract has a namespace of its own, already there, and an id for names that the whole cluster
 * shares: all contracts run on one server, side by side, in any order.
 *
 * Paths: `configmaps/a` and `apps/v1/deployments/web/scale` lie in the contract's namespace; with a leading "/" they are taken as they are.
 * What was created under such a path is deleted when the contract is over.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { Answer } from "./answer.ts";
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

/** What the callers of one contract share: what is to be cleaned up. */
type Traces = { readonly made: string[]; readonly open: { end: () => void }[] };

const PATCHES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The garbage collector of a real controller manager looks for new kinds every 30 s. */
const PATIENCE_MS = 75_000;
const LOOK_EVERY_MS = 25;

export class Api {
  readonly id: string;
  readonly #world: World;
  readonly #credentials: Headers;
  readonly #traces: Traces;

  constructor(world: World, id: string, credentials?: Headers, traces?: Traces) {
    this.id = id;
    this.#world = world;
    this.#credentials = credentials ?? { authorization: `Bearer ${world.adminToken}` };
    this.#traces = traces ?? { made: [], open: [] };
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

  async send(method: Method, path: string, body?: Body, headers: Headers = {}): Promise<Answer> {
    const request = this.#request(method, path, body, headers);
    const answer = new Answer(request, await this.#world.connection.send(request));
    if (method === "POST" && answer.status === 201 && path.startsWith("/")) this.#remember(path, answer);
    return answer;
  }

  get = (path: string, headers?: Headers): Promise<Answer> => this.send("GET", path, undefined, headers);
  post = (path: string, body: Body, headers?: Headers): Promise<Answer> => this.send("POST", path, body, headers);
  put = (path: string, body: Body, headers?: Headers): Promise<Answer> => this.send("PUT", path, body, headers);
  delete = (path: string, body?: Body, headers?: Headers): Promise<Answer> => this.send("DELETE", path, body, headers);

  jsonPatch = (path: string, operations: Body): Promise<Answer> => this.#patch("json", path, operations);
  mergePatch = (path: string, patch: Body): Promise<Answer> => this.#patch("merge", path, patch);
  strategicPatch = (path: string, patch: Body): Promise<Answer> => this.#patch("strategic", path, patch);

  /** Server-side apply. `manager` may carry more of the query: `one&force=true`. */
  apply(manager: string, path: string, object: Body): Promise<Answer> {
    return this.#patch("apply", `${path}${path.includes("?") ? "&" : "?"}fieldManager=${manager}`, object);
  }

  /** A POST that must work; the answer. */
  async created(path: string, body: Body): Promise<Answer> {
    return (await this.post(path, body)).gives(201);
  }

  async watch(path: string): Promise<Watch> {
    const request = this.#request("GET", path, undefined, {});
    const watch = new Watch(await this.#world.connection.stream(request));
    this.#traces.open.push(watch);
    return watch;
  }

  /** Asks again until the answer is as wanted: a real server notices definitions, roles and hooks a moment after they are written. */
  async until(ask: () => Promise<Answer>, isThere: (answer: Answer) => boolean): Promise<Answer> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask();
      if (isThere(answer) || performance.now() > deadline) {
        expect(isThere(answer), `not within ${PATIENCE_MS / 1_000} s; the last answer: ${answer.status} ${answer.text.slice(0, 500)}`).toBe(
          true,
        );
        return answer;
      }
      await delay(LOOK_EVERY_MS);
    }
  }

  /** As somebody else, by impersonation. */
  as(user: string, ...groups: readonly string[]): Api {
    return this.#with({ ...this.#credentials, "impersonate-user": user, ...(groups.length > 0 ? { "impersonate-group": groups } : {}) });
  }

  withToken(token: string): Api {
    return this.#with({ authorization: `Bearer ${token}` });
  }

  withoutToken(): Api {
    return this.#with({});
  }

  /** A webhook for this contract; what it answers is up to `reply`, what it was asked stands in its `calls`. */
  hook(reply: (review: Review) => unknown): Hook {
    const hook = this.#world.hooks.add(reply);
    this.#traces.open.push(hook);
    return hook;
  }

  /** Called when the contract is over, however it ended. */
  async close(): Promise<void> {
    for (const one of this.#traces.open) one.end();
    for (const path of this.#traces.made.toReversed()) await this.send("DELETE", path);
  }

  #with(headers: Headers): Api {
    return new Api(this.#world, this.id, headers, this.#traces);
  }

  #patch(type: keyof typeof PATCHES, path: string, body: Body): Promise<Answer> {
    return this.send("PATCH", path, body, { "content-type": PATCHES[type] });
  }

  #request(method: Method, path: string, body: Body, headers: Headers): Request {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const type = text === undefined ? {} : { "content-type": "application/json" };
    return { method, path: this.path(path), headers: { ...this.#credentials, ...type, ...headers }, body: text };
  }

  #remember(path: string, answer: Answer): void {
    const [collection = ""] = path.split("?");
    const name = answer.textAt("metadata.name");
    // its own namespace stays: a real controller manager takes a second to empty each, and would have no time for what contracts wait for
    if (name !== "" && name !== this.namespace && !path.includes("dryRun")) this.#traces.made.push(`${collection}/${name}`);
  }
}
