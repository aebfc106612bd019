/** Flagger's Canary. It needs a proxy that sees requests, so the mesh gives its namespace a waypoint, and routes through Gateway API. */
import { defaultCanary, type LatticeServiceSpec } from "#crds";
import type { JsonObject, KubeObject } from "#kube";
import { sortedPorts } from "./container.ts";
import type { Replicas } from "./deployment.ts";
import { metadataFor, type Owner } from "./names.ts";
import type { Compiled } from "./once.ts";

const PROVIDER = "gatewayapi:v1";

const DEFAULT_METRICS: readonly JsonObject[] = [
  { name: "request-success-rate", thresholdRange: { min: 99 }, interval: "1m" },
  { name: "request-duration", thresholdRange: { max: 500 }, interval: "1m" },
];

export function compileCanary(owner: Owner, spec: LatticeServiceSpec, replicas: Replicas): Compiled | undefined {
  if (spec.deploy?.strategy !== "canary") return undefined;
  const settings = spec.deploy.canary ?? defaultCanary();
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: owner.name };
  return {
    object: {
      apiVersion: "flagger.app/v1beta1",
      kind: "Canary",
      metadata: metadataFor(owner, owner.name),
      spec: {
        provider: PROVIDER,
        targetRef: target,
        ...(replicas.max === undefined
          ? {}
          : { autoscalerRef: { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: owner.name } }),
        revertOnDeletion: true,
        service: serviceOf(owner, spec),
        analysis: analysisOf(settings),
      },
    } as unknown as KubeObject,
  };
}

/** The port people mean: http, else the first by name. */
function serviceOf(owner: Owner, { service }: LatticeServiceSpec): JsonObject {
  const ports = service?.ports ?? {};
  const [name, chosen] = sortedPorts(ports).find(([one]) => one === "http") ?? sortedPorts(ports)[0] ?? ["", undefined];
  const { port = 80, targetPort } = chosen ?? {};
  return {
    port,
    ...(targetPort === undefined || targetPort === port ? {} : { targetPort }),
    ...(name === "" ? {} : { portName: name }),
    gatewayRefs: [{ group: "", kind: "Service", name: owner.name, port }],
  };
}

type Settings = NonNullable<NonNullable<LatticeServiceSpec["deploy"]>["canary"]>;

function analysisOf({ interval, threshold, maxWeight, stepWeight, metrics }: Settings): JsonObject {
  return {
    interval,
    threshold,
    maxWeight,
    stepWeight,
    metrics: metrics === undefined ? DEFAULT_METRICS : metrics,
  };
}
