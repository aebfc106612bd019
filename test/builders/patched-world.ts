/**
 * The operator with its admission webhook in this process, on an embedded cluster; and all that can be read of both: the answers to writes with their
 * warnings, all objects, logs, metrics and the answers of the webhook.
 */
import { request } from "node:https";
import { vi } from "vitest";
import { createLogger, expectOk, MetricsRegistry, noTracing, seededRandom, systemClock } from "#base";
import { reducedMeshCrds } from "#controllers";
import { latticeKinds, latticeServices } from "#crds";
import { failWith, startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { field, fieldAt, keyText, meshKinds, parseKey, type Condition, type Json, type JsonObject, type KubeObject } from "#kube";
import { OPERATOR_NAMESPACE, startOperator } from "#operator";

/** Readable text, with where it was read. `kind`: of the object; "Status": an error of the API server. */
export type Readable = { readonly place: string; readonly kind?: string; readonly text: string };

const KINDS = [
  ...[...latticeKinds, ...meshKinds].map(({ kind }) => kind),
  "Secret",
  "ConfigMap",
  "Deployment",
  "ReplicaSet",
  "Pod",
  "Service",
  "ServiceAccount",
  "Namespace",
  "Lease",
  "PersistentVolumeClaim",
  "MutatingWebhookConfiguration",
  "HorizontalPodAutoscaler",
  "PodDisruptionBudget",
];
const WRITES = ["create", "update", "patch", "apply", "delete"] as const;
const CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/lattice-workload-patches";

export const until = <T>(look: () => T | Promise<T>) => vi.waitFor(look, { timeout: 30_000, interval: 50 });

export class PatchedWorld implements AsyncDisposable {
  readonly cluster: EmbeddedCluster;
  readonly #metrics = new MetricsRegistry();
  readonly #lines: string[] = [];
  readonly #answers: Readable[] = [];
  #stop: () => Promise<void> = () => Promise.resolve();
  /** How far the clock of the operator is ahead. */
  #aheadMs = 0;

  private constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster;
  }

  /** Pods are made and never run. */
  static async start(): Promise<PatchedWorld> {
    const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } };
    const world = new PatchedWorld(await startEmbeddedCluster({ objects: [home], logActions: false, controllers: { simulation: false } }));
    await world.cluster.add(...latticeKinds.map(({ crd }) => crd()), ...reducedMeshCrds());
    world.cluster.intercept({ verb: WRITES }, async (action, next) => {
      const answer = await next();
      if (answer.kind === "json") world.#keep(`${action.verb} ${action.path}`, answer.body, answer.warnings);
      return answer;
    });
    await world.#startOperator();
    return world;
  }

  async #startOperator(): Promise<void> {
    const stop = new AbortController();
    const logger = createLogger((level, message, fields) => void this.#lines.push(JSON.stringify([level, message, fields])));
    const clock = { ...systemClock, now: () => systemClock.now() + this.#aheadMs };
    const dependencies = { clock, random: seededRandom(1), logger, metrics: this.#metrics, tracer: noTracing };
    const local = { host: "127.0.0.1", port: 0 };
    const config = { namespace: OPERATOR_NAMESPACE, identity: "test", leaderElection: false, health: local };
    const webhook = { kind: "url" as const, ...local };
    const { client } = this.cluster;
    const operator = expectOk(await startOperator({ ...config, webhook }, { ...dependencies, client }, stop.signal));
    const running = operator.run(stop.signal);
    this.#stop = async () => {
      stop.abort();
      await running;
    };
  }

  #keep(place: string, body: Json, warnings: readonly string[] = []): void {
    const kind = field(body, "kind");
    this.#answers.push({ place, ...(typeof kind === "string" ? { kind } : {}), text: JSON.stringify(withoutData(body)) });
    if (warnings.length > 0) this.#answers.push({ place: `warnings of ${place}`, text: warnings.join("\n") });
  }

  /** Server-side apply, as kubectl. The namespace is created if there is none. */
  apply(...objects: readonly FixtureObject[]): Promise<void> {
    return this.applyAs("kubectl", ...objects);
  }

  async applyAs(fieldManager: string, ...objects: readonly FixtureObject[]): Promise<void> {
    for (const object of objects as readonly KubeObject[]) {
      const { namespace } = object.metadata;
      if (namespace !== undefined) await this.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
      const resource = this.cluster.resource(object.kind, object.apiVersion);
      expectOk(await this.cluster.client.apply(resource, object, { fieldManager, force: true }));
    }
  }

  async read(kind: string, key: string): Promise<KubeObject | undefined> {
    const answer = await this.cluster.client.get<KubeObject>(this.cluster.resource(kind), parseKey(key));
    return answer.ok ? { ...answer.value, kind, apiVersion: this.cluster.resource(kind).group === "apps" ? "apps/v1" : "v1" } : undefined;
  }

  /** Conditions of a service, by type. */
  async conditions(key: string): Promise<ReadonlyMap<string, Condition>> {
    const answer = await this.cluster.client.get(latticeServices, parseKey(key));
    return new Map((answer.ok ? (answer.value.status?.conditions ?? []) : []).map((condition) => [condition.type, condition]));
  }

  /** Sends a review to the webhook, as the API server does. Returns the raw body and keeps it. */
  async review(object: KubeObject, more: JsonObject = {}): Promise<string> {
    const { body } = await this.cluster.request("GET", CONFIGURATION);
    const config = fieldAt((field(body, "webhooks") as readonly Json[])[0], "clientConfig");
    const ca = Buffer.from(textOf(field(config, "caBundle")), "base64").toString();
    const { name, namespace = "" } = object.metadata;
    const kind = { group: "apps", version: "v1", kind: "Deployment" };
    const asked = { uid: "1", kind, resource: { ...kind, resource: "deployments" }, name, namespace, operation: "CREATE", ...more };
    const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { ...asked, object } };
    const text = await post(`${textOf(field(config, "url"))}?timeout=2s`, JSON.stringify(review), ca);
    const response = field(JSON.parse(text) as Json, "response");
    const [patch, warnings] = [field(response, "patch"), field(response, "warnings")];
    const place = `the webhook's answer for ${keyText({ namespace, name })}`;
    this.#answers.push({ place, kind: "AdmissionReview", text });
    this.#answers.push({ place, kind: "Deployment", text: Buffer.from(textOf(patch), "base64").toString() });
    this.#answers.push({ place: `warnings in ${place}`, text: JSON.stringify(warnings ?? []) });
    return text;
  }

  /** The time of the operator continues that much later. Timers are not affected. */
  skip(ms: number): void {
    this.#aheadMs += ms;
  }

  /** Meanwhile the API server reaches no webhook: the configuration names a port where none listens, and the operator cannot correct it. */
  async withoutWebhook(run: () => Promise<void>): Promise<void> {
    const { body } = await this.cluster.request("GET", CONFIGURATION);
    const hooks = (field(body, "webhooks") as readonly JsonObject[]).map((hook) => ({
      ...hook,
      clientConfig: { url: "https://127.0.0.1:1" },
    }));
    let isOwn = true;
    const refuse = failWith("unavailable");
    using _refusing = this.cluster.intercept({ resource: "mutatingwebhookconfigurations", verb: WRITES }, (action, next, context) => {
      if (!isOwn) return refuse(action, next, context);
      isOwn = false;
      return next();
    });
    await this.cluster.request("PUT", CONFIGURATION, { ...(body as JsonObject), webhooks: hooks });
    await run();
  }

  /** Output of a command. */
  addOutput(place: string, text: string): void {
    this.#answers.push({ place, text });
  }

  /** All that was or is readable without access to Secrets. */
  async readable(): Promise<readonly Readable[]> {
    const found: Readable[] = [...this.#answers, { place: "metrics", text: this.#metrics.render() }];
    found.push(...this.#lines.map((text) => ({ place: "log", text })));
    for (const kind of [...KINDS, "Event"]) {
      const { items } = expectOk(
        await this.cluster.client.list(this.cluster.resource(kind, kind === "Event" ? "events.k8s.io/v1" : undefined)),
      );
      for (const item of items) {
        const text = JSON.stringify(withoutData({ ...item, kind } as unknown as Json));
        found.push({ place: `${kind} ${keyText(item.metadata)}`, kind, text });
      }
    }
    return found;
  }

  /** The values of all Secrets of a namespace, decoded, and their data as a whole. */
  async secretTexts(namespace: string): Promise<readonly string[]> {
    const { items } = expectOk(await this.cluster.client.list(this.cluster.resource("Secret"), { namespace }));
    return items.flatMap((item) => {
      const data = (field(item, "data") ?? {}) as Readonly<Record<string, string>>;
      return [JSON.stringify(data), ...Object.values(data).flatMap((value) => [value, Buffer.from(value, "base64").toString()])];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.cluster.close();
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A Secret without its values. */
function withoutData(body: Json): Json {
  const kind = field(body, "kind");
  if (kind !== "Secret") return body;
  const { data: _data, stringData: _texts, ...rest } = body as JsonObject;
  return rest;
}

function post(url: string, body: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", ca, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () => resolve(text));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
