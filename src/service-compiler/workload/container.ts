/** One container of the pod. */
import type { LatticeService } from "#crds";
import type { JsonObject } from "#kube";
import type { ContainerSpec, RenderedContainer } from "../rendering/render-service.ts";
import { securityContextFor } from "./security.ts";

export type Ports = NonNullable<NonNullable<LatticeService["spec"]["service"]>["ports"]>;

export type ContainerParts = {
  readonly ports: Ports;
  /** Whether this container has the service's ports. */
  readonly serves: boolean;
  readonly envFrom: readonly JsonObject[];
  readonly mounts: readonly JsonObject[];
  /** Started before others, and kept running. */
  readonly sidecar: boolean;
  /** User of the pod, for containers without one. */
  readonly podUser?: number | undefined;
};

export function compileContainer({ name, spec }: RenderedContainer, parts: ContainerParts): JsonObject {
  const { ports, serves, envFrom, mounts, sidecar, podUser } = parts;
  const containerPorts = serves ? portList(ports) : [];
  return {
    name,
    ...(spec.image === undefined ? {} : { image: spec.image }),
    ...(sidecar ? { restartPolicy: "Always" } : {}),
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.args === undefined ? {} : { args: spec.args }),
    ...(containerPorts.length === 0 ? {} : { ports: containerPorts }),
    ...(envFrom.length === 0 ? {} : { envFrom }),
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    ...probes(spec, ports),
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
    securityContext: securityContextFor(spec.securityContext, podUser),
  };
}

/** Two ports of a Service may have the same target port, and server-side apply accepts a container port only once. */
function portList(ports: Ports): readonly JsonObject[] {
  const byNumber = new Map<string, JsonObject>();
  for (const [name, { port, targetPort = port, protocol }] of sortedPorts(ports)) {
    const key = `${protocol}/${targetPort}`;
    if (!byNumber.has(key)) byNumber.set(key, { name, containerPort: targetPort, ...(protocol === "TCP" ? {} : { protocol }) });
  }
  return [...byNumber.values()];
}

export function sortedPorts(ports: Ports): readonly (readonly [string, Ports[string]])[] {
  return Object.entries(ports).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

export function probes(spec: ContainerSpec, ports: Ports): JsonObject {
  return Object.fromEntries(
    PROBES.flatMap((kind) => {
      const probe = spec[kind];
      return probe === undefined ? [] : [[kind, withNumbers(probe, ports)]];
    }),
  );
}

/** A port name refers to the service's ports; the number is valid in every container. */
function withNumbers(probe: JsonObject, ports: Ports): JsonObject {
  return Object.fromEntries(
    Object.entries(probe).map(([name, handler]) => {
      const port = typeof handler === "object" && handler !== null && "port" in handler ? handler.port : undefined;
      const known = typeof port === "string" && Object.hasOwn(ports, port) ? ports[port] : undefined;
      return [name, known === undefined ? handler : { ...(handler as JsonObject), port: known.targetPort ?? known.port }];
    }),
  );
}
