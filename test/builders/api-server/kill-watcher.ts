/**
 * One watcher of the load: it lists, watches, and resumes with its last version after the server was killed. Its view must always equal
 * the list plus the events, and versions must only increase, over any number of kills.
 */
import { expectOk } from "#base";
import { fieldAt, jsonEqual, parseJson, type JsonObject } from "#kube";
import { IN_DOUBT, type Exchange } from "./exchange.ts";
import { collectionPath, isWhole, type LoadKind, metaText } from "./kill-kinds.ts";

const GONE = 410;

export class KillWatcher {
  readonly kind: LoadKind;
  readonly view = new Map<string, JsonObject>();
  readonly wrong: string[] = [];
  /** How often the events that this watcher missed had expired. */
  relists = 0;
  resumed = 0;
  events = 0;
  #version = 0;
  readonly #selector: string;
  #moved: () => void = () => {};

  constructor(kind: LoadKind) {
    this.kind = kind;
    this.#selector = "labelSelector=load%3Dyes";
  }

  /** Runs until the server or the signal ends the stream. */
  async run(exchange: Exchange, signal: AbortSignal): Promise<void> {
    if (this.#version === 0) await this.#list(exchange);
    else this.resumed += 1;
    while (this.#version > 0) {
      const path = `${collectionPath(this.kind, true)}?watch=1&allowWatchBookmarks=true&resourceVersion=${this.#version}&${this.#selector}`;
      let forgotten = false;
      for await (const line of exchange.lines(path, signal)) forgotten = this.#take(expectOk(parseJson(line)) as JsonObject) || forgotten;
      if (!forgotten) return;
      this.relists += 1;
      await this.#list(exchange);
    }
  }

  /** Resolves when this watcher has seen that version of the collection. */
  async reached(version: number): Promise<void> {
    while (this.#version < version) {
      await new Promise<void>((resolve) => {
        this.#moved = resolve;
      });
    }
  }

  async #list(exchange: Exchange): Promise<void> {
    const response = await exchange.request({ method: "GET", path: `${collectionPath(this.kind, true)}?${this.#selector}` });
    if (response === IN_DOUBT) return;
    this.#advance(Number(fieldAt(response.body, "metadata", "resourceVersion")), "the list", true);
    const items = response.body["items"] as readonly JsonObject[];
    this.view.clear();
    for (const item of items) this.#show(item);
  }

  #take({ type, object }: JsonObject): boolean {
    if (type === "ERROR") {
      if (fieldAt(object, "code") !== GONE) this.wrong.push(`${this.kind.plural}: ${JSON.stringify(object)}`);
      return true;
    }
    const shown = object as JsonObject;
    const version = Number(fieldAt(shown, "metadata", "resourceVersion"));
    const what = typeof type === "string" ? type : "";
    if (what !== "BOOKMARK") this.#follow(what, shown);
    this.#advance(version, `${what} ${metaText(shown, "name")}`, what === "BOOKMARK");
    return false;
  }

  #follow(type: string, object: JsonObject): void {
    this.events += 1;
    const name = metaText(object, "name");
    const before = this.view.get(name);
    if ((type === "ADDED") !== (before === undefined))
      this.wrong.push(`${name}: ${type}, and ${before === undefined ? "not seen" : "seen"} before`);
    if (before !== undefined && fieldAt(before, "metadata", "uid") !== fieldAt(object, "metadata", "uid"))
      this.wrong.push(`${name}: another uid without a deletion`);
    if (type === "DELETED") this.view.delete(name);
    else this.#show(object);
  }

  #show(object: JsonObject): void {
    const name = metaText(object, "name");
    if (!isWhole(this.kind, object)) this.wrong.push(`${name}: not whole`);
    this.view.set(name, object);
  }

  #advance(version: number, what: string, mayStand: boolean): void {
    if (version < this.#version || (version === this.#version && !mayStand))
      this.wrong.push(`${what}: the version went from ${this.#version} to ${version}`);
    this.#version = Math.max(version, this.#version);
    this.#moved();
  }
}

/** Lists leave kind and apiVersion out of their items. */
export function sameObject(a: JsonObject | undefined, b: JsonObject | undefined): boolean {
  const bare = (object: JsonObject | undefined) =>
    object === undefined ? undefined : { ...object, kind: undefined, apiVersion: undefined };
  return jsonEqual(bare(a), bare(b));
}
