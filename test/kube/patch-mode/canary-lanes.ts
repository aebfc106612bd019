/** One namespace with a Flagger of its own settings, a patched Deployment with its Canary, and the control; and what a story checks of them. */
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { canonicalJson, fieldAt, findCondition, type Condition, type Json, type JsonObject, type KubeObject } from "#kube";
import { recordOf } from "#workload-patch";
import { secret } from "../../builders/lattice-objects.ts";
import { PROGRAM } from "../../builders/program.ts";
import { eventually, runProgram, type PlaneAccess } from "../harness/index.ts";
import {
  applyAsOwner,
  canaryObjects,
  CONTROL,
  deploymentPath,
  FIRST_VERSION,
  ownedDeployment,
  PATCHED,
  promoted,
  readObject,
  SECOND_VERSION,
  surroundings,
  untilPhase,
  type CanaryOptions,
} from "./canaried.ts";
import { startFlagger, type FlaggerProcess } from "./flagger-process.ts";
import { noticeable } from "./patch-operator.ts";

export type LaneOptions = CanaryOptions & {
  readonly name: string;
  readonly flags: readonly string[];
  /** Of the LatticeService. */
  readonly service: string;
  readonly detachBy: "command" | "deletion";
  /** What the Deployment gets first. */
  readonly first: "patch" | "canary";
};

export const LANES: readonly LaneOptions[] = [
  // the Service of the LatticeService is then the one that Flagger rewrites
  { name: "with its defaults", flags: [], service: PATCHED, analysis: true, autoscaler: true, detachBy: "command", first: "patch" },
  {
    name: "without config tracking",
    flags: ["-enable-config-tracking=false"],
    service: "patching",
    analysis: false,
    autoscaler: false,
    detachBy: "deletion",
    first: "patch",
  },
  {
    name: "that copies all labels",
    flags: ["-enable-config-tracking=false", "-include-label-prefix=*"],
    service: "patching",
    analysis: false,
    autoscaler: false,
    detachBy: "deletion",
    first: "canary",
  },
];

type Setting = LaneOptions & { readonly binaries: string; readonly home: string };

export async function startLane(plane: PlaneAccess, options: Setting): Promise<Lane> {
  const namespace = await plane.makeNamespace("canaried");
  const flagger = await startFlagger(plane, { binaries: options.binaries, namespace, flags: options.flags });
  return new Lane(plane, options, namespace, flagger);
}

/** Autoscalers are looked at every 15 s. */
const SETTLED_MS = 20_000;
/** Flagger looks every 10 s, and lists its objects every 30 s. */
const QUIET_MS = 45_000;
const COPY = `${PATCHED}-primary`;
const SERVICES = "/apis/lattice.dev/v1alpha1";

export class Lane {
  readonly options: Setting;
  readonly flagger: FlaggerProcess;
  /** All reasons that condition WorkloadPatched had. */
  readonly reasons = new Set<string>();
  readonly #plane: PlaneAccess;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  #watching: Promise<void> | undefined;

  constructor(plane: PlaneAccess, options: Setting, namespace: string, flagger: FlaggerProcess) {
    this.#plane = plane;
    this.options = options;
    this.#namespace = namespace;
    this.flagger = flagger;
  }

