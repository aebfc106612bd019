/**
 * The life of one cluster of Cluster API, the same for the real managers and for the simulator: created, scaled, paused, rolled out, repaired,
 * deleted. A step begins when the one before has settled.
 */
import { expectOk } from "#base";
import { parseYaml, type Json, type JsonObject, type KubeObject, type Node } from "#kube";
import type { KubeClient } from "#kube-client";
import { devClusterYaml } from "../capi-objects.ts";
import { ClusterApiRecorder, storyResource, type StoryChapter, type StoryObject } from "./recorder.ts";
import { isSettled, statusOfCondition } from "./settled.ts";

/** Where the scenario runs. */
export type ScenarioPlane = {
  readonly client: KubeClient;
  /** Polls, and lets time pass in between. */
  readonly until: (what: string, holds: () => boolean) => Promise<void>;
  /** Waits until no controller writes any more. */
  readonly quiet: (events: () => number) => Promise<void>;
  /** Sets condition Ready of a Node of the child to False. */
  readonly failNode: (name: string) => Promise<void>;
};

/** Its namespace has the same name and exists. */
export const SCENARIO_CLUSTER = "c1";
const namespace = SCENARIO_CLUSTER;
const PAUSED = "cluster.x-k8s.io/paused";
/** Longer than a controller on a busy computer is late: no step of a machine's start is skipped. */
const STARTUP = "8s";
/** The Pods of a control plane appear with its Node: otherwise it depends on the time of a look whether they are missing. */
const AT_ONCE = "0s";

export async function runScenario(plane: ScenarioPlane): Promise<readonly StoryChapter[]> {
  const recorder = new ClusterApiRecorder();
  await recorder.start(plane.client, namespace);
  try {
    await new Scenario(plane, recorder).run();
  } finally {
    await recorder.stop();
  }
  if (recorder.problems.length > 0) throw new Error(`the recording is incomplete: ${recorder.problems.join("; ")}`);
  return recorder.chapters;
}

/** The conditions of a Node whose kubelet has stopped. */
export function failedConditions({ status }: Node, now: Date): readonly JsonObject[] {
  const failed = { status: "False", reason: "KubeletNotReady", message: "stopped", lastTransitionTime: now.toISOString() };
  return (status?.conditions ?? []).map((condition) => ({ ...condition, ...(condition.type === "Ready" ? failed : {}) }));
}

class Scenario {
  readonly #plane: ScenarioPlane;
  readonly #recorder: ClusterApiRecorder;

  constructor(plane: ScenarioPlane, recorder: ClusterApiRecorder) {
    this.#plane = plane;
    this.#recorder = recorder;
  }

  async run(): Promise<void> {
    await this.#step("one control plane and two workers", 3, () => this.#apply(devClusterYaml(SCENARIO_CLUSTER, STARTUP, AT_ONCE)));
    await this.#step("a third worker", 4, () => this.#patch("MachineDeployment", "c1-md", { spec: { replicas: 3 } }));
    await this.#pauseCluster();
    await this.#pauseDeployment();
    await this.#step("a new template of the workers", 3, () => this.#rollWorkers());
    await this.#repair();
    await this.#step("a new template of the control plane", 3, () => this.#rollControlPlane());
    this.#recorder.chapter("deleted");
    await this.#delete("Cluster", SCENARIO_CLUSTER);
    await this.#until("the Cluster is gone", () => this.#recorder.all("Cluster").length === 0);
    await this.#plane.quiet(() => this.#recorder.length);
  }

