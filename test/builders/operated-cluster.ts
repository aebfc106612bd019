/** An embedded cluster with the operator's controllers and a fake clock, as after an installation of Lattice. */
import { createLogger, expectOk, MetricsRegistry, noTracing, type FakeClock, type LogFields } from "#base";
import { createManager, type ControllerManager } from "#controller-runtime";
import { FollowedWorld, reducedMeshCrds, type FollowedWorldOptions } from "#controllers";
import { latticeKinds, latticeServices, type LatticeService } from "#crds";
import { resources, startEmbeddedCluster, type ClusterUser, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import {
  events,
  groupResourceOf,
  keyText,
  parseKey,
  parseYaml,
  type Condition,
  type KubeEvent,
  type KubeObject,
  type Resource,
} from "#kube";
import { OPERATOR_NAME, OPERATOR_NAMESPACE, operatorControllers, operatorRbac, operatorScope } from "#operator";

export type OperatedOptions = {
  readonly objects?: readonly FixtureObject[];
  /** Whether the kinds of Cilium, Istio and so on are installed from the start; default: true. */
  readonly mesh?: boolean | readonly FixtureObject[];
  /** Whether Deployments, garbage collection and so on work; default: true. */
  readonly controllers?: boolean;
  readonly settings?: FollowedWorldOptions["settings"];
  /** true: the operator runs as its ServiceAccount with the roles of `lattice rbac`; default: as an administrator. */
  readonly rbac?: boolean;
  /** `--namespaces`: the namespaces that the operator manages. */
  readonly namespaces?: readonly string[];
  /** `--allow-unprotected`: services run without the kinds that close their namespaces. */
  readonly allowUnprotected?: boolean;
  /** Where `lattice rbac --namespaces` granted Roles; default: in `namespaces`. */
  readonly granted?: readonly string[];
};

/** The user of the operator's ServiceAccount. */
export const OPERATOR_USER: ClusterUser = {
  name: `system:serviceaccount:${OPERATOR_NAMESPACE}:${OPERATOR_NAME}`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${OPERATOR_NAMESPACE}`, "system:authenticated"],
};

const ADMINISTRATOR: ClusterUser = { name: "operator", groups: ["system:masters"] };

export class OperatedCluster implements AsyncDisposable {
  readonly cluster: EmbeddedCluster<FakeClock>;
  readonly metrics = new MetricsRegistry();
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  #options: OperatedOptions;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #manager: ControllerManager | undefined;

  private constructor(cluster: EmbeddedCluster<FakeClock>, options: OperatedOptions) {
    this.cluster = cluster;
    this.#options = options;
  }

  static async start(options: OperatedOptions = {}): Promise<OperatedCluster> {
    const { objects = [], mesh = true, controllers = true, rbac = false } = options;
    const meshCrds = mesh === true ? reducedMeshCrds() : mesh === false ? [] : mesh;
    const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } };
    const cluster = await startEmbeddedCluster({ clock: "fake", controllers, objects: [home] });
    // as an administrator installs them: fixtures cannot name kinds that do not exist yet
    await cluster.add(...latticeKinds.map(({ crd }) => crd()), ...meshCrds);
    await cluster.clock.advance(10);
    const operated = new OperatedCluster(cluster, options);
    await operated.apply(...objects);
    const granted = options.granted ?? options.namespaces;
    for (const name of granted ?? []) await cluster.client.create(resources.namespaces, namespaceObject(name));
    if (rbac) await operated.apply(...operatorRbac(OPERATOR_NAMESPACE, granted));
    operated.startOperator();
    await operated.live(3_000);
    return operated;
  }

  get client() {
    return this.cluster.client;
  }

  get clock(): FakeClock {
    return this.cluster.clock;
  }

  get manager(): ControllerManager {
    if (this.#manager === undefined) throw new Error("the operator does not run");
    return this.#manager;
  }

  /** The user that the operator acts as. */
  get user(): ClusterUser {
    return this.#options.rbac === true ? OPERATOR_USER : ADMINISTRATOR;
  }

  startOperator(): void {
    const { clock, metrics } = this;
    const { settings, namespaces, allowUnprotected } = this.#options;
    const logger = createLogger((level, message, fields) => void this.lines.push({ level, message, fields }));
    const client = this.cluster.clientFor(this.user);
    const bytes = (count: number) => Uint8Array.from({ length: count }, (_, at) => at);
    const followed = new FollowedWorld({
      namespace: OPERATOR_NAMESPACE,
      namespaces,
      allowUnprotected,
      randomBytes: bytes,
      settings,
      logger,
    });
    const controllers = operatorControllers(followed);
    const scope = operatorScope(followed.reach);
    const runtime = { clock, random: () => 0.5, logger, metrics, tracer: noTracing, identity: "test" };
    const manager = createManager({ ...runtime, client, controllers, scope });
    followed.follow(manager.cache);
    this.#manager = manager;
    this.#stop = new AbortController();
    this.#running = manager.run(this.#stop.signal);
  }

  /** Ends the operator and starts it with other options. */
  async restart(options: Pick<OperatedOptions, "namespaces">): Promise<void> {
    await this.stopOperator();
    this.#options = { ...this.#options, ...options };
    this.startOperator();
    await this.live(3_000);
  }

  async stopOperator(): Promise<void> {
    this.#stop.abort();
    await this.live(100);
    await this.#running;
  }

  /** Advances the clock in small steps, so that the effects of a step happen at their time. */
  async live(ms: number, stepMs = 100): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(left, stepMs));
      await this.cluster.settled();
    }
  }

  /** Server-side apply, as `kubectl apply --server-side`. */
  async apply(...objects: readonly FixtureObject[]): Promise<void> {
    for (const object of objects as readonly KubeObject[]) {
      const resource = this.cluster.resource(object.kind, object.apiVersion);
      const known = await this.client.get(resource, { namespace: object.metadata.namespace, name: object.metadata.name });
      const namespace = object.metadata.namespace;
      if (namespace !== undefined && !known.ok) await this.client.create(resources.namespaces, namespaceObject(namespace));
      expectOk(await this.client.apply(resource, object, { fieldManager: "kubectl", force: true }));
    }
  }

  async applyYaml(text: string): Promise<void> {
    await this.apply(...expectOk(parseYaml(text)).map((document) => document as unknown as FixtureObject));
  }

  async remove(resource: Resource, key: string): Promise<void> {
    expectOk(await this.client.delete(resource, parseKey(key)));
  }

  async service(key: string): Promise<LatticeService> {
    return expectOk(await this.client.get(latticeServices, parseKey(key)));
  }

  async condition(key: string, type: string): Promise<Condition | undefined> {
    return (await this.service(key)).status?.conditions?.find((condition) => condition.type === type);
  }

  /** The object, or undefined. */
  async read<T extends KubeObject = KubeObject>(kind: string, key: string): Promise<T | undefined> {
    const answer = await this.client.get(this.cluster.resource(kind), parseKey(key));
    return answer.ok ? (answer.value as T) : undefined;
  }

  async list(kind: string): Promise<readonly KubeObject[]> {
    return expectOk(await this.client.list(this.cluster.resource(kind))).items;
  }

  async names(kind: string, namespace: string): Promise<readonly string[]> {
    return (await this.list(kind)).filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name);
  }

  async events(): Promise<readonly KubeEvent[]> {
    return expectOk(await this.client.list(events)).items;
  }

  /** "apply deployments.apps shop/api": the accepted writes of the operator, oldest first, without events. */
  writes(): readonly string[] {
    return this.cluster.actions
      .writes()
      .filter(({ user, resource, code = 500 }) => user.name === this.user.name && resource?.plural !== "events" && code < 300)
      .map(({ verb, resource, subresource, namespace, name = "" }) => {
        const what = resource === undefined ? "" : groupResourceOf(resource);
        return `${verb} ${what}${subresource === undefined ? "" : `/${subresource}`} ${keyText({ namespace, name })}`;
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    await this.cluster.close();
  }
}

function namespaceObject(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}