  async initialize(): Promise<void> {
    const [plane, namespace] = [this.#plane, this.#namespace];
    const owned = [PATCHED, CONTROL].map((name) => ownedDeployment(name, FIRST_VERSION));
    const password = secret(`${namespace}/postgres-db`, { password: "p" }) as JsonObject;
    await applyAsOwner(plane, namespace, [...surroundings(), ...owned, password]);
    const isCanaryFirst = this.options.first === "canary";
    if (isCanaryFirst) await this.#addCanaries();
    const patch = () => applyAsOwner(plane, namespace, [this.#latticeService("debug")]);
    await (isCanaryFirst ? promoted(plane, namespace, PATCHED, patch) : patch());
    this.#watching = this.#watchReasons();
    await this.#untilPatched("debug");
    if (!isCanaryFirst) await this.#addCanaries();
  }

  async #addCanaries(): Promise<void> {
    const [plane, namespace] = [this.#plane, this.#namespace];
    const objects = [PATCHED, CONTROL].flatMap((name) => canaryObjects(name, this.options));
    await applyAsOwner(plane, namespace, objects);
    for (const name of [PATCHED, CONTROL]) await untilPhase(plane, namespace, name, "Initialized");
  }

  #latticeService(level: string): JsonObject {
    const container = {
      variables: { LEVEL: level, LATTICE: "on", PASSWORD: "${resources.db.password}" },
      files: { "/etc/lattice/story.txt": { content: `patched for ${level}` } },
      resources: { limits: { memory: "128Mi", cpu: "1" } },
    };
    const workloadRef = { kind: "Deployment", name: PATCHED, namespace: this.#namespace };
    return {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeService",
      metadata: { name: this.options.service },
      spec: {
        workloadRef,
        containers: { app: container },
        resources: { db: { type: "postgres" } },
        service: { ports: { http: { port: 8080 } } },
      },
    };
  }

  #serviceNow(): Promise<KubeObject | undefined> {
    return readObject(this.#plane, `${SERVICES}/namespaces/${this.#namespace}/latticeservices/${this.options.service}`);
  }

  async #watchReasons(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const conditions = fieldAt(await this.#serviceNow(), "status", "conditions");
      const found = findCondition((conditions ?? []) as readonly Condition[], "WorkloadPatched");
      if (found !== undefined) this.reasons.add(found.reason ?? "");
      await delay(200);
    }
  }

  #read(name: string): Promise<KubeObject | undefined> {
    return readObject(this.#plane, deploymentPath(this.#namespace, name));
  }

  async #untilPatched(level: string): Promise<void> {
    await eventually("the Deployment has the patch", async () => {
      const deployment = await this.#read(PATCHED);
      const text = JSON.stringify(await this.#config());
      return (deployment !== undefined && recordOf(deployment).ok && hasPatch(deployment) && text.includes(level)) || undefined;
    });
  }

  async #config(): Promise<readonly KubeObject[]> {
    const found = await Promise.all(
      ["configmaps", "secrets"].map((plural) => this.#list(`/api/v1/namespaces/${this.#namespace}/${plural}`)),
    );
    return found.flat();
  }

  async #list(path: string): Promise<readonly KubeObject[]> {
    return ((await readObject(this.#plane, path)) as unknown as { items: readonly KubeObject[] }).items;
  }

  /** Names of the ConfigMaps and Secrets of the service. */
  async #ownConfig(): Promise<readonly string[]> {
    const own = new RegExp(`^${this.options.service}-(env|files|secrets)`);
    return (await this.#config()).map(({ metadata: { name } }) => name).filter((name) => own.test(name) && !name.endsWith("-primary"));
  }

  async copyIsPatched(): Promise<boolean> {
    return hasPatch(await this.#read(COPY));
  }

  /** What is of Lattice in the copy of the Deployment and of its autoscaler. */
  async copyProblems(): Promise<readonly string[]> {
    const path = `/apis/autoscaling/v2/namespaces/${this.#namespace}/horizontalpodautoscalers/${COPY}`;
    const copies = [await this.#read(COPY), ...(this.options.autoscaler ? [await readObject(this.#plane, path)] : [])];
    const managers = copies.flatMap((copy) => (copy?.metadata.managedFields ?? []).map((entry) => fieldAt(entry, "manager")));
    const foreign = managers.filter((manager) => manager !== "flagger" && manager !== "kube-controller-manager");
    const stored = await this.#list(`/api/v1/namespaces/${this.options.home}/configmaps`);
    const claimed = stored.filter((map) => JSON.stringify(map).includes(COPY)).map(({ metadata }) => metadata.name);
    return [...foreign.map((manager) => `written by ${JSON.stringify(manager)}`), ...claimed.map((name) => `named in ConfigMap ${name}`)];
  }

  /** No resourceVersion in the namespace or of a stored patch changes, when everything that follows from the last change has happened. */
  async quiet(): Promise<void> {
    let before = await this.#versions();
    const settle = async () => {
      const earlier = before;
      await delay(SETTLED_MS);
      before = await this.#versions();
      return canonicalJson(earlier) === canonicalJson(before) || undefined;
    };
    await eventually("all Pods and autoscalers are settled", settle, { withinMs: 150_000 });
    await delay(QUIET_MS);
    expect(await this.#versions()).toEqual(before);
  }

  async #versions(): Promise<JsonObject> {
    const namespaced = (api: string, plurals: readonly string[]) =>
      plurals.map((plural) => `${api}/namespaces/${this.#namespace}/${plural}`);
    const paths = [
      ...namespaced("/api/v1", ["configmaps", "secrets", "services", "serviceaccounts", "pods"]),
      ...namespaced("/apis/apps/v1", ["deployments", "replicasets"]),
      ...namespaced("/apis/autoscaling/v2", ["horizontalpodautoscalers"]),
      ...namespaced("/apis/flagger.app/v1beta1", ["canaries"]),
      ...namespaced(SERVICES, ["latticeservices"]),
      `/api/v1/namespaces/${this.options.home}/configmaps`,
    ];
    const lists = await Promise.all(paths.map(async (path) => [path, await this.#list(path)] as const));
    return Object.fromEntries(
      lists.flatMap(([path, items]) => items.map(({ metadata }) => [`${path}/${metadata.name}`, metadata.resourceVersion ?? ""])),
    );
  }

  async upgrade(): Promise<void> {
    const upgradeOf = (name: string) => () => applyAsOwner(this.#plane, this.#namespace, [ownedDeployment(name, SECOND_VERSION)]);
    await Promise.all([PATCHED, CONTROL].map((name) => promoted(this.#plane, this.#namespace, name, upgradeOf(name))));
  }

  async changePatch(level: string): Promise<void> {
    await promoted(this.#plane, this.#namespace, PATCHED, () => applyAsOwner(this.#plane, this.#namespace, [this.#latticeService(level)]));
  }

  /** The Deployment and the copy have the image, and the value of LEVEL that they refer to. */
  async expectPatched({ image, level }: { readonly image: string; readonly level: string }): Promise<void> {
    const config = await this.#config();
    for (const name of [PATCHED, COPY]) {
      const deployment = await this.#read(name);
      expect([name, hasPatch(deployment)]).toEqual([name, true]);
      const [container] = (fieldAt(deployment, "spec", "template", "spec", "containers") ?? []) as readonly JsonObject[];
      expect(container?.["image"]).toBe(image);
      const referred = config.filter(({ metadata }) => JSON.stringify(container).includes(`"name":"${metadata.name}"`));
      expect(JSON.stringify(referred)).toContain(`"${level}"`);
      expect(fieldAt(container, "resources", "limits", "memory")).toBe("128Mi");
    }
    expect(await this.copyProblems()).toEqual([]);
  }

  /** Config exists as long as the copy has the patch. */
  async detach(): Promise<void> {
    const [plane, namespace] = [this.#plane, this.#namespace];
    this.#stop.abort();
    await this.#watching;
    const address = await this.#address();
    const config = await this.#ownConfig();
    expect(config.length).toBeGreaterThan(2);
    const early: string[] = [];
    const gone = eventually(
      "the service is gone",
      async () => {
        const now = await this.#ownConfig();
        if (now.length < config.length && (await this.copyIsPatched())) early.push(`config is deleted, and ${COPY} has the patch`);
        return (await this.#serviceNow()) === undefined || undefined;
      },
      { withinMs: 300_000, everyMs: 250 },
    );
    await promoted(plane, namespace, PATCHED, () => this.#delete());
    await gone;
    await eventually("config is deleted", async () => (await this.#ownConfig()).length === 0 || undefined);
    expect([...new Set(early)]).toEqual([]);
    expect(await this.#address()).toEqual(address);
  }

  /** The Service that Flagger points at the copy is never deleted. */
  async #address(): Promise<readonly (Json | undefined)[]> {
    const service = await readObject(this.#plane, `/api/v1/namespaces/${this.#namespace}/services/${PATCHED}`);
    return [service?.metadata.uid, fieldAt(service, "spec", "clusterIP"), fieldAt(service, "spec", "selector", "app")];
  }

  async #delete(): Promise<void> {
    const { service, detachBy } = this.options;
    if (detachBy === "deletion") {
      await this.#plane.kubectlOk(["delete", "latticeservice", service, "-n", this.#namespace, "--wait=false"]);
      return;
    }
    const args = [PROGRAM, "detach", service, "-n", this.#namespace, "--wait", "5m"];
    const env = { ...process.env, KUBECONFIG: this.#plane.kubeconfigPath };
    const ran = await runProgram(process.execPath, args, { env, limitMs: 330_000 });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
  }

  /** The Deployment and its copy are as those that Lattice has never patched. The copy has no other managers (`copyProblems`). */
  async expectAsControl(): Promise<void> {
    expect(await this.#noticeable(PATCHED)).toEqual(await this.#noticeable(CONTROL));
    const [copy, control] = [await this.#noticeable(PATCHED, "-primary"), await this.#noticeable(CONTROL, "-primary")];
    expect({ ...copy, owners: [] }).toEqual({ ...control, owners: [] });
    expect(await this.copyProblems()).toEqual([]);
  }

  async #noticeable(name: string, suffix = ""): Promise<JsonObject> {
    const found = await this.#read(`${name}${suffix}`);
    if (found === undefined) throw new Error(`there is no Deployment ${name}${suffix}`);
    return JSON.parse(noticeable(withoutId(found), name)) as JsonObject;
  }

  /** The last lines that Flagger logged. */
  logTail(): string {
    return this.flagger.log().trimEnd().split("\n").slice(-20).join("\n");
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    await this.flagger.close();
  }
}

function hasPatch(deployment: KubeObject | undefined): boolean {
  return fieldAt(deployment, "spec", "template", "metadata", "labels", "lattice.dev/service") !== undefined;
}

/** Flagger writes another one at every promotion. */
function withoutId(copy: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(copy, (key, value: Json) => (key === "flagger-id" ? undefined : value))) as KubeObject;
}
