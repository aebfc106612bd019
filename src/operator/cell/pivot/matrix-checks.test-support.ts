/**
 * What must hold in the crash matrix of pivot and unpivot: after every write, by what the controllers of both sides would decide from the servers as they are,
 * and at the end, by the objects.
 */
import { expectOk } from "#base";
import type { PivotView } from "#controllers";
import { latticeClusters } from "#crds";
import { capiClusters, fieldAt, secrets, type KubeObject } from "#kube";
import { moveToResume, type NamespaceOwnership } from "#pivot";
import { comparable, contentsIn, danglingOwnersIn, movedObjects } from "../../../../test/builders/move-world.ts";
import { CAPI, type PivotWorld, type Side } from "./pivot-world.test-support.ts";

type OwnershipSigns = {
  readonly exists: boolean;
  readonly traces: NamespaceOwnership;
  readonly registered: boolean;
  readonly epoch: number;
  readonly pivot: PivotView | undefined;
};
/** As `childOwnership` of the cluster controller. */
export type ChildOwnershipDecision = (signs: OwnershipSigns) => "parent" | "moving" | "child";

export type KnownAtParent = { readonly epochs: readonly number[]; readonly views: readonly (PivotView | undefined)[] };

const WORKERS_OF_CHILD = 7;
const PROD = { name: "prod" };
const KUBECONFIG = { namespace: CAPI, name: "prod-kubeconfig" };

export class OwnershipChecks {
  readonly decide: ChildOwnershipDecision;
  readonly #world: PivotWorld;
  readonly #expected: ReadonlyMap<string, unknown>;
  #latestEpoch = 0;
  #isEdited = false;

  private constructor(world: PivotWorld, expected: ReadonlyMap<string, unknown>, decide: ChildOwnershipDecision) {
    this.#world = world;
    this.#expected = expected;
    this.decide = decide;
  }

  static async open(world: PivotWorld, decide?: ChildOwnershipDecision): Promise<OwnershipChecks> {
    const path = new URL("../../../controllers/cluster/child-ownership.ts", import.meta.url).pathname;
    const real = (await import(/* @vite-ignore */ path)) as { readonly childOwnership: ChildOwnershipDecision };
    return new OwnershipChecks(world, contentsWithoutOwn(await movedObjects(world.parent.client, CAPI)), decide ?? real.childOwnership);
  }

  get names(): Iterable<string> {
    return this.#expected.keys();
  }

