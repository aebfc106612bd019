/**
 * A bootstrap cluster and a management cluster in memory, for installations that are killed at one write and run again. What the operator of the
 * bootstrap cluster and Cluster API would do is done by `advance`, with the real mover; an observer checks the invariants of a move after every write.
 */
import { err, expectOk, ok, seededRandom } from "#base";
import { localClusterBundle, providerInventory, reducedCapiCrds } from "#bundle";
import { capiNamespace } from "#cluster-compiler";
import { IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "#controllers";
import { latticeClusterKind, latticeClusters } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import {
  capiClusters,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  isBeingDeleted,
  namespaces,
  secrets,
  type KubeObject,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE } from "#operator";
import { MOVE_JOURNAL, MOVE_RECORD, moveNamespace, ownershipOf, type ObjectOutline } from "#pivot";
import { JumpClock } from "../../test/builders/jump-clock.ts";
import {
  comparable,
  contentsOf,
  isUnpaused,
  makeProvisioned,
  MOVED_KINDS,
  observeInvariants,
  startManagementCluster,
} from "../../test/builders/move-world.ts";
import { ownershipRecord } from "../../test/builders/reparent-world.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";
import type { MortalProcess } from "../../test/builders/mortal-process.ts";
import { readBootstrapRecord } from "./bootstrap-record.ts";
import { cleanBootstrap } from "./clean-bootstrap.ts";
import type { BootstrapEnd, BootstrapHost, ManagementAccess } from "./ports.ts";
import { planBootstrap, prepareBootstrap } from "./prepare-bootstrap.ts";

export const NAME = "mgmt";
const NAMESPACE = capiNamespace(NAME);
const BOOTSTRAP = "lattice-bootstrap";
const PROGRESS_MS = 250;
const ENDPOINTS = { host: "127.0.0.1", grpcPort: 50_051, bootstrapPort: 8_443, proxyPort: 8_444, service: { type: "ClusterIP" } } as const;

/**
 * When Cluster API deletes the machines of a Cluster: as soon as it can, or after the installation has read twice that the Cluster is being deleted. What the
 * installation does after the first time happens while they exist.
 */
export type MachineDeletion = "at once" | "once observed twice";

type WorldOptions = {
  readonly atEnd: BootstrapEnd;
  /** As a finished installation leaves it. */ readonly hasManagement: boolean;
  readonly machineDeletion: MachineDeletion;
};

export class InstallWorld {
  readonly clock = new JumpClock();
  readonly atEnd: BootstrapEnd;
  readonly wrong: string[] = [];
  bootstrap: EmbeddedCluster | undefined;
  management: EmbeddedCluster | undefined;
  #expected: ReadonlyMap<string, unknown> = new Map();
  #observer: { readonly wrong: string[] } = { wrong: [] };
  #isObserved = false;
  #isDeleted = false;
  #isMarkedDeleted = false;
  /** Of a Cluster that is being deleted, before its machines are. */
  #readsBeforeDeletion: number;

  private constructor({ atEnd, machineDeletion }: WorldOptions) {
    this.atEnd = atEnd;
    this.#readsBeforeDeletion = machineDeletion === "at once" ? 0 : 2;
  }

  static async open(options: WorldOptions): Promise<InstallWorld> {
    const { atEnd, hasManagement } = options;
    const world = new InstallWorld(options);
    if (atEnd === "kept") world.bootstrap = await newCluster(1);
    if (atEnd === "cleaned") world.bootstrap = await startEmbeddedCluster({ seed: 1, logActions: false });
    if (world.bootstrap !== undefined) {
      world.#watchRelease(world.bootstrap);
      world.#watchDeletion(world.bootstrap);
    }
    if (!hasManagement) return world;
    const management = await world.#startManagement();
    await makeProvisioned(management.client, NAME, "fewest", NAMESPACE);
    await management.add(ownershipRecord(NAME), rawCluster({}, NAME));
    world.#expected = await movedContents(management.client);
    world.#observe();
    return world;
  }

  async close(): Promise<void> {
    await this.bootstrap?.close();
    await this.management?.close();
  }

  /** The bootstrap cluster as one process reaches it. */
  host(process: MortalProcess): BootstrapHost {
    const changed = async (work: () => Promise<void>) => {
      const counted = process.countWrite();
      if (counted !== "dead") await work();
      return counted === "sent" ? ok(undefined) : ({ ok: false, error: "killed" } as const);
    };
    const { atEnd } = this;
    const ends = { name: BOOTSTRAP, atEnd, endpoints: () => Promise.resolve(ok(ENDPOINTS)), discard: "delete it" };
    if (atEnd === "cleaned") return { ...ends, ...this.#preparedHost(process) };
    return {
      ...ends,
      find: () => Promise.resolve(ok(this.bootstrap === undefined ? undefined : process.client(this.bootstrap.client))),
      create: () => changed(() => this.#create()),
      remove: () => changed(() => this.#remove()),
    };
  }

  /** As `lattice install --bootstrap-kubeconfig` uses one. */
  #preparedHost(process: MortalProcess): Pick<BootstrapHost, "find" | "create" | "remove"> {
    const { bootstrap, clock } = this;
    if (bootstrap === undefined) throw new Error("there is no bootstrap cluster");
    const client = process.client(bootstrap.client);
    const bundle = localClusterBundle({ crds: reducedCapiCrds("docker"), inventory: providerInventory("docker") });
    return {
      find: async (signal) => {
        const record = await readBootstrapRecord(client, { signal });
        if (!record.ok) return record;
        return ok(record.value === undefined || record.value.state === "preparing" ? undefined : client);
      },
      create: async (signal) => {
        const prepared = { client, cluster: NAME, bundle: () => Promise.resolve(ok(bundle)), clock, signal };
        const plan = await planBootstrap(prepared);
        if (!plan.ok) return plan;
        const objects = plan.value.kind === "ready" ? [] : plan.value.objects;
        const done = await prepareBootstrap(prepared, objects);
        if (done.ok) this.#observe();
        return done;
      },
      remove: async (signal) => {
        const left = [...(await movedContents(bootstrap.client)).keys()];
        if (left.length > 0) this.wrong.push(`the bootstrap cluster is cleaned with ${left[0] ?? ""}`);
        if (!this.#isDeleted) this.wrong.push(...(await this.#unowned()));
        return cleanBootstrap({ client, cell: BOOTSTRAP, clock, signal });
      },
    };
  }

  access(process: MortalProcess): ManagementAccess {
    return {
      find: () => {
        // with a kubeconfig, a cluster that is gone does not answer
        const isSilent = this.#isDeleted && !this.#isMarkedDeleted && this.atEnd !== "removed";
        if (isSilent) return Promise.resolve(err("connection refused"));
        return Promise.resolve(ok(this.management === undefined ? undefined : process.client(this.management.client)));
      },
      kubeconfig: () => Promise.resolve(ok("apiVersion: v1\nkind: Config\n")),
      edit: "kubectl edit",
      markDeleted: () => {
        const counted = process.countWrite();
        if (counted !== "dead") this.#isMarkedDeleted = true;
        return Promise.resolve(counted === "sent" ? ok(undefined) : err("killed"));
      },
    };
  }

  async #create(): Promise<void> {
    if (this.bootstrap === undefined) {
      this.bootstrap = await newCluster(1);
      this.#watchDeletion(this.bootstrap);
    }
    this.#observe();
  }

  async #remove(): Promise<void> {
    const left = this.bootstrap === undefined ? [] : [...(await movedContents(this.bootstrap.client)).keys()];
    if (left.length > 0) this.wrong.push(`the bootstrap cluster is removed with ${left[0] ?? ""}`);
    if (!this.#isDeleted) this.wrong.push(...(await this.#unowned()));
    const { bootstrap } = this;
    this.bootstrap = undefined;
    await bootstrap?.close();
  }

  async #startManagement(): Promise<EmbeddedCluster> {
    const management = await newCluster(2);
    const data = { cluster: NAME };
    await management.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
    await management.add({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: IDENTITY_CONFIG_MAP, namespace: OPERATOR_NAMESPACE },
      data,
    });
    this.management = management;
    return management;
  }

  #observe(): void {
    const { bootstrap: source, management: target } = this;
    if (source === undefined || target === undefined || this.#expected.size === 0 || this.#isObserved) return;
    this.#isObserved = true;
    this.#observer = observeInvariants({ source, target }, this.#expected.keys(), { name: NAME, namespace: NAMESPACE });
  }

  /** What the operator of the bootstrap cluster and Cluster API do next. */
  async advance(): Promise<void> {
    const { bootstrap } = this;
    if (bootstrap === undefined) return;
    try {
      await this.#advanceIn(bootstrap);
    } catch (thrown) {
      // its requests fail once it is removed; whether it may be, is checked there
      if (this.bootstrap === bootstrap) throw thrown;
    }
  }

  async #advanceIn(bootstrap: EmbeddedCluster): Promise<void> {
    if (this.atEnd === "cleaned") await finalizeNamespaces(bootstrap.client);
    const own = bootstrap.peek(latticeClusters, { name: BOOTSTRAP });
    if (own !== undefined && own.status === undefined) await writeStatus(bootstrap.client, BOOTSTRAP, { conditions: [READY] });
    const requested = bootstrap.peek(latticeClusters, { name: NAME });
    if (requested !== undefined && requested.status === undefined) await this.#provision(bootstrap);
    const cluster = bootstrap.peek(capiClusters, { namespace: NAMESPACE, name: NAME });
    if (cluster !== undefined && isBeingDeleted(cluster) && this.#readsBeforeDeletion === 0) await this.#deprovision(bootstrap);
  }

  async #provision(bootstrap: EmbeddedCluster): Promise<void> {
    await makeProvisioned(bootstrap.client, NAME, "fewest", NAMESPACE);
    this.#expected = await movedContents(bootstrap.client);
    const management = await this.#startManagement();
    this.#observe();
    const requested = bootstrap.peek(latticeClusters, { name: NAME });
    await management.add(rawCluster({ ...requested?.spec, cellRef: BOOTSTRAP }, NAME));
    const secret = (name: string, namespace: string) => ({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data: {} });
    await management.add(secret(PARENT_CONFIG_SECRET, OPERATOR_NAMESPACE), secret(`${NAME}-kubeconfig`, NAMESPACE));
    const moved = await moveNamespace({
      source: bootstrap.client,
      target: management.client,
      namespace: NAMESPACE,
      identity: "operator",
      // longer than all progress of the move together
      leaseMs: 3_600_000,
      waitMs: 1_000,
      clock: this.clock,
      random: seededRandom(3),
      signal: new AbortController().signal,
      onWait: () => {},
      // the installation looks at a move that is not finished
      report: () => this.clock.jump(PROGRESS_MS),
      leftToTarget: isKubeconfig,
    });
    if (!moved.ok) {
      this.wrong.push(`the move does not end: ${moved.error.message}`);
      return;
    }
    if (this.bootstrap === undefined) return;
    await writeStatus(bootstrap.client, NAME, { phase: "Ready", ownedBy: "self" });
  }

  /** The machines go, and with them the management cluster. */
  async #deprovision(bootstrap: EmbeddedCluster): Promise<void> {
    this.wrong.push(...this.#observer.wrong.splice(0), ...(await this.#notTakenBack(bootstrap)));
    this.#isDeleted = true;
    for (const resource of MOVED_KINDS) {
      const { items } = expectOk(await bootstrap.client.list<KubeObject>(resource, { namespace: NAMESPACE }));
      for (const { metadata } of items) {
        if (metadata.name.startsWith("lattice-move")) continue;
        const key = { namespace: NAMESPACE, name: metadata.name };
        await bootstrap.client.patch(resource, key, { type: "merge", patch: { metadata: { finalizers: null } } });
        await bootstrap.client.delete(resource, key);
      }
    }
    const { management } = this;
    this.management = undefined;
    await management?.close();
  }

  /** Why the bootstrap cluster cannot delete the machines of the management cluster. */
  async #notTakenBack(bootstrap: EmbeddedCluster): Promise<readonly string[]> {
    const moved = await movedContents(bootstrap.client);
    const missing = [...this.#expected.keys()].find((name) => !moved.has(name));
    const record = bootstrap.peek<KubeObject>(configMaps, { namespace: NAMESPACE, name: MOVE_RECORD });
    const journal = bootstrap.peek(secrets, { namespace: NAMESPACE, name: MOVE_JOURNAL });
    const { state } = ownershipOf({ record, hasJournal: journal !== undefined });
    const access = bootstrap.peek(secrets, { namespace: NAMESPACE, name: `${NAME}-kubeconfig` });
    const isPaused = !isUnpaused(bootstrap, NAME, NAMESPACE);
    return [
      ...(missing === undefined ? [] : [`the machines are deleted before ${missing} was moved back`]),
      ...(state === "owner" ? [] : [`the machines are deleted by a bootstrap cluster that does not own them: ${state}`]),
      ...(isPaused ? ["the Cluster is paused, so that Cluster API deletes no machines"] : []),
      ...(access === undefined ? ["the bootstrap cluster cannot reach the cluster whose machines it deletes"] : []),
    ];
  }

  /** A LatticeCluster that is deleted on a parent takes its objects back, unless that is excluded. */
  #watchRelease(bootstrap: EmbeddedCluster): void {
    bootstrap.intercept({ verb: "delete", resource: latticeClusters, name: NAME, times: Number.POSITIVE_INFINITY }, (_action, next) => {
      const found = bootstrap.peek(latticeClusters, { name: NAME });
      const { unpivot = true } = found?.spec.deletion ?? {};
      if (found !== undefined && unpivot) this.wrong.push("the bootstrap cluster is to take the objects back that it has moved");
      return next();
    });
  }

  #watchDeletion(bootstrap: EmbeddedCluster): void {
    bootstrap.intercept({ verb: "get", resource: capiClusters, name: NAME, times: Number.POSITIVE_INFINITY }, (_action, next) => {
      const found = bootstrap.peek(capiClusters, { namespace: NAMESPACE, name: NAME });
      if (found !== undefined && isBeingDeleted(found)) this.#readsBeforeDeletion = Math.max(0, this.#readsBeforeDeletion - 1);
      return next();
    });
  }

  /** What is wrong after an installation. */
  async installed(): Promise<readonly string[]> {
    return [...this.#problems(), ...(await this.#unowned()), ...(await this.#leftInBootstrap())];
  }

  /** What is wrong after its reverse. */
  async uninstalled(): Promise<readonly string[]> {
    return [
      ...this.#problems(),
      ...(this.management === undefined ? [] : ["the management cluster still runs"]),
      ...(await this.#leftInBootstrap()),
    ];
  }

  #problems(): readonly string[] {
    const missing = /on neither side$/;
    return [...this.wrong, ...this.#observer.wrong.filter((text) => !this.#isDeleted || !missing.test(text))];
  }

  async #leftInBootstrap(): Promise<readonly string[]> {
    const { bootstrap } = this;
    if (bootstrap === undefined) return [];
    if (this.atEnd === "removed") return ["the bootstrap cluster is left"];
    if (this.atEnd === "cleaned") return this.#leftAfterCleaning(bootstrap);
    const left = [...(await movedContents(bootstrap.client)).keys()];
    if (bootstrap.peek(latticeClusters, { name: NAME }) !== undefined) left.push(`LatticeCluster ${NAME}`);
    const place = bootstrap.peek(namespaces, { name: NAMESPACE });
    if (place !== undefined && !isBeingDeleted(place)) left.push(`namespace ${NAMESPACE}`);
    return left.map((name) => `${name} is left in the bootstrap cluster`);
  }

  async #leftAfterCleaning({ client }: EmbeddedCluster): Promise<readonly string[]> {
    const found = [namespaces, customResourceDefinitions, clusterRoles].map(async (resource: Resource) => {
      const { items } = expectOk(await client.list<KubeObject>(resource));
      return items.map(({ metadata }) => `${resource.kind} ${metadata.name}`);
    });
    const record = expectOk(await readBootstrapRecord(client, {}));
    const left = (await Promise.all(found)).flat().filter((name) => /lattice|cap[ikdl]|cluster\.x-k8s/.test(name));
    return [...left, ...(record === undefined ? [] : ["the record"])].map((name) => `${name} is left in the bootstrap cluster`);
  }

  /** Why the management cluster cannot live without the bootstrap cluster. */
  async #unowned(): Promise<readonly string[]> {
    const { management } = this;
    if (management === undefined) return ["there is no management cluster"];
    const moved = await movedContents(management.client);
    const wrong = [...this.#expected].filter(([name, object]) => comparable(moved.get(name)) !== comparable(object));
    const own = management.peek(latticeClusters, { name: NAME });
    const parent = management.peek(secrets, { namespace: OPERATOR_NAMESPACE, name: PARENT_CONFIG_SECRET });
    return [
      ...wrong.map(([name]) => `${name} is not what it was`),
      ...(own === undefined ? [`LatticeCluster ${NAME} is missing`] : []),
      ...(own?.spec.cellRef === undefined && parent === undefined ? [] : ["it has a parent"]),
    ];
  }
}

const READY = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };

async function newCluster(seed: number): Promise<EmbeddedCluster> {
  const cluster = await startManagementCluster(seed);
  await cluster.add(latticeClusterKind.crd(), { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } });
  return cluster;
}

/** What the namespace controller does; the others of a controller manager would change Cluster API objects. */
async function finalizeNamespaces(client: KubeClient): Promise<void> {
  const { items } = expectOk(await client.list(namespaces));
  for (const place of items.filter(isBeingDeleted))
    expectOk(await client.update(namespaces, { ...place, spec: { finalizers: [] } }, { subresource: "finalize" }));
}

async function writeStatus(client: KubeClient, name: string, status: object): Promise<void> {
  const body = { type: "merge", patch: { status } } as never;
  expectOk(await client.patch(latticeClusters, { name }, body, { subresource: "status" }));
}

function isKubeconfig({ kind, metadata }: ObjectOutline): boolean {
  return kind === "Secret" && metadata.name === `${NAME}-kubeconfig`;
}

async function movedContents(client: KubeClient): Promise<ReadonlyMap<string, unknown>> {
  return new Map([...(await contentsOf(client, NAMESPACE))].filter(([name]) => !/unrelated|kubeconfig/.test(name)));
}
