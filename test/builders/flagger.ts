/**
 * Flagger's writes, in its order and with its requests, as version 1.44.0 makes them (pkg/canary/deployment_controller.go, config_tracker.go and
 * pkg/router/kubernetes_default.go). `test/kube/all/patch-mode-flagger.story.test.ts` runs the real one.
 *
 * A copy gets all annotations of the Deployment when it is created. A promotion leaves only those of `includeLabelPrefix`, which is empty by default.
 */
import { expectOk } from "#base";
import { deployments, fieldAt, isJsonObject, parseKey, type Deployment, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { copiedConfig, type ConfigAccess } from "./flagger-config.ts";

type CanaryCluster = { readonly client: KubeClient; readonly resource: (kind: string) => Resource };
export type FlaggerOptions = {
  /** `-enable-config-tracking`; default: true. */
  readonly configTracking?: boolean;
  /** `-include-label-prefix`; `*`: all labels and annotations. */
  readonly includeLabelPrefix?: string;
};

const AS_FLAGGER = { fieldManager: "flagger" };

/** One Canary, `key`: `shop/api`. Its target has a selector with one of the labels that Flagger knows. */
class FlaggerCanary {
  readonly #cluster: CanaryCluster;
  readonly #options: FlaggerOptions;
  readonly namespace: string;
  readonly canary: KubeObject;
  readonly target: Deployment;

  private constructor(
    cluster: CanaryCluster,
    options: FlaggerOptions,
    read: { canary: KubeObject; target: Deployment; namespace: string },
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.canary = read.canary;
    this.target = read.target;
    this.namespace = read.namespace;
  }

  static async read(cluster: CanaryCluster, key: string, options: FlaggerOptions): Promise<FlaggerCanary> {
    const { client, resource } = cluster;
    const { namespace = "", name } = parseKey(key);
    const canary = expectOk(await client.get<KubeObject>(resource("Canary"), { namespace, name }));
    const named = fieldAt(canary, "spec", "targetRef", "name");
    const target = expectOk(await client.get(deployments, { namespace, name: typeof named === "string" ? named : name }));
    return new FlaggerCanary(cluster, options, { canary, target, namespace });
  }

  get primary(): string {
    return `${this.target.metadata.name}-primary`;
  }

  owner(): object {
    const { apiVersion, metadata } = this.canary;
    return { apiVersion, kind: "Canary", name: metadata.name, uid: metadata.uid ?? "", controller: true, blockOwnerDeletion: true };
  }

  /** The label of the selector, and its value. */
  selector(): readonly [string, string] {
    const labels = this.target.spec.selector.matchLabels ?? {};
    const label = ["app", "name", "app.kubernetes.io/name"].find((name) => labels[name] !== undefined);
    if (label === undefined) throw new Error("spec.selector.matchLabels must contain one of app, name, app.kubernetes.io/name");
    return [label, labels[label] ?? ""];
  }

  /** Of labels and annotations. */
  included(all: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const prefix = this.#options.includeLabelPrefix ?? "";
    return Object.fromEntries(Object.entries(all).filter(([name]) => prefix === "*" || (prefix !== "" && name.startsWith(prefix))));
  }

  /** The pod template of the copy, whose config exists then. */
  async template(): Promise<JsonObject> {
    const { metadata = {}, spec } = this.target.spec.template;
    const [label, value] = this.selector();
    const tracked = this.#options.configTracking !== false;
    const pod = tracked ? await copiedConfig(spec, this.#configAccess()) : spec;
    return {
      metadata: {
        labels: { ...metadata.labels, [label]: `${value}-primary` },
        annotations: { ...metadata.annotations, "flagger-id": `${(promotions += 1)}` },
      },
      spec: pod,
    };
  }

  #configAccess(): ConfigAccess {
    const { client, resource } = this.#cluster;
    return {
      read: (kind, name) => client.get<KubeObject>(resource(kind), { namespace: this.namespace, name }),
      write: async (kind, { metadata, ...content }) => {
        const labels = this.included(metadata.labels);
        const copy = {
          ...content,
          metadata: { ...metadata, labels, namespace: this.namespace, ownerReferences: [this.owner()] },
        } as KubeObject;
        const updated = await client.update(resource(kind), copy, AS_FLAGGER);
        if (!updated.ok && updated.error.kind === "not-found") expectOk(await client.create(resource(kind), copy, AS_FLAGGER));
        else expectOk(updated);
      },
    };
  }

  async service(name: string, selected: string, kept: boolean): Promise<void> {
    const { client, resource } = this.#cluster;
    const [label] = this.selector();
    const spec = serviceSpec(this.canary, this.target, { [label]: selected });
    const found = await client.get(resource("Service"), { namespace: this.namespace, name });
    if (!found.ok) {
      const metadata = { name, namespace: this.namespace, labels: { [label]: name }, ownerReferences: [this.owner()] };
      expectOk(await client.create(resource("Service"), { apiVersion: "v1", kind: "Service", metadata, spec } as KubeObject, AS_FLAGGER));
    } else if (kept) {
      const whole = {
        ...found.value,
        spec: { ...(fieldAt(found.value, "spec") as JsonObject), ports: spec["ports"], selector: spec["selector"] },
      };
      expectOk(await client.update(resource("Service"), whole, AS_FLAGGER));
    }
  }

  async scaleToZero(): Promise<void> {
    const { client, resource } = this.#cluster;
    const zero = { type: "merge" as const, patch: { spec: { replicas: 0 } } };
    expectOk(await client.patch(resource("Deployment"), this.target.metadata, zero, AS_FLAGGER));
  }
}

let promotions = 0;

/** Initializes a Canary. `key`: `shop/api`. */
export async function initializeCanary(cluster: CanaryCluster, key: string, options: FlaggerOptions = {}): Promise<void> {
  const flagger = await FlaggerCanary.read(cluster, key, options);
  const { primary, target, namespace } = flagger;
  const { name } = target.metadata;
  const [label, value] = flagger.selector();
  await flagger.service(`${name}-canary`, value, false);
  await flagger.service(primary, `${value}-primary`, false);
  const { selector: _, template: _template, ...rest } = target.spec;
  const copy = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: primary,
      namespace,
      labels: { ...flagger.included(target.metadata.labels), [label]: `${value}-primary` },
      annotations: target.metadata.annotations,
      ownerReferences: [flagger.owner()],
    },
    spec: {
      ...rest,
      replicas: (target.spec.replicas ?? 1) > 0 ? (target.spec.replicas ?? 1) : 1,
      selector: { matchLabels: { [label]: `${value}-primary` } },
      template: await flagger.template(),
    },
  };
  expectOk(await cluster.client.create(cluster.resource("Deployment"), copy as unknown as KubeObject, AS_FLAGGER));
  await flagger.service(name, `${value}-primary`, true);
  await flagger.scaleToZero();
}

