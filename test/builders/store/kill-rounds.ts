/**
 * Rounds of: start a writer on a folder, kill -9 it at a random time, open the folder, and compare its content with the writer's
 * acknowledgements. The folder is kept over all rounds, so that each round starts with the files that earlier kills have left.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expectOk, seededRandom, silentLogger, systemClock } from "#base";
import { openPersistentStore, type OpenedStore, type StoreEvent } from "#kube-server";
import { isWhole, KILL_COLLECTION, parseNotes, type Acknowledged } from "./kill-objects.ts";

const WRITER = join(import.meta.dirname, "kill-writer.ts");

export type KillReport = {
  readonly rounds: number;
  readonly acknowledged: number;
  /** Writes that were stored but not acknowledged when the process was killed. */
  readonly unacknowledged: number;
  readonly torn: number;
  readonly snapshots: number;
  readonly killedWhileOpening: number;
  /** How often a watch from the beginning failed because its events had expired. */
  readonly forgotten: number;
  /** Faults; empty when the run passed. */
  readonly wrong: readonly string[];
};

export async function killRounds({ seed, rounds }: { readonly seed: number; readonly rounds: number }): Promise<KillReport> {
  const home = mkdtempSync(join(tmpdir(), "lattice-kill-"));
  try {
    const story = new KillStory(home, seededRandom(seed));
    for (let round = 0; round < rounds; round += 1) await story.round(seed + round);
    return story.report();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

class KillStory {
  readonly #dataDir: string;
  readonly #notes: string;
  readonly #random: () => number;
  /** The expected revision of each key. */
  readonly #expected = new Map<string, number>();
  #revision = 1;
  readonly #wrong: string[] = [];
  readonly #counts = { rounds: 0, acknowledged: 0, unacknowledged: 0, torn: 0, snapshots: 0, killedWhileOpening: 0, forgotten: 0 };

  constructor(home: string, random: () => number) {
    this.#dataDir = join(home, "data");
    this.#notes = join(home, "acknowledged");
    this.#random = random;
  }

  report(): KillReport {
    return { ...this.#counts, wrong: this.#wrong };
  }

  async round(seed: number): Promise<void> {
    this.#counts.rounds += 1;
    rmSync(this.#notes, { force: true });
    const unexpected = await this.#runAndKill(seed);
    if (unexpected !== "") this.#wrong.push(`round ${this.#counts.rounds}: the writer logged ${unexpected}`);
    const { opened, acknowledged } = parseNotes(this.#readNotes());
    if (!opened) this.#counts.killedWhileOpening += 1;
    for (const one of acknowledged) this.#expect(one);
    const reopened = expectOk(openPersistentStore({ dataDir: this.#dataDir, clock: systemClock, logger: silentLogger }));
    this.#check(reopened, acknowledged);
    reopened.store.close();
  }

  #readNotes(): string {
    return existsSync(this.#notes) ? readFileSync(this.#notes, "utf8") : "";
  }

  /** Kills mostly during writes, sometimes while the writer starts and reads the folder. Returns its unexpected output. */
  async #runAndKill(seed: number): Promise<string> {
    const child = spawn(process.execPath, [WRITER, this.#dataDir, this.#notes, String(seed)], { stdio: ["ignore", "ignore", "pipe"] });
    const output: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const alive = () => child.exitCode === null && child.signalCode === null;
    if (this.#random() < 0.2) await wait(this.#random() * 400);
    else {
      const bytes = Math.floor(this.#random() ** 2 * 6_000);
      while (alive() && this.#readNotes().length <= bytes) await wait(1);
      await wait(this.#random() * 3);
    }
    child.kill("SIGKILL");
    await ended;
    return Buffer.concat(output)
      .toString("utf8")
      .split("\n")
      .filter(
        (line) =>
          line !== "" &&
          !/^(took over the folder|cut off what was no whole record|a log is empty|the data folder was in use before)/.test(line),
      )
      .join("\n");
  }

  #expect({ revision, key, deleted }: Acknowledged): void {
    this.#counts.acknowledged += 1;
    if (revision <= this.#revision) this.#wrong.push(`revision ${revision} was used twice`);
    this.#revision = revision;
    if (deleted) this.#expected.delete(key);
    else this.#expected.set(key, revision);
  }

  #check({ store, recovered }: OpenedStore, acknowledged: readonly Acknowledged[]): void {
    const round = `round ${this.#counts.rounds}`;
    const last = this.#revision;
    if (store.revision < last || store.revision > last + 1) this.#wrong.push(`${round}: revision ${store.revision}, acknowledged ${last}`);
    for (const { problem } of recovered.cut) {
      this.#counts.torn += 1;
      if (!problem.includes("cut short")) this.#wrong.push(`${round}: ${problem}`);
    }
    if (recovered.snapshotRevision !== undefined) this.#counts.snapshots += 1;
    const events: StoreEvent[] = [];
    const followed = store.watch({ collection: KILL_COLLECTION, from: last, onEvent: (event) => events.push(event) });
    if (!followed.ok && store.revision !== last) this.#wrong.push(`${round}: the events since ${last} are ${followed.error.kind}`);
    for (const event of events) this.#takeUnacknowledged(event);
    const items = expectOk(store.list(KILL_COLLECTION)).items;
    for (const { key, object } of items) if (!isWhole(object)) this.#wrong.push(`${round}: ${key} is not whole`);
    this.#compare(round, new Map(items.map(({ key, revision }) => [key, revision])));
    this.#replay(round, store, acknowledged);
    this.#fromTheBeginning(round, store);
  }

  /** A watch delivers all events, or fails as expired; it never delivers only a part. */
  #fromTheBeginning(round: string, store: OpenedStore["store"]): void {
    const events: number[] = [];
    const followed = store.watch({ collection: KILL_COLLECTION, from: 1, onEvent: ({ revision }) => events.push(revision) });
    if (!followed.ok && followed.error.kind === "compacted") this.#counts.forgotten += 1;
    else if (events.length !== store.revision - 1)
      this.#wrong.push(`${round}: since the beginning ${events.length} events, at revision ${store.revision}`);
  }

  /** The one unacknowledged write: it counts from now on, because watchers may have received it. */
  #takeUnacknowledged({ type, key, revision }: StoreEvent): void {
    this.#counts.unacknowledged += 1;
    this.#revision = revision;
    if (type === "DELETED") this.#expected.delete(key);
    else this.#expected.set(key, revision);
  }

  #compare(round: string, found: ReadonlyMap<string, number>): void {
    for (const key of new Set([...found.keys(), ...this.#expected.keys()])) {
      const [is, want] = [found.get(key), this.#expected.get(key)];
      if (is !== want) this.#wrong.push(`${round}: ${key} is at ${is ?? "nothing"} and should be at ${want ?? "nothing"}`);
    }
  }

  /** A watcher from before the kill resumes: it gets exactly the events acknowledged since, or must list again. */
  #replay(round: string, store: OpenedStore["store"], acknowledged: readonly Acknowledged[]): void {
    const at = Math.floor(this.#random() * acknowledged.length);
    const from = acknowledged[at]?.revision;
    if (from === undefined) return;
    const events: string[] = [];
    const line = (revision: number, key: string, deleted: boolean) => `${revision} ${key} ${deleted}`;
    store.watch({
      collection: KILL_COLLECTION,
      from,
      onEvent: ({ revision, key, type }) => events.push(line(revision, key, type === "DELETED")),
    });
    const want = acknowledged.slice(at + 1).map(({ revision, key, deleted }) => line(revision, key, deleted));
    if (events.length > 0 && want.some((text, number) => events[number] !== text))
      this.#wrong.push(`${round}: events after ${from} differ`);
  }
}
