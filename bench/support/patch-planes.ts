/**
 * Two equal API servers for the bench `admission-patch`, each in a process of its own: with the webhook of patch mode, and with a webhook that does
 * nothing. The webhooks are processes, too. All of them end with this process.
 */
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expectOk } from "#base";
import { webhookConfiguration } from "#http";
import { deployments, field, namespaces, type JsonObject, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { patchRequest } from "#workload-patch";
import { projectRoot } from "../../scripts/process/project.ts";
import { clientOf } from "../../test/builders/kubeconfig-client.ts";
import { realPlane } from "../../test/kube/harness/index.ts";
import { inGroup } from "./guarded-servers.ts";
import { DEPLOYMENTS, NAMESPACE_NAMES, ownersDeployment, PATCHED, targetOf } from "./patch-objects.ts";
import type { PatchWebhookReply, PatchWebhookRequest } from "./patch-webhook-child.ts";

export const SIDES = ["patching", "idle"] as const;
export type Side = (typeof SIDES)[number];

export type ReviewCount = { readonly reviews: number; readonly patched: number };

export type PatchPlanes = {
  readonly clients: Readonly<Record<Side, KubeClient>>;
  /** Creates or deletes the configuration of the patching webhook. Resolves when the API server follows it. */
  readonly setWebhook: (isPresent: boolean) => Promise<void>;
  /** Collects the garbage of the server with the patching webhook, so that what was done before has no part in the next latencies. */
  readonly collect: () => Promise<void>;
  readonly reviews: () => Promise<{ readonly patching: ReviewCount; readonly idle: ReviewCount }>;
  readonly close: () => Promise<void>;
};

/** An API server that runs. `collect` has no effect where the server cannot be asked. */
type Plane = { readonly kubeconfig: string; readonly collect: () => Promise<void>; readonly stop: () => Promise<void> };
export type StartPlane = () => Promise<Plane>;

const CONFIGURATIONS = inGroup("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
const PARALLEL = 8;
const MOST_TRIES = 10_000;

export const embeddedPlane: StartPlane = async () => {
  const child = startChild("patch-server-child.ts");
  const kubeconfig = await ask<string>(child, "start");
  return { kubeconfig, collect: async () => void (await ask(child, "collect")), stop: () => ended(child) };
};

/** etcd and kube-apiserver. */
export function kubernetesPlane(binaries: string): StartPlane {
  return async () => {
    const plane = await realPlane({ binaries, controllerManager: "absent" });
    return { kubeconfig: plane.kubeconfigText, collect: async () => {}, stop: () => plane.stop() };
  };
}

/** The servers are filled in turns: one that was filled earlier than another is slower afterwards, by some percent. */
export async function startPatchPlanes(startPlane: StartPlane): Promise<PatchPlanes> {
  const stops: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  };
  try {
    const hooks = { patching: startChild("patch-webhook-child.ts"), idle: startChild("patch-webhook-child.ts") };
    stops.push(
      () => ended(hooks.patching),
      () => ended(hooks.idle),
    );
    const open = async () => {
      const { kubeconfig, collect, stop } = await startPlane();
      stops.push(stop);
      const client = await clientOf(kubeconfig);
      stops.push(() => client.close());
      return { client, collect };
    };
    const [patching, idle] = [await open(), await open()];
    const clients = { patching: patching.client, idle: idle.client };
    await fill(SIDES.map((side) => clients[side]));
    const webhooks = {
      patching: new Webhook(clients.patching, hooks.patching, await configurationOf(hooks.patching, "patching")),
      idle: new Webhook(clients.idle, hooks.idle, await configurationOf(hooks.idle, "idle")),
    };
    for (const side of SIDES) await webhooks[side].set(true);
    // as on a cluster that has run for a while: the first write of a patched one adds the patch, which none of the rows is about
    await forEachDeployment(async (at) => {
      for (const side of SIDES) await (at < PATCHED ? requestOne : touchOne)(clients[side], at, "before");
    });
    const reviews = async () => ({ patching: await countOf(hooks.patching), idle: await countOf(hooks.idle) });
    return { clients, setWebhook: (isPresent) => webhooks.patching.set(isPresent), collect: patching.collect, reviews, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A webhook of one server, with and without its configuration. */
class Webhook {
  readonly #client: KubeClient;
  readonly #child: ChildProcess;
  readonly #configuration: KubeObject;
  #isPresent = false;

  constructor(client: KubeClient, child: ChildProcess, configuration: KubeObject) {
    this.#client = client;
    this.#child = child;
    this.#configuration = configuration;
  }

  async set(isPresent: boolean): Promise<void> {
    if (isPresent === this.#isPresent) return;
    if (isPresent) expectOk(await this.#client.create(CONFIGURATIONS, this.#configuration));
    else expectOk(await this.#client.delete(CONFIGURATIONS, { name: this.#configuration.metadata.name }));
    this.#isPresent = isPresent;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) if ((await this.#isCalled(`${isPresent} ${tries}`)) === isPresent) return;
    throw new Error("the API server does not follow the configuration of the webhook");
  }

  /** A real API server follows a configuration a short time after it was written. */
  async #isCalled(value: string): Promise<boolean> {
    const { reviews } = await countOf(this.#child);
    await requestOne(this.#client, 0, value);
    return (await countOf(this.#child)).reviews > reviews;
  }
}

function startChild(name: string): ChildProcess {
  return fork(join(projectRoot, "bench/support", name), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

function ask<Reply>(child: ChildProcess, request: PatchWebhookRequest | string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const failed = (code: number | null) => reject(new Error(`a process of the bench ended with code ${code}`));
    child.once("exit", failed);
    child.once("message", (reply) => {
      child.off("exit", failed);
      resolve(reply as Reply);
    });
    child.send(request);
  });
}

function countOf(child: ChildProcess): Promise<ReviewCount> {
  return ask<Extract<PatchWebhookReply, { kind: "counted" }>>(child, { kind: "count" });
}

async function configurationOf(child: ChildProcess, review: "patching" | "idle"): Promise<KubeObject> {
  const { port, authority } = await ask<Extract<PatchWebhookReply, { kind: "serving" }>>(child, { kind: "start", review });
  const configuration = webhookConfiguration({
    name: "bench",
    targets: Array.from({ length: PATCHED }, (_, at) => targetOf(at)),
    address: { kind: "url", host: "127.0.0.1", port },
    trust: authority,
  });
  if (configuration === undefined) throw new Error("the bench has no Deployments to patch");
  return review === "patching" ? configuration : withoutObjectSelectors(configuration);
}

/** An upgrade sends no label of Lattice, and a webhook that does nothing does not add it again. It is called all the same, so that the calls are equal. */
function withoutObjectSelectors(configuration: KubeObject): KubeObject {
  const hooks = field(configuration, "webhooks");
  if (!Array.isArray(hooks)) throw new Error("the configuration has no webhooks");
  return { ...configuration, webhooks: hooks.map((hook: JsonObject) => ({ ...hook, objectSelector: {} })) } as KubeObject;
}

async function fill(clients: readonly KubeClient[]): Promise<void> {
  for (const name of NAMESPACE_NAMES)
    for (const client of clients) expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  await forEachDeployment(async (at) => {
    for (const client of clients) expectOk(await client.create(deployments, ownersDeployment(at)));
  });
}

async function forEachDeployment(work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const workOnSome = async () => {
    while (next < DEPLOYMENTS) await work(next++);
  };
  await Promise.all(Array.from({ length: PARALLEL }, workOnSome));
}

/** What `kubectl annotate` does. */
export function touchOne(client: KubeClient, at: number, value: string): Promise<KubeObject> {
  return patchOne(client, at, { metadata: { annotations: { touched: value } } });
}

/** What the controller of patch mode does, so that API servers select a Deployment for the webhook. */
function requestOne(client: KubeClient, at: number, id: string): Promise<KubeObject> {
  return patchOne(client, at, patchRequest(id));
}

async function patchOne(client: KubeClient, at: number, patch: JsonObject): Promise<KubeObject> {
  return expectOk(await client.patch<KubeObject>(deployments, targetOf(at), { type: "merge", patch }));
}
