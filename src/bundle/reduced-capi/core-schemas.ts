/** The specs of core kinds, v1beta2 of Cluster API 1.14. Classes (`topology`) are not checked: Lattice writes none. */
import {
  anything,
  contractRef,
  count,
  defaulted,
  flag,
  integer,
  intOrString,
  labelSelector,
  list,
  listMap,
  mapOf,
  name,
  object,
  oneOf,
  text,
  time,
  type ReducedSchema,
} from "./schema.ts";

export const templateMetadata = object({ annotations: mapOf(text), labels: mapOf(text) });
export const endpoint = object({ host: text, port: integer });
const gates = listMap(object({ conditionType: text, polarity: oneOf("Positive", "Negative") }, ["conditionType"]), "conditionType");
const ranges = object({ cidrBlocks: list(text) }, ["cidrBlocks"]);

export const clusterSpec = object({
  availabilityGates: gates,
  clusterNetwork: object({ apiServerPort: integer, pods: ranges, serviceDomain: text, services: ranges }),
  controlPlaneEndpoint: endpoint,
  controlPlaneRef: contractRef,
  infrastructureRef: contractRef,
  paused: flag,
  topology: anything,
});

export const deletionTimeouts = object({
  nodeDeletionTimeoutSeconds: count,
  nodeDrainTimeoutSeconds: count,
  nodeVolumeDetachTimeoutSeconds: count,
});
export const readinessGates = gates;
export const machineTaints = list(anything);

export const machineSpec = object(
  {
    bootstrap: object({ configRef: contractRef, dataSecretName: text }),
    clusterName: name,
    deletion: deletionTimeouts,
    failureDomain: text,
    infrastructureRef: contractRef,
    minReadySeconds: count,
    providerID: text,
    readinessGates,
    taints: machineTaints,
    version: text,
  },
  ["bootstrap", "clusterName", "infrastructureRef"],
);

const machineTemplate = object({ metadata: templateMetadata, spec: machineSpec }, ["spec"]);
const setFields: Readonly<Record<string, ReducedSchema>> = {
  clusterName: name,
  deletion: object({ order: oneOf("Random", "Newest", "Oldest") }),
  machineNaming: object({ template: text }),
  replicas: defaulted(count, 1),
  selector: labelSelector,
  template: machineTemplate,
};

export const machineSetSpec = object(setFields, ["clusterName", "selector", "template"]);

/** The real default comes from a webhook. */
const rollingUpdate = { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };
export const machineDeploymentSpec = object(
  {
    ...setFields,
    paused: flag,
    remediation: object({ maxInFlight: intOrString }),
    rollout: defaulted(
      object({
        after: time,
        strategy: object(
          {
            rollingUpdate: object({ maxSurge: intOrString, maxUnavailable: intOrString }),
            type: oneOf("RollingUpdate", "OnDelete"),
          },
          ["type"],
        ),
      }),
      rollingUpdate,
    ),
  },
  ["clusterName", "selector", "template"],
);

const unhealthy = (status: ReducedSchema) =>
  list(object({ status, timeoutSeconds: count, type: name }, ["status", "timeoutSeconds", "type"]));

export const machineHealthCheckSpec = object(
  {
    checks: defaulted(
      object({
        nodeStartupTimeoutSeconds: defaulted(count, 600),
        unhealthyMachineConditions: unhealthy(oneOf("True", "False", "Unknown")),
        unhealthyNodeConditions: unhealthy(text),
      }),
      {},
    ),
    clusterName: name,
    remediation: object({
      templateRef: object({ apiVersion: text, kind: text, name }, ["apiVersion", "kind", "name"]),
      triggerIf: object({ unhealthyInRange: text, unhealthyLessThanOrEqualTo: intOrString }),
    }),
    selector: labelSelector,
  },
  ["clusterName", "selector"],
);

const resourceKind = oneOf("Secret", "ConfigMap");
export const clusterResourceSetSpec = object(
  {
    clusterSelector: labelSelector,
    resources: list(object({ kind: resourceKind, name }, ["kind", "name"])),
    strategy: defaulted(oneOf("ApplyOnce", "Reconcile"), "ApplyOnce"),
  },
  ["clusterSelector", "resources"],
);

const appliedResource = object({ applied: flag, hash: text, kind: resourceKind, lastAppliedTime: time, name }, ["applied", "kind", "name"]);
export const clusterResourceSetBindingSpec = object(
  {
    bindings: list(object({ clusterResourceSetName: name, resources: list(appliedResource) }, ["clusterResourceSetName"])),
    clusterName: name,
  },
  ["clusterName"],
);