  /** A process of the parent may have just started, or have a report of the agent that is out of date. */
  afterWrite({ epochs, views }: KnownAtParent): readonly string[] {
    const stuck = (["parent", "child"] as const).filter((side) => this.#staysPaused(side));
    if (stuck.length > 0) return stuck.map((side) => `the ${side} owns a Cluster that is paused, and does not unpause it`);
    const child = this.#world.ownership("child");
    if (child.state !== "owner") return [];
    this.#latestEpoch = Math.max(this.#latestEpoch, child.epoch);
    const decisions = epochs.flatMap((epoch) => views.map((pivot) => this.#decision(epoch, pivot)));
    return decisions.includes("parent") ? ["the parent applies objects that the child owns"] : [];
  }

  /** The mover may be gone from now on: an owner that deletes, or applies, does not wait for it. */
  #staysPaused(side: Side): boolean {
    const ownership = this.#world.ownership(side);
    const cluster = this.#world[side].peek<KubeObject>(capiClusters, { namespace: CAPI, name: "prod" });
    const isPaused = fieldAt(cluster, "spec", "paused") === true;
    return ownership.state === "owner" && isPaused && moveToResume(ownership, cluster) === undefined;
  }

  /** What a user does in a child that owns itself. */
  async editChild(): Promise<void> {
    if (this.#world.ownership("child").state !== "owner") return;
    const patch = { spec: { nodes: { workers: WORKERS_OF_CHILD } } };
    const edited = await this.#world.child.client.patch(latticeClusters, PROD, { type: "merge", patch });
    this.#isEdited = edited.ok;
  }

  /** The child's LatticeCluster becomes that of the parent, as it is when the parent takes a child back and pivots it again. */
  async reset(): Promise<void> {
    if (!this.#isEdited) return;
    this.#isEdited = false;
    const { spec } = await this.#world.cluster();
    const live = expectOk(await this.#world.child.client.get(latticeClusters, PROD));
    expectOk(await this.#world.child.client.update(latticeClusters, { ...live, spec }));
  }

  /** After an abort either side may be the owner. */
  async atEnd(request: "to-child" | "to-parent" | "abort" | "release"): Promise<readonly string[]> {
    const owned = this.#world.ownership("child").state === "owner" ? "child" : "parent";
    const owner: Side = request === "abort" ? owned : request === "to-parent" ? "parent" : "child";
    return [...(await this.#objects(owner)), ...this.#traces(owner), ...this.#decisions(owner), ...this.#ownResources(owner)];
  }

  async #objects(owner: Side): Promise<readonly string[]> {
    const other = owner === "child" ? this.#world.parent : this.#world.child;
    const objects = await movedObjects(this.#world[owner].client, CAPI);
    const [moved, left] = [contentsWithoutOwn(objects), contentsWithoutOwn(await movedObjects(other.client, CAPI))];
    const wrong = [...left.keys()].map((name) => `${name} is left at the other side`);
    for (const [name, object] of this.#expected)
      if (comparable(moved.get(name)) !== comparable(object)) wrong.push(`${name} is not what it was`);
    for (const name of moved.keys()) if (!this.#expected.has(name)) wrong.push(`${name} is new`);
    return [...wrong, ...danglingOwnersIn(objects)];
  }

  /** A parent that has never got the objects back has no record. */
  #traces(owner: Side): readonly string[] {
    const other = owner === "child" ? "parent" : "child";
    const states = `${this.#world.ownership(owner).state}, ${this.#world.ownership(other).state}`;
    const allowed = owner === "child" ? ["owner, never-moved"] : ["owner, never-moved", "never-moved, never-moved"];
    return allowed.includes(states) ? [] : [`the traces of the move: ${states}`];
  }

  #decisions(owner: Side): readonly string[] {
    const epochs = owner === "child" ? [0, this.#latestEpoch] : [0, ...(this.#takenBack ? [this.#latestEpoch] : [])];
    const decisions = epochs.map((epoch) => this.#decision(epoch, undefined));
    return decisions.every((decision) => decision === owner) ? [] : [`the parent decides that the owner is ${decisions.join(", ")}`];
  }

  /** The parent has a later epoch than the child had, so a report of the child that arrives late does not count. */
  get #takenBack(): boolean {
    return this.#world.ownership("parent").state === "owner";
  }

  #decision(epoch: number, pivot: PivotView | undefined) {
    const exists = this.#world.parent.peek(capiClusters, { namespace: CAPI, name: "prod" }) !== undefined;
    return this.decide({ exists, traces: this.#world.ownership("parent"), registered: true, epoch, pivot });
  }

  /** Each side has a kubeconfig of its own, and the child its LatticeCluster. */
  #ownResources(owner: Side): readonly string[] {
    const secret = this.#world[owner].peek<KubeObject>(secrets, KUBECONFIG);
    const data = fieldAt(secret, "data", "value");
    const text = Buffer.from(typeof data === "string" ? data : "", "base64").toString();
    const isOwn = owner === "child" ? text.includes("https://10.96.0.1:443") : /^(of the parent|kubeconfig)$/.test(text);
    const wrong = isOwn ? [] : [`the kubeconfig of the ${owner} is ${text === "" ? "missing" : "that of another side"}`];
    if (owner === "parent") return wrong;
    const workers = fieldAt(this.#world.child.peek(latticeClusters, PROD), "spec", "nodes", "workers");
    const wanted = fieldAt(this.#world.parent.peek(latticeClusters, PROD), "spec", "nodes", "workers");
    const isKept = workers === (this.#isEdited ? WORKERS_OF_CHILD : wanted);
    return isKept ? wrong : [...wrong, `the child's LatticeCluster has ${JSON.stringify(workers)} workers`];
  }
}

/** Without the kubeconfig, which each side has its own of, and what does not belong to the cluster. */
function contentsWithoutOwn(objects: readonly KubeObject[]): ReadonlyMap<string, unknown> {
  return new Map([...contentsIn(objects)].filter(([name]) => !/unrelated|kubeconfig/.test(name)));
}
