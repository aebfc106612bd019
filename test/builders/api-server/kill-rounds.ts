/**
 * Rounds of: start the server on a folder, check the stored objects, write and watch over HTTP, kill -9 at a random time. The folder and
 * the watchers are kept over all rounds.
 *
 * Some watchers pause for a few rounds, while enough is written that the server makes a snapshot and drops the events that they missed:
 * when they resume with their old version, they get 410 and must list again.
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
import { KillWriter, type KnownObject } from "./kill-writer.ts";
import { ServerProcess } from "./server-process.ts";

const WRITERS = 6;
/** Pausing watchers run in the first of every N rounds; before they resume, the ballast is written. */
const SLEEP = 4;
/** More than the 16 MiB of log after which a store makes a snapshot, and a few more writes that complete it. */
const BALLAST = { writes: 24, bytes: 900_000 };
/** Expected log lines after a kill: the server repaired its data folder. */
const EXPECTED =
  /^(warn: (took over the folder|cut off what was no whole record|a log is empty)|error: the data folder was in use before|$)/;

export type KillReport = {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly survivedUnacknowledged: number;
  readonly killedWhileStarting: number;
  readonly watchEvents: number;
  readonly resumed: number;
  readonly relists: number;
  /** Faults; empty when the run passed. */
  readonly wrong: readonly string[];
};

export async function killServerRounds({ seed, rounds }: { readonly seed: number; readonly rounds: number }): Promise<KillReport> {
  const home = mkdtempSync(join(tmpdir(), "lattice-kill-server-"));
  try {
    const run = new KillRun(home, seed);
    for (let round = 1; round <= rounds; round += 1) await run.round(round);
    await run.finalCheck(rounds + 1);
    return run.report(rounds);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

class KillRun {
  readonly #home: string;
  readonly #random: () => number;
  readonly #writers: readonly KillWriter[];
  readonly #watchers = LOAD_KINDS.map((kind) => new KillWatcher(kind));
  readonly #sleepers = LOAD_KINDS.map((kind) => new KillWatcher(kind));
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
      if (round % SLEEP === SLEEP - 1) await writeBallast(exchange);
      await wait(this.#random() * 5);
      await server.kill();
      await Promise.all(load);
    });
  }

  async finalCheck(round: number): Promise<void> {
    await this.#alive(round, (_, server) => server.kill());
  }

  report(rounds: number): KillReport {
    const watchers = [...this.#watchers, ...this.#sleepers];
    const sum = (of: (watcher: KillWatcher) => number) => watchers.reduce((total, watcher) => total + of(watcher), 0);
    const parts = [...this.#writers, ...watchers, this.#counter];
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

  /** Sometimes the server is killed while it reads the folder, and is started once more. `act` kills it. */
  async #alive(round: number, act: (exchange: Exchange, server: ServerProcess) => Promise<void>): Promise<void> {
    if (this.#random() < 0.15) await this.#killWhileStarting();
    const server = new ServerProcess(this.#home);
    const stopped = new AbortController();
    try {
      const url = await server.url();
      if (url === undefined) throw new Error(`round ${round}: the server did not start: ${server.stderr}`);
      const exchange = new Exchange(url);
      const watching = this.#awake(round).map((watcher) => watcher.run(exchange, stopped.signal));
      await this.#look(round, exchange);
      await act(exchange, server);
      await Promise.all(watching);
      exchange.close();
    } finally {
      stopped.abort();
      await server.kill();
    }
    for (const line of server.stderr.split("\n")) if (!EXPECTED.test(line)) this.#wrong.push(`round ${round}: the server logged ${line}`);
  }

  async #killWhileStarting(): Promise<void> {
    this.#killedWhileStarting += 1;
    const server = new ServerProcess(this.#home);
    await wait(this.#random() * 700);
    await server.kill();
  }

  #awake(round: number): readonly KillWatcher[] {
    return round % SLEEP === 1 ? [...this.#watchers, ...this.#sleepers] : this.#watchers;
  }

  /** A new object in every collection marks the end of the earlier events: a watcher that has received it must have received them all. */
  async #look(round: number, exchange: Exchange): Promise<void> {
    for (const kind of LOAD_KINDS) {
      const mark = loadObject(kind, `mark-${round}`, { number: round, text: "mark" });
      const marked = await exchange.request({ method: "POST", path: collectionPath(kind), body: mark });
      if (marked === IN_DOUBT || marked.code !== 201) throw new Error(`round ${round}: no mark: ${JSON.stringify(marked)}`);
      const listed = await exchange.request({ method: "GET", path: collectionPath(kind) });
      if (listed === IN_DOUBT) throw new Error(`round ${round}: no list`);
      const items = (listed.body["items"] as readonly JsonObject[]).filter((item) => fieldAt(item, "metadata", "labels", "load") === "yes");
      const found = new Map(items.map((item) => [metaText(item, "name"), item]));
      for (const watcher of this.#awake(round).filter((one) => one.kind === kind)) {
        await watcher.reached(Number(fieldAt(marked.body, "metadata", "resourceVersion")));
        this.#compare(`round ${round}: ${kind.plural}`, { kind, found, view: watcher.view });
      }
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

  /** The stored object is the confirmed one or the one in doubt. From then on it counts as confirmed, because watchers have received it. */
  #settle(where: string, known: KnownObject, found: JsonObject | undefined): void {
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

/** Writes one unwatched object repeatedly to make the log long. The server may be killed during it. */
async function writeBallast(exchange: Exchange): Promise<void> {
  const path = "/api/v1/namespaces/default/configmaps";
  const object = (number: number) => ({ metadata: { name: "ballast" }, data: { number: String(number), text: "x".repeat(BALLAST.bytes) } });
  await exchange.request({ method: "POST", path, body: object(0) });
  for (let number = 1; number <= BALLAST.writes; number += 1) {
    await exchange.request({ method: "PUT", path: `${path}/ballast`, body: object(number) });
  }
}
