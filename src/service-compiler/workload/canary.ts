/** Flagger's Canary. It splits requests with the Gateway API, which needs a waypoint in its namespace. */
import { defaultCanary, type LatticeServiceSpec } from "#crds";
import type { JsonObject, KubeObject } from "#kube";
import type { CompileError, Warning } from "../errors.ts";
import { howToGrant } from "../grants/index.ts";
import type { ServiceInput } from "../input.ts";
import { sortedPorts } from "./container.ts";
import type { Replicas } from "./deployment.ts";
import { metadataFor, type WorkloadOwner } from "./names.ts";
import type { CompiledObject } from "./once.ts";

const PROVIDER = "gatewayapi:v1";

const DEFAULT_METRICS: readonly (JsonObject & { readonly name: string })[] = [
  { name: "request-success-rate", thresholdRange: { min: 99 }, interval: "1m" },
  { name: "request-duration", thresholdRange: { max: 500 }, interval: "1m" },
];

export function compileCanary(owner: WorkloadOwner, spec: LatticeServiceSpec, replicas: Replicas): CompiledObject | undefined {
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

/** The port whose requests are split: http, else the first by name, else 80. */
function splitPort({ service }: LatticeServiceSpec) {
  const ports = sortedPorts(service?.ports ?? {}).filter(([, { protocol }]) => protocol === "TCP");
  const [name, chosen] = ports.find(([one]) => one === "http") ?? ports[0] ?? [undefined, undefined];
  return { name, port: chosen?.port ?? 80, targetPort: chosen?.targetPort ?? chosen?.port };
}

function serviceOf(owner: WorkloadOwner, spec: LatticeServiceSpec): JsonObject {
  const { name, port, targetPort } = splitPort(spec);
  const several = Object.keys(spec.service?.ports ?? {}).length > 1;
  return {
    port,
    ...(targetPort === undefined || targetPort === port ? {} : { targetPort }),
    ...(name === undefined ? {} : { portName: name }),
    // Flagger rewrites the Service's ports; without port discovery only one would be left
    ...(several ? { portDiscovery: true } : {}),
    gatewayRefs: [{ group: "", kind: "Service", name: owner.name, port }],
  };
}

/** Flagger uses the credentials of a MetricTemplate of any namespace, so another namespace needs a grant. */
export function foreignMetricTemplates({ service, namespace, grants }: ServiceInput): readonly CompileError[] {
  return (service.spec.deploy?.canary?.metrics ?? []).flatMap(({ templateRef }, at): readonly CompileError[] => {
    const there = templateRef?.namespace ?? namespace;
    if (there === namespace || grants.crossNamespace.includes(there)) return [];
    const message = `names namespace ${there}, and this service runs in ${namespace}\n${howToGrant(grants, there, "spec.crossNamespace")}`;
    return [{ kind: "not-granted", place: `spec.deploy.canary.metrics[${at}].templateRef.namespace`, message }];
  });
}

export function canaryWarnings(spec: LatticeServiceSpec): readonly Warning[] {
  if (spec.deploy?.strategy !== "canary") return [];
  return [...portWarnings(spec), ...metricWarnings(spec)];
}

/** With the Gateway API Flagger reads metrics of the application, not of the proxy; without them every canary fails. */
function metricWarnings({ deploy, service }: LatticeServiceSpec): readonly Warning[] {
  const metrics = deploy?.canary?.metrics ?? DEFAULT_METRICS.map(({ name }) => ({ name, templateRef: undefined }));
  const own = metrics.filter(({ name, templateRef }) => templateRef === undefined && DEFAULT_METRICS.some((one) => one.name === name));
  if (own.length === 0 || service?.ports?.["metrics"]?.protocol === "TCP") return [];
  const names = own.map(({ name }) => name).join(", ");
  const place = "spec.deploy.canary.metrics";
  const source = "http_request_duration_seconds of the application itself";
  const message = `Flagger reads ${names} from ${source}; offer it on a port called metrics, or name a templateRef`;
  return [{ place, message }];
}

/** Port discovery of Flagger uses the pod's port numbers and always TCP. */
function portWarnings(spec: LatticeServiceSpec): readonly Warning[] {
  const { name: split } = splitPort(spec);
  return sortedPorts(spec.service?.ports ?? {}).flatMap(([name, { port, targetPort = port, protocol }]): readonly Warning[] => {
    const place = `spec.service.ports.${name}`;
    if (protocol !== "TCP") return [{ place, message: `is ${protocol}: under a canary Flagger makes it TCP` }];
    if (name === split || port === targetPort) return [];
    const message = `under a canary Flagger offers it as ${targetPort}, not ${port}; make port and targetPort the same`;
    return [{ place, message }];
  });
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
