/** Two API servers, one cluster, and what must hold after every write: the owner has everything, and the other side is paused. */
import { ownershipOf } from "#pivot";
import { apiVersionOf, capiClusters, capiMachines, configMaps, fieldAt, secrets, type KubeObject } from "#kube";
import { DELETABLE, find, install, key, NAMES, NAMESPACE, placeOf, provision } from "./model-objects.ts";
import { ModelNetwork, type Executed, type ModelProcess, type Side } from "./model-network.ts";
import { ModelServer } from "./model-server.ts";
import { VirtualTime } from "./virtual-time.ts";

const SIDES = ["a", "b"] as const;
const COPY_MARK = "lattice.dev/copy-of";
const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";
const JOURNAL = "lattice-move-journal";
const RECORD = "lattice-move-record";

export const other = (side: Side): Side => (side === "a" ? "b" : "a");
export const isPaused = (cluster: KubeObject) => fieldAt(cluster, "spec", "paused") === true;
const editOf = (object: KubeObject | undefined) => Number(object?.metadata.labels?.["edit"] ?? -1);

export class ModelWorld {
  readonly time = new VirtualTime();
  readonly servers: Readonly<Record<Side, ModelServer>> = { a: new ModelServer("a"), b: new ModelServer("b") };
  readonly network = new ModelNetwork(this.time, this.servers, (executed) => this.#executed(executed));
  readonly processes: ModelProcess[] = [];
  owner: Side = "a";
  commits = 0;
  /** The first thing that was wrong. */
  violation: string | undefined;
  readonly #last: string[] = [];
  /** What the person has deleted: it may be anywhere or nowhere. */
  readonly #deleted = new Set<string>();
  /** The last edit that the owner has shown to a move before its commit: at least this one must arrive. */
  readonly #listed = new Map<string, number>();
  readonly #listedDeleting = new Set<string>();
  readonly #mustHave = new Map<string, number>();
  /** What the person wants; undefined: paused or unpaused during a move, which cannot be distinguished from the move itself. */
  wantsPaused: boolean | undefined = false;
  #edits = 0;
  readonly #planted = new Map<string, { readonly name: string; readonly side: Side }>();
  readonly #seenCommits = new Set<unknown>();

  constructor() {
    install(this.servers.a);
    install(this.servers.b);
    provision(this.servers.a);
  }

  get recentWrites(): readonly string[] {
    return this.#last;
  }

  phaseAt(side: Side): string | undefined {
    const journal = this.servers[side].peek(secrets, key(JOURNAL));
    const encoded = fieldAt(journal, "data", "journal");
    if (typeof encoded !== "string") return undefined;
    return (JSON.parse(Buffer.from(encoded, "base64").toString()) as { phase: string }).phase;
  }

  /** The person works on the owner, and unpauses it only while no commit can be on its way: after it, no move could prevent two owners. */
  person(what: string, name: string): void {
    const server = this.servers[this.owner];
    const phase = this.phaseAt(this.owner);
    const mayChange = phase === undefined || phase === "intent";
    if (what === "edit") {
      const { resource, name: object } = placeOf(name);
      this.#edits += 1;
      // every other edit changes what a plan reads of the object
      const planned = this.#edits % 2 === 0 ? null : "c1";
      server.patch(resource, key(object), { metadata: { labels: { edit: String(this.#edits), [CLUSTER_LABEL]: planned } } });
    }
    if (what === "delete" && DELETABLE.has(name) && mayChange) {
      const { resource, name: object } = placeOf(name);
      this.#deleted.add(name);
      server.delete(resource, key(object));
    }
    if ((what === "pause" || what === "unpause") && mayChange) {
      const isMoving = SIDES.some((side) => this.phaseAt(side) !== undefined) || this.processes.some(({ isAlive }) => isAlive);
      this.wantsPaused = isMoving ? undefined : what === "pause";
      server.patch(capiClusters, key("c1"), { spec: { paused: what === "pause" ? true : null } });
    }
    if (what === "plant") this.#plant(name);
    this.check(`the person: ${what} ${name}`);
  }

  /** An object of the person at the side that does not own the cluster, under the name of a moved one. No move may touch it. */
  #plant(name: string): void {
    const server = this.servers[other(this.owner)];
    const { resource, name: object } = placeOf(name);
    const metadata = { ...key(object), labels: { planted: "yes" } };
    const made = server.create(resource, { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata });
    if (made.ok) this.#planted.set(made.value.metadata.uid ?? "", { name, side: other(this.owner) });
  }

  /** At the end the person takes back what would be in the way. */
  removePlanted(): void {
    for (const [uid, { name, side }] of this.#planted) {
      const { resource, name: object } = placeOf(name);
      this.servers[side].delete(resource, key(object), { preconditions: { uid } });
    }
    this.#planted.clear();
  }

  /** The controllers of a side: they work on clusters that are not paused. `force`: for the end of a test. */
  controllers(side: Side, force = false): void {
    const server = this.servers[side];
    const cluster = server.peek(capiClusters, key("c1"));
    if (!force && (cluster === undefined || isPaused(cluster))) return;
    for (const machine of server.all(capiMachines)) {
      const { name, deletionTimestamp } = machine.metadata;
      if (deletionTimestamp !== undefined) server.patch(capiMachines, key(name), { metadata: { finalizers: [] } });
      else server.patch(capiMachines, key(name), { status: { seen: this.network.arrived } }, { subresource: "status" });
    }
    this.check(`the controllers of ${side}`);
  }

  /** The garbage collector of a side: paused or not, what has lost all its owners is deleted. */
  collectGarbage(side: Side): void {
    const server = this.servers[side];
    const uids = new Set(NAMES.flatMap((name) => find(server, name)?.metadata.uid ?? []));
    for (const name of NAMES) {
      const owners = find(server, name)?.metadata.ownerReferences ?? [];
      const { resource, name: object } = placeOf(name);
      if (owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))) server.delete(resource, key(object));
    }
    this.check(`the garbage collector of ${side}`);
  }

  #executed({ side, text, isWrite }: Executed): void {
    if (side === this.owner && text.includes(`${side}>${other(side)}: list `)) this.#noteListed(text);
    if (!isWrite) return;
    this.#last.push(text);
    if (this.#last.length > 30) this.#last.shift();
    this.check(text);
  }

  /** The objects of one kind, as the move has just read them. */
  #noteListed(text: string): void {
    for (const name of NAMES) {
      if (!text.includes(`: list ${placeOf(name).resource.plural} in ${NAMESPACE} at`)) continue;
      const object = find(this.servers[this.owner], name);
      this.#listed.set(name, editOf(object));
      if (object?.metadata.deletionTimestamp === undefined) this.#listedDeleting.delete(name);
      else this.#listedDeleting.add(name);
    }
  }

  check(after: string): void {
    this.violation ??= this.#wrong(after);
  }

  #wrong(after: string): string | undefined {
    const committed = this.#commit();
    if (committed !== undefined) return `${committed}, after ${after}`;
    const [owner, rest] = [this.servers[this.owner], this.servers[other(this.owner)]];
    for (const name of NAMES) {
      if (this.#deleted.has(name)) continue;
      const object = find(owner, name);
      if (object === undefined) return `the owner, ${this.owner}, has no ${name}, after ${after}`;
      if (object.metadata.annotations?.[COPY_MARK] !== undefined) return `${name} of the owner is an unfinished copy, after ${after}`;
      if (object.metadata.deletionTimestamp !== undefined) return `${name} of the owner is being deleted, after ${after}`;
      if (object.kind === "Machine" && fieldAt(object, "status", "nodeRef") === undefined)
        return `${name} has lost its status, after ${after}`;
      if (editOf(object) < (this.#mustHave.get(name) ?? 0)) return `an edit of ${name} is lost, after ${after}`;
    }
    for (const [uid, { name, side }] of this.#planted) {
      const { uid: live, labels = {} } = find(this.servers[side], name)?.metadata ?? {};
      if (live !== uid || labels["planted"] === undefined) return `${name} of the person at ${side} was taken over, after ${after}`;
    }
    const copy = rest.peek(capiClusters, key("c1"));
    if (copy !== undefined && !isPaused(copy)) return `${other(this.owner)} does not own the cluster and is not paused, after ${after}`;
    const owners = SIDES.filter((side) => this.#ownership(side) === "owner");
    return owners.length > 1 ? `both sides have a record that they own the cluster, after ${after}` : undefined;
  }

  #ownership(side: Side): string {
    const server = this.servers[side];
    const hasJournal = server.peek(secrets, key(JOURNAL)) !== undefined;
    return ownershipOf({ record: server.peek(configMaps, key(RECORD)), hasJournal }).state;
  }

  /** The owner changes with the commit in the record of the other side, and only then. */
  #commit(): string | undefined {
    const [from, to] = [this.owner, other(this.owner)];
    const record = this.servers[to].peek(configMaps, key(RECORD));
    const id = fieldAt(record, "data", "id");
    if (fieldAt(record, "data", "state") !== "committed" || this.#seenCommits.has(id)) return undefined;
    this.#seenCommits.add(id);
    const source = this.servers[from].peek(capiClusters, key("c1"));
    if (source !== undefined && !isPaused(source)) return "a commit while the source is not paused";
    for (const name of NAMES) {
      if (this.#listedDeleting.has(name) && find(this.servers[to], name) !== undefined) return `${name} was being deleted and is copied`;
    }
    const unfinished = NAMES.find((name) => find(this.servers[to], name)?.metadata.annotations?.[COPY_MARK] !== undefined);
    if (unfinished !== undefined) return `a commit while ${unfinished} is an unfinished copy`;
    this.owner = to;
    this.commits += 1;
    for (const [name, edit] of this.#listed) this.#mustHave.set(name, edit);
    return undefined;
  }

  /** After everything has ended. */
  finalProblems(): readonly string[] {
    const [owner, rest] = [this.servers[this.owner], this.servers[other(this.owner)]];
    const uids = new Set(NAMES.flatMap((name) => find(owner, name)?.metadata.uid ?? []));
    const cluster = owner.peek(capiClusters, key("c1"));
    const traces = SIDES.flatMap((side) =>
      this.servers[side]
        .all(secrets)
        .filter(({ metadata }) => metadata.name.startsWith("lattice-move-journal"))
        .map(({ metadata }) => `${side} still has Secret ${metadata.name}`),
    );
    return [
      ...NAMES.filter((name) => find(rest, name) !== undefined).map((name) => `${name} is left at ${other(this.owner)}`),
      ...NAMES.flatMap((name) => {
        const owners = find(owner, name)?.metadata.ownerReferences ?? [];
        return owners
          .filter(({ uid }) => !uids.has(uid))
          .map((reference) => `${name} has lost its owner ${reference.kind} ${reference.name}`);
      }),
      ...traces,
      ...(cluster !== undefined && this.wantsPaused !== undefined && isPaused(cluster) !== this.wantsPaused
        ? [`the cluster is ${isPaused(cluster) ? "paused" : "not paused"}, which it was not before`]
        : []),
      ...(this.#ownership(this.owner) === "moving" ? ["the owner has a record of an unfinished move"] : []),
    ];
  }
}

export { NAMESPACE };
