/**
 * Flagger's initialization of a Canary, in Flagger's order: copies the Deployment, its config and its autoscaler under NAME-primary, makes or
 * rewrites the Service of that name (pkg/router/kubernetes_default.go), and scales the target to zero. It writes with updates, as client-go does.
 */
import { expectOk } from "#base";
import type { FixtureObject } from "#embedded-cluster";
import { fieldAt, isJsonObject, parseKey, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";

type CanaryCluster = { readonly client: KubeClient; readonly resource: (kind: string) => Resource };

/** `key`: `shop/api`, of the Canary. */
export async function initializeCanary({ client, resource }: CanaryCluster, key: string): Promise<void> {
  const { namespace = "", name } = parseKey(key);
  const canary = expectOk(await client.get<KubeObject>(resource("Canary"), { namespace, name }));
  const target = expectOk(await client.get<KubeObject>(resource("Deployment"), { namespace, name }));
  const owner = { apiVersion: canary.apiVersion, kind: "Canary", name, uid: canary.metadata.uid ?? "", controller: true };
  const make = async (kind: string, made: string, rest: object) => {
    const object = {
      apiVersion: kind === "Deployment" ? "apps/v1" : "v1",
      kind,
      metadata: { name: made, namespace, ownerReferences: [owner] },
    };
    expectOk(await client.create(resource(kind), { ...object, ...rest }, { fieldManager: "flagger" }));
  };
  const primary = `${name}-primary`;
  for (const [made, selected] of [
    [`${name}-canary`, name],
    [primary, primary],
  ] as const)
    await make("Service", made, { spec: serviceSpec(canary, target, selected) });
  await make("Deployment", primary, { spec: primarySpec(target, primary) });
  const apex = await client.get<KubeObject>(resource("Service"), { namespace, name });
  const spec = serviceSpec(canary, target, primary);
  if (apex.ok) {
    const whole = { ...apex.value, spec: { ...(fieldAt(apex.value, "spec") as JsonObject), ...spec } } as KubeObject;
    expectOk(await client.update(resource("Service"), whole, { fieldManager: "flagger" }));
  } else await make("Service", name, { spec });
  const zero = { type: "merge" as const, patch: { spec: { replicas: 0 } } };
  expectOk(await client.patch(resource("Deployment"), { namespace, name }, zero, { fieldManager: "flagger" }));
}

function serviceSpec(canary: KubeObject, target: KubeObject, selected: string): JsonObject {
  const service = fieldAt(canary, "spec", "service");
  const { port = 80, targetPort = port, portName = "http" } = isJsonObject(service) ? service : {};
  const first = { name: portName, protocol: "TCP", port, targetPort };
  const further = portsOf(target).filter(({ containerPort }) => containerPort !== targetPort);
  const others = further.map(({ name, containerPort }) => ({ name, protocol: "TCP", port: containerPort, targetPort: containerPort }));
  const discovers = fieldAt(service, "portDiscovery") === true;
  return {
    type: "ClusterIP",
    selector: { "app.kubernetes.io/name": selected },
    ports: [first, ...(discovers ? others : [])],
  };
}

function portsOf(deployment: KubeObject): readonly JsonObject[] {
  const containers = fieldAt(deployment, "spec", "template", "spec", "containers");
  return (Array.isArray(containers) ? (containers as JsonObject[]) : []).flatMap(({ ports }) =>
    Array.isArray(ports) ? (ports as JsonObject[]) : [],
  );
}

function primarySpec(target: KubeObject, primary: string): FixtureObject {
  const spec = fieldAt(target, "spec") as JsonObject;
  const labels = { ...(fieldAt(spec, "template", "metadata", "labels") as JsonObject), "app.kubernetes.io/name": primary };
  const template = { metadata: { labels }, spec: fieldAt(spec, "template", "spec") };
  return { ...spec, selector: { matchLabels: { "app.kubernetes.io/name": primary } }, template } as unknown as FixtureObject;
}
