/**
 * How the parts of a Deployment are merged and recorded. A field that is not listed is merged field by field when it is an object, and
 * replaced when it is not.
 */

/** How one part is merged. */
export type PatchShape = {
  readonly fields?: ReadonlyMap<string, PatchShape>;
  /** A list whose elements are matched by these fields. */
  readonly key?: readonly string[];
  /** Of a list with keys: elements that are merged, and never created. Without it, elements are replaced as a whole. */
  readonly element?: PatchShape;
  /** An object that is recorded as one field: a part of it alone would not be valid. */
  readonly whole?: true;
};

/** Merged field by field. */
export const MERGED: PatchShape = {};

const PROBE: PatchShape = { whole: true };

const CONTAINER: PatchShape = {
  fields: new Map([
    ["env", { key: ["name"] }],
    ["ports", { key: ["containerPort", "protocol"] }],
    ["volumeMounts", { key: ["mountPath"] }],
    ["livenessProbe", PROBE],
    ["readinessProbe", PROBE],
    ["startupProbe", PROBE],
    ["lifecycle", { fields: new Map([["postStart", PROBE], ["preStop", PROBE]]) }],
  ]),
}; // prettier-ignore

const CONTAINERS: PatchShape = { key: ["name"], element: CONTAINER };

const POD: PatchShape = {
  fields: new Map([
    ["containers", CONTAINERS],
    ["initContainers", CONTAINERS],
    ["volumes", { key: ["name"] }],
    ["imagePullSecrets", { key: ["name"] }],
  ]),
};

export const DEPLOYMENT: PatchShape = {
  fields: new Map([["spec", { fields: new Map([["template", { fields: new Map([["spec", POD]]) }]]) }]]),
};

/** The lists of containers of a pod, in the order in which names are looked up. */
export const CONTAINER_LISTS = ["containers", "initContainers"] as const;

/** One of these is what a probe does. */
export const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