  async #pauseCluster(): Promise<void> {
    this.#recorder.chapter("paused by the field of the Cluster");
    await this.#patch("Cluster", SCENARIO_CLUSTER, { spec: { paused: true } });
    await this.#until("all objects are paused", () => this.#withPaused().every((object) => statusOfCondition(object, "Paused") === "True"));
    await this.#plane.quiet(() => this.#recorder.length);
    await this.#step("unpaused", 4, () => this.#patch("Cluster", SCENARIO_CLUSTER, { spec: { paused: null } }));
  }

  /** While it is paused, a change of the replicas has no effect. */
  async #pauseDeployment(): Promise<void> {
    this.#recorder.chapter("the MachineDeployment is paused by its annotation, and loses a worker");
    await this.#patch("MachineDeployment", "c1-md", { metadata: { annotations: { [PAUSED]: "" } } });
    const paused = () => this.#recorder.all("MachineDeployment").every((object) => statusOfCondition(object, "Paused") === "True");
    await this.#until("the MachineDeployment is paused", paused);
    await this.#patch("MachineDeployment", "c1-md", { spec: { replicas: 2 } });
    await this.#plane.quiet(() => this.#recorder.length);
    const annotations = { [PAUSED]: null };
    await this.#step("the annotation is removed", 3, () => this.#patch("MachineDeployment", "c1-md", { metadata: { annotations } }));
  }

  async #rollWorkers(): Promise<void> {
    const name = await this.#copyTemplate("c1-md");
    await this.#patch("MachineDeployment", "c1-md", { spec: { template: { spec: { infrastructureRef: { name } } } } });
  }

  async #rollControlPlane(): Promise<void> {
    const name = await this.#copyTemplate("c1-cp");
    await this.#patch("KubeadmControlPlane", "c1-cp", { spec: { machineTemplate: { spec: { infrastructureRef: { name } } } } });
  }

  async #repair(): Promise<void> {
    await this.#step("a MachineHealthCheck of the workers", 3, () => this.#apply(HEALTH_CHECK));
    const [victim] = this.#recorder.all("Machine").filter(({ metadata }) => metadata.name.startsWith("c1-md-"));
    const node = victim?.metadata.name ?? "";
    const isReplaced = () => !this.#recorder.all("Machine").some(({ metadata }) => metadata.name === victim?.metadata.name);
    await this.#step("a Node fails", 3, () => this.#plane.failNode(node), isReplaced);
    await this.#step("the MachineHealthCheck is deleted", 3, () => this.#delete("MachineHealthCheck", "c1-md"));
  }

  async #copyTemplate(name: string): Promise<string> {
    const { client } = this.#plane;
    const resource = storyResource("DevMachineTemplate");
    const { spec, apiVersion, kind } = expectOk(await client.get(resource, { namespace, name }));
    const copy: StoryObject = { apiVersion, kind, metadata: { name: `${name}-v2`, namespace }, ...(spec === undefined ? {} : { spec }) };
    expectOk(await client.create(resource, copy));
    return copy.metadata.name;
  }

  /** `machines`: how many there are when it has settled. */
  async #step(title: string, machines: number, act: () => Promise<void>, also: () => boolean = () => true): Promise<void> {
    this.#recorder.chapter(title);
    await act();
    await this.#until(title, () => also() && isSettled(this.#recorder, machines));
    await this.#plane.quiet(() => this.#recorder.length);
  }

  #until(what: string, holds: () => boolean): Promise<void> {
    return this.#plane.until(what, holds);
  }

  #withPaused(): readonly StoryObject[] {
    return [
      "Cluster",
      "DevCluster",
      "KubeadmControlPlane",
      "MachineDeployment",
      "MachineSet",
      "Machine",
      "KubeadmConfig",
      "DevMachine",
    ].flatMap((kind) => this.#recorder.all(kind));
  }

  /** The Cluster comes last: what it refers to exists when its first pass runs. */
  async #apply(yaml: string): Promise<void> {
    const objects = expectOk(parseYaml(yaml)) as unknown as readonly KubeObject[];
    for (const object of objects.toSorted((left, right) => Number(left.kind === "Cluster") - Number(right.kind === "Cluster"))) {
      const applied = expectOk(await this.#plane.client.apply(storyResource(object.kind), object, { fieldManager: "story", force: true }));
      await this.#recorded(applied);
    }
  }

  async #delete(kind: string, name: string): Promise<void> {
    expectOk(await this.#plane.client.delete(storyResource(kind), { namespace, name }));
    const isLive = ({ metadata }: StoryObject) => metadata.name === name && metadata.deletionTimestamp === undefined;
    await this.#until(`the deletion of ${kind} ${name} is recorded`, () => !this.#recorder.all(kind).some(isLive));
  }

  async #patch(kind: string, name: string, patch: Json): Promise<void> {
    await this.#recorded(expectOk(await this.#plane.client.patch(storyResource(kind), { namespace, name }, { type: "merge", patch })));
  }

  /** Until then the newest recorded state is that before the change, which has settled. */
  #recorded({ kind, metadata: { name, resourceVersion } }: KubeObject): Promise<void> {
    const isThis = ({ metadata }: StoryObject) => metadata.name === name && Number(metadata.resourceVersion) >= Number(resourceVersion);
    return this.#until(`${kind} ${name} is recorded`, () => this.#recorder.all(kind).some(isThis));
  }
}

const HEALTH_CHECK = `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: c1-md, namespace: c1}
spec:
  clusterName: c1
  selector: {matchLabels: {cluster.x-k8s.io/deployment-name: c1-md}}
  checks:
    nodeStartupTimeoutSeconds: 600
    unhealthyNodeConditions: [{type: Ready, status: "False", timeoutSeconds: 3}]
  remediation: {triggerIf: {unhealthyLessThanOrEqualTo: 100%}}
`;