/** Promotes the Deployment of a Canary, as after its analysis: the target is scaled to zero again. */
export async function promoteCanary(cluster: CanaryCluster, key: string, options: FlaggerOptions = {}): Promise<void> {
  const flagger = await FlaggerCanary.read(cluster, key, options);
  const { target, namespace, primary } = flagger;
  const [label, value] = flagger.selector();
  const copy = expectOk(await cluster.client.get(deployments, { namespace, name: primary }));
  const metadata = {
    ...copy.metadata,
    labels: { ...flagger.included(target.metadata.labels), [label]: `${value}-primary` },
    annotations: flagger.included(target.metadata.annotations),
  };
  const whole = { ...copy, metadata, spec: { ...copy.spec, template: await flagger.template() } };
  expectOk(await cluster.client.update(cluster.resource("Deployment"), whole as unknown as KubeObject, AS_FLAGGER));
  await flagger.scaleToZero();
}

function serviceSpec(canary: KubeObject, target: KubeObject, selector: JsonObject): JsonObject {
  const service = fieldAt(canary, "spec", "service");
  const { port = 80, targetPort = port, portName = "http" } = isJsonObject(service) ? service : {};
  const first = { name: portName, protocol: "TCP", port, targetPort };
  const further = portsOf(target).filter(({ containerPort }) => containerPort !== targetPort);
  const others = further.map(({ name, containerPort }) => ({ name, protocol: "TCP", port: containerPort, targetPort: containerPort }));
  const discovers = fieldAt(service, "portDiscovery") === true;
  return { type: "ClusterIP", selector, ports: [first, ...(discovers ? others : [])] };
}

function portsOf(deployment: KubeObject): readonly JsonObject[] {
  const containers = fieldAt(deployment, "spec", "template", "spec", "containers");
  return (Array.isArray(containers) ? (containers as JsonObject[]) : []).flatMap(({ ports }) =>
    Array.isArray(ports) ? (ports as JsonObject[]) : [],
  );
}
