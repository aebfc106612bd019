/** The laptop fleet while it runs: its start as lines, the tree when it is up, what to try, and every change after that. */
import { err, ok, sleep, type Result } from "#base";
import type { Fleet, OpenFolder } from "#fleet";
import { FleetClients } from "../install/fleet-clients.ts";
import { BOOTSTRAP } from "../install/fleet-host.ts";
import { untilStopped, type CommandIo } from "../io.ts";
import { treeOf, type TreeNode } from "../tree/cluster-tree.ts";
import { treeTable } from "../tree/tree-table.ts";
import { BoardTable } from "./board-table.ts";
import { ClusterRows, nodesOf } from "./cluster-rows.ts";
import { FleetWatch } from "./fleet-watch.ts";
import { growFleet } from "./grow-fleet.ts";
import { installText, LAPTOP_FIRST, LAPTOP_LATE, LAPTOP_AGAIN, nextForInstalled, nextForLaptop, withoutClusters } from "./laptop-text.ts";
import { MANAGEMENT, SHOP_CLUSTER } from "./laptop-plan.ts";
import { WatchBoard } from "./watch-board.ts";

/** Twice what a slow machine needs. */
const UP_WITHIN_MS = 180_000;

export async function showLaptop(io: CommandIo, opened: OpenFolder, fleet: Fleet): Promise<Result<void, string>> {
  const isLaptop = opened.content === "laptop";
  if (!isLaptop && fleet.clusters().length === 0) return err(withoutClusters(opened));
  const view = new LaptopView(io, fleet, isLaptop);
  io.stdout(isLaptop && fleet.clusters().every(({ name }) => name !== MANAGEMENT) ? LAPTOP_FIRST : LAPTOP_AGAIN);
  view.start();
  const grown = await view.untilUp();
  if (!grown.ok && !io.signal.aborted) {
    await view.close();
    return grown;
  }
  if (!io.signal.aborted) {
    if (!view.isUp()) io.stdout(LAPTOP_LATE);
    io.stdout("\n");
    io.print(treeTable(view.trees(), io.terminal?.columns()));
    io.stdout(`\n${isLaptop ? nextForLaptop(io, opened.folder) : nextForInstalled(io, opened, namesOf(fleet))}`);
  }
  await untilStopped(io.signal);
  await view.close();
  return ok(undefined);
}

const namesOf = (fleet: Fleet) => new Set(fleet.clusters().map(({ name }) => name));

class LaptopView {
  readonly #io: CommandIo;
  readonly #fleet: Fleet;
  readonly #clients: FleetClients;
  readonly #table: BoardTable;
  readonly #rows: ClusterRows;
  readonly #waiting = new Set<() => void>();
  #watch: FleetWatch | undefined;
  #board: WatchBoard | undefined;
  #opening = false;
  #grown: boolean;
  #hasShop = false;
  #lastText = "";

  /** `grows`: clusters of the plan are created. */
  constructor(io: CommandIo, fleet: Fleet, grows: boolean) {
    this.#grown = !grows;
    this.#io = io;
    this.#fleet = fleet;
    this.#clients = new FleetClients(io, fleet);
    this.#table = new BoardTable({ ...io, columns: () => io.terminal?.columns(), withoutKinds: true });
    this.#rows = new ClusterRows(this.#table);
  }

  start(): void {
    this.#table.printHeader();
    this.#watch = new FleetWatch({ io: this.#io, fleet: this.#fleet, clients: this.#clients, onChange: () => this.#changed() });
  }

  async close(): Promise<void> {
    await this.#watch?.close();
    await this.#board?.ended();
    await this.#clients.close();
  }

  /** Without the bootstrap cluster, which is not part of the result. */
  trees(): readonly TreeNode[] {
    const observed = (this.#watch?.observed() ?? []).filter(({ name }) => name !== BOOTSTRAP);
    return treeOf(observed, {});
  }

  isUp(): boolean {
    const isStopped = (cluster: string) => this.#fleet.clusters().some(({ name, state }) => name === cluster && state === "Stopped");
    if (!this.#grown && !isStopped(MANAGEMENT)) return false;
    const nodes = nodesOf(this.trees());
    const isNodeUp = ({ name, ready }: TreeNode) => isStopped(name) || (ready && this.#watch?.knowsOwn(name) === true);
    return nodes.length > 0 && nodes.every(isNodeUp) && this.#board?.isUp() !== false;
  }

  /** An error: the management cluster cannot be installed. */
  async untilUp(): Promise<Result<void, string>> {
    const { clock, signal } = this.#io;
    let failed: string | undefined;
    const growing = this.#grown ? undefined : this.#grow((reason) => (failed = reason));
    const late = new AbortController();
    let isLate = false;
    const expire = async () => {
      isLate = await sleep(clock, UP_WITHIN_MS, AbortSignal.any([late.signal, signal]));
      this.#wake();
    };
    void expire();
    while (!this.isUp() && failed === undefined && !isLate && !signal.aborted) await this.#nextChange();
    late.abort();
    if (signal.aborted) await growing;
    return failed === undefined ? ok(undefined) : err(failed);
  }

  async #grow(onFailure: (reason: string) => void): Promise<void> {
    const grown = await growFleet(this.#io, {
      fleet: this.#fleet,
      clients: this.#clients,
      ownsItself: (cluster) =>
        nodesOf(this.#allTrees()).some(({ name, ready, ownedBy }) => name === cluster && ready && ownedBy === "self"),
      exists: (cluster) => nodesOf(this.#allTrees()).some(({ name }) => name === cluster),
      nextChange: () => this.#nextChange(),
      report: (progress) => this.#showStep(installText(progress)),
      onShop: () => {
        this.#hasShop = true;
        void this.#openBoard();
      },
    });
    if (grown.ok) this.#grown = true;
    else onFailure(grown.error);
    this.#wake();
  }

  /** The view of the bootstrap cluster counts until the management cluster owns itself. */
  #allTrees(): readonly TreeNode[] {
    const own = this.trees();
    const isInstalled = own.some(({ name, ready, ownedBy }) => name === MANAGEMENT && ready && ownedBy === "self");
    return isInstalled ? own : treeOf(this.#watch?.observed() ?? [], {});
  }

  #changed(): void {
    if (this.#watch === undefined) return;
    this.#rows.show(this.#allTrees(), this.#fleet.clusters());
    // its cluster may have been stopped when the shop was found
    if (this.#hasShop) void this.#openBoard();
    this.#wake();
  }

  #showStep(text: string | undefined): void {
    if (text === undefined || text === this.#lastText) return;
    this.#lastText = text;
    this.#table.printRow("install", MANAGEMENT, "", text);
  }

  /** The services of the shop, on the cluster that has them. */
  async #openBoard(): Promise<void> {
    if (this.#board !== undefined || this.#opening) return;
    this.#opening = true;
    const client = await this.#clients.find(SHOP_CLUSTER);
    this.#opening = false;
    if (!client.ok || client.value === undefined || this.#io.signal.aborted) return;
    this.#board = new WatchBoard({ ...this.#io, client: client.value, columns: () => this.#io.terminal?.columns(), table: this.#table });
    this.#board.start();
    void this.#followBoard(this.#board);
  }

  async #followBoard(board: WatchBoard): Promise<void> {
    while (!this.#io.signal.aborted) {
      await board.nextChange();
      this.#wake();
    }
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }

  #nextChange(): Promise<void> {
    const { signal } = this.#io;
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
