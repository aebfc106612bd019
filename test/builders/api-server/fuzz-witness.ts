/**
 * A well-behaved client beside the hostile ones, in its own namespace. The server must have exactly the objects that it acknowledged to this
 * client, and a watch must have delivered the same.
 *
 * Policies and webhooks that fuzzing created may reject or change its writes; the response is what counts.
 */
import { expectOk } from "#base";
import { fieldAt, jsonEqual, parseJson, type Json, type JsonObject } from "#kube";
import type { ApiServer } from "#kube-server";
import { sendFuzzed, MASTER } from "./fuzz-in-process.ts";
import { metaText } from "./kill-kinds.ts";
import { chance, type Random } from "./fuzz-values.ts";

/** Its namespace; fuzz-tidy.ts leaves it alone. */
export const WITNESS = "witness";
const NAMES = 20;

/** Policies and webhooks of the fuzzer match ConfigMaps, and do not match the other kind. */
export const WITNESSED = [
  { path: `/api/v1/namespaces/${WITNESS}/configmaps`, type: { apiVersion: "v1", kind: "ConfigMap" } },
  {
    path: `/apis/storage.k8s.io/v1/namespaces/${WITNESS}/csistoragecapacities`,
    type: { apiVersion: "storage.k8s.io/v1", kind: "CSIStorageCapacity", storageClassName: "a" },
  },
] as const;

type Witnessed = (typeof WITNESSED)[number];

export class FuzzWitness {
  readonly #server: ApiServer;
  readonly #kind: Witnessed;
  readonly #acknowledged = new Map<string, Json>();
  readonly #seen = new Map<string, Json>();
  readonly #leaving = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #version = "";
  #writes = 0;

  constructor(server: ApiServer, kind: Witnessed) {
    this.#server = server;
    this.#kind = kind;
  }

  get writes(): number {
    return this.#writes;
  }

  async start(): Promise<void> {
    await this.#send("POST", "/api/v1/namespaces", { metadata: { name: WITNESS } });
    this.#watching = this.#watch();
  }

  async write(random: Random): Promise<void> {
    const { path, type } = this.#kind;
    const name = `w-${Math.floor(random() * NAMES)}`;
    const labels = { app: "a", tier: chance(random, 0.05) ? "b" : "c" };
    const object = { ...type, metadata: { name, labels, annotations: { number: String(this.#writes) } } };
    if (!this.#acknowledged.has(name)) return this.#note(name, await this.#send("POST", path, object));
    if (chance(random, 0.2)) return this.#note(name, await this.#send("DELETE", `${path}/${name}`), true);
    this.#note(name, await this.#send("PUT", `${path}/${name}`, object));
  }

  /** The differences between the acknowledged objects, the list and the events of the watch. */
  async differences(): Promise<readonly string[]> {
    const { text } = await sendFuzzed(this.#server, { method: "GET", url: this.#kind.path, headers: {}, body: undefined });
    const items = fieldAt(expectOk(parseJson(text)), "items") as readonly JsonObject[];
    const there = new Map(items.map((item) => [metaText(item, "name"), bare(item)]));
    await new Promise((resolve) => setImmediate(resolve)); // the last event is delivered in the next turn
    return [...different("the list", there, this.#acknowledged), ...different("the watch", this.#seen, this.#acknowledged)];
  }

  async close(): Promise<void> {
    this.#leaving.abort();
    await this.#watching;
  }

  #note(name: string, answer: { readonly status: number | undefined; readonly text: string }, gone = false): void {
    if (answer.status !== 200 && answer.status !== 201) return;
    this.#writes += 1;
    if (gone) this.#acknowledged.delete(name);
    else this.#acknowledged.set(name, bare(expectOk(parseJson(answer.text)) as JsonObject));
  }

  /** The server ends a watch after half an hour or more, and an hour of the world takes three minutes: the watch resumes from the last version. */
  async #watch(): Promise<void> {
    while (!this.#leaving.signal.aborted) {
      const query = new URLSearchParams({ watch: "1", ...(this.#version === "" ? {} : { resourceVersion: this.#version }) });
      const asked = { method: "GET", path: this.#kind.path, query, headers: {}, user: MASTER };
      const { body } = await this.#server.handle(asked, this.#leaving.signal);
      if (body.kind !== "stream") throw new Error("the watch of the witness was rejected");
      for await (const chunk of body.chunks)
        for (const line of chunk.trimEnd().split("\n")) this.#take(expectOk(parseJson(line)) as JsonObject);
    }
  }

  #take({ type, object = null }: JsonObject): void {
    if (type === "ERROR") {
      // the version has expired: start again from a list
      this.#seen.clear();
      this.#version = "";
      return;
    }
    this.#version = metaText(object, "resourceVersion");
    const name = metaText(object, "name");
    if (type === "DELETED") this.#seen.delete(name);
    else this.#seen.set(name, bare(object as JsonObject));
  }

  #send(method: string, url: string, body?: Json) {
    const headers = { "content-type": "application/json" };
    return sendFuzzed(this.#server, { method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  }
}

/** Lists leave kind and apiVersion out of their items. */
function bare({ kind: _kind, apiVersion: _version, ...object }: JsonObject): Json {
  return object;
}

function different(what: string, found: ReadonlyMap<string, Json>, wanted: ReadonlyMap<string, Json>): readonly string[] {
  return [...new Set([...found.keys(), ...wanted.keys()])]
    .filter((name) => name !== "kube-root-ca.crt" && !jsonEqual(found.get(name), wanted.get(name)))
    .map((name) => `${what} has ${JSON.stringify(found.get(name))} for ${name}, acknowledged was ${JSON.stringify(wanted.get(name))}`);
}
