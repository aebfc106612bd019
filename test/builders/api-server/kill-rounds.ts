/**
 * Rounds of: start the server on a folder, look whether all is there, write and watch through HTTP, kill -9 at some moment. The folder and
 * the watchers live through all rounds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "#base";
import { fieldAt, type JsonObject } from "#kube";
import { CountedObject } from "./kill-counter.ts";
import { Exchange, IN_DOUBT } from "./exchange.ts";
import { collectionPath, isWhole, LOAD_KINDS, loadObject, type LoadKind, metaText } from "./kill-kinds.ts";
import { KillWatcher, sameObject } from "./kill-watcher.ts";
import { KillWriter, type Known } from "./kill-writer.ts";
import { ServerProcess } from "./server-process.ts";

const WRITERS = 6;
/** What a server may say after a kill: that it mended what the kill has left. */
const EXPECTED = /^(warn: (took over the folder|cut off what was no whole record)|$)/;

export type KillReport = {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly survivedUnacknowledged: number;
  readonly killedWhileStarting: number;
  readonly watchEvents: number;
  readonly resumed: number;
  readonly relists: number;
  /** What must not be; empty when all is well. */
  readonly wrong: readonly string[];
};

export async function killServerRounds({ seed, rounds }: { readonly seed: number; readonly rounds: number }): Promise<KillReport> {
  const home = mkdtempSync(join(tmpdir(), "lattice-kill-server-"));
  try {
    const story = new Story(home, seed);
    for (let round = 1; round <= rounds; round += 1) await story.round(round);
    await story.lastLook(rounds + 1);
    return story.report(rounds);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

class Story {
  readonly #home: string;
  readonly #random: () => number;
  readonly #writers: readonly KillWriter[];
  readonly #watchers = LOAD_KINDS.map((kind) => new KillWatcher(kind));
  readonly #counter: CountedObject;
  readonly #uids = new Map<string, string>();
  readonly #wrong: string[] = [];
  #killedWhileStarting = 0;
  #survived = 0;

  constructor(home: string, seed: number) {
    this.#home = home;
    this.#random = seededRandom(seed);
    this.#writers = Array.from({ length: WRITERS }, (_, id) => new KillWriter(id, seededRandom(seed * 1_000 + id)));
    this.#counter = new CountedObject();
  }

  async round(round: number): Promise<void> {
    await this.#alive(round, async (exchange, server) => {
      const load = [...this.#writers.map((writer) => writer.run(exchange)), ...[1, 2, 3].map(() => this.#counter.count(exchange))];
      const enough = this.#acknowledged() + Math.floor(this.#random() ** 2 * 150);
      while (server.alive && this.#acknowledged() < enough) await wait(1);
      await wait(this.#random() * 5);
      await server.kill();
      await Promise.all(load);
    });
  }

  async lastLook(round: number): Promise<void> {
    await this.#alive(round, (_, server) => server.kill());
  }

  report(rounds: number): KillReport {
    const sum = (of: (watcher: KillWatcher) => number) => this.#watchers.reduce((total, watcher) => total + of(watcher), 0);
    const parts = [...this.#writers, ...this.#watchers, this.#counter];
    return {
      rounds,
      acknowledged: this.#acknowledged(),
      survivedUnacknowledged: this.#survived,
      killedWhileStarting: this.#killedWhileStarting,
      watchEvents: sum(({ events }) => events),
      resumed: sum(({ resumed }) => resumed),
      relists: sum(({ relists }) => relists),
      wrong: [...this.#wrong, ...parts.flatMap(({ wrong }) => wrong)],
    };
  }

  #acknowledged(): number {
    return this.#writers.reduce((total, writer) => total + writer.acknowledged, 0) + this.#counter.acknowledged;
  }

  /** Sometimes it is killed while it reads the folder, and has to be started once more. `act` leaves it dead. */
  async #alive(round: number, act: (exchange: Exchange, server: ServerProcess) => Promise<void>): Promise<void> {
    if (this.#random() < 0.15) await this.#killWhileStarting();
    const server = new ServerProcess(this.#home);
    const stopped = new AbortController();
    try {
      const url = await server.url();
      if (url === undefined) throw new Error(`round ${round}: the server did not start: ${server.complaints}`);
      const exchange = new Exchange(url);
      const watching = this.#watchers.map((watcher) => watcher.run(exchange, stopped.signal));
      await this.#look(round, exchange);
      await act(exchange, server);
      await Promise.all(watching);
      exchange.close();
    } finally {
      stopped.abort();
      await server.kill();
    }
    for (const line of server.complaints.split("\n")) if (!EXPECTED.test(line)) this.#wrong.push(`round ${round}: the server said ${line}`);
  }

  async #killWhileStarting(): Promise<void> {
    this.#killedWhileStarting += 1;
    const server = new ServerProcess(this.#home);
    await wait(this.#random() * 700);
    await server.kill();
  }

  /** A new object in every collection is the end of what happened before: a watcher that has it must have everything. */
  async #look(round: number, exchange: Exchange): Promise<void> {
    for (const watcher of this.#watchers) {
      const { kind } = watcher;
      const mark = loadObject(kind, `mark-${round}`, { number: round, text: "mark" });
      const marked = await exchange.ask({ method: "POST", path: collectionPath(kind), body: mark });
      if (marked === IN_DOUBT || marked.code !== 201) throw new Error(`round ${round}: no mark: ${JSON.stringify(marked)}`);
      const listed = await exchange.ask({ method: "GET", path: collectionPath(kind) });
      if (listed === IN_DOUBT) throw new Error(`round ${round}: no list`);
      const items = (listed.body["items"] as readonly JsonObject[]).filter((item) => fieldAt(item, "metadata", "labels", "load") === "yes");
      await watcher.reached(Number(fieldAt(marked.body, "metadata", "resourceVersion")));
      this.#compare(`round ${round}: ${kind.plural}`, {
        kind,
        found: new Map(items.map((item) => [metaText(item, "name"), item])),
        view: watcher.view,
      });
    }
    await this.#counter.look(exchange);
  }

  #compare(
    where: string,
    { kind, found, view }: { kind: LoadKind; found: ReadonlyMap<string, JsonObject>; view: ReadonlyMap<string, JsonObject> },
  ): void {
    for (const name of new Set([...found.keys(), ...view.keys()])) {
      if (!sameObject(found.get(name), view.get(name))) this.#wrong.push(`${where}: ${name} is not as its watcher sees it`);
    }
    for (const [name, object] of found) {
      if (!isWhole(kind, object)) this.#wrong.push(`${where}: ${name} is not whole`);
      this.#checkUid(where, `${kind.plural}/${name}`, metaText(object, "uid"));
    }
    const known = this.#writers.flatMap((writer) => writer.known).filter((one) => one.kind === kind);
    for (const one of known) this.#settle(where, one, found.get(one.name));
  }

  #checkUid(where: string, name: string, uid: string): void {
    const other = this.#uids.get(uid);
    if (other !== undefined && other !== name) this.#wrong.push(`${where}: ${name} has the uid of ${other}`);
    this.#uids.set(uid, name);
  }

  /** What is there is what was confirmed, or what was under way. From now on it counts as confirmed: watchers have it. */
  #settle(where: string, known: Known, found: JsonObject | undefined): void {
    const { confirmed, doubt } = known;
    if (!sameObject(found, confirmed)) {
      const happened = doubt === "deletes" ? found === undefined : fieldAt(found, "metadata", "annotations", "digest") === doubt?.digest;
      const newer =
        found === undefined ||
        Number(fieldAt(found, "metadata", "resourceVersion")) > Number(fieldAt(confirmed, "metadata", "resourceVersion") ?? 0);
      const same =
        found === undefined || confirmed === undefined || fieldAt(found, "metadata", "uid") === fieldAt(confirmed, "metadata", "uid");
      if (doubt === undefined || !happened || !newer || !same)
        this.#wrong.push(`${where}: ${known.name} is neither what was confirmed nor what was under way`);
      else this.#survived += 1;
    }
    known.confirmed = found === undefined ? undefined : { ...found, kind: known.kind.kind, apiVersion: known.kind.apiVersion };
    known.doubt = undefined;
  }
}
