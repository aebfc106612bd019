/**
 * The CustomResourceDefinition of a kind, ready to be applied.
 *
 * A CRD may restrict only the name in `metadata`: the API server rejects a CRD with other restrictions.
 */
import { groupResourceOf, type KubeObject, type Resource } from "#kube";
import { toKubernetesValidation, VALIDATIONS, type Transition } from "./rules.ts";
import type { Structural } from "./structural.ts";

export type PrinterColumn = {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly description: string;
  /** Above 0: shown by `kubectl get -o wide` only. */
  readonly priority?: number;
};

export type ScalePaths = { readonly specReplicasPath: string; readonly statusReplicasPath: string };

export type CustomResourceDefinition = KubeObject & {
  readonly spec: {
    readonly group: string;
    readonly scope: "Cluster" | "Namespaced";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly CustomResourceVersion[];
  };
};

export type CustomResourceVersion = {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly additionalPrinterColumns: readonly PrinterColumn[];
  readonly subresources: { readonly status: Record<string, never>; readonly scale?: ScalePaths };
  readonly schema: { readonly openAPIV3Schema: Structural };
};

/** The first and last printer columns, shared by all kinds. */
export const phaseColumn: PrinterColumn = {
  name: "Phase",
  type: "string",
  jsonPath: ".status.phase",
  description: "Where it is in its life.",
};
export const readyColumn: PrinterColumn = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: "Whether it does what it is for.",
};
export const ageColumn: PrinterColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Since when it exists.",
};
export const messageColumn: PrinterColumn = {
  name: "Message",
  type: "string",
  jsonPath: ".status.message",
  description: "What the phase means just now.",
  priority: 1,
};

type Definition<T> = {
  readonly shortName: string;
  readonly columns: readonly PrinterColumn[];
  readonly scale?: ScalePaths;
  readonly transitions?: readonly Transition<T>[];
};

type Schemas = { readonly root: Structural; readonly name: Structural | undefined };

export function toManifest<T extends KubeObject>(
  definition: Definition<T>,
  resource: Resource<T>,
  schemas: Schemas,
): CustomResourceDefinition {
  const { group, kind, plural, version, namespaced } = resource;
  const { scale, columns, shortName, transitions = [] } = definition;
  const schema = transitions.reduce((root, rule) => addTransition(root, rule.on.split("."), rule), toRoot(schemas));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: groupResourceOf(resource), labels: { "app.kubernetes.io/part-of": "lattice" } },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [shortName], categories: ["lattice"] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns,
          subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

function toRoot({ root, name }: Schemas): Structural {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...own } = root.properties ?? {};
  return {
    ...root,
    required: ["spec"],
    properties: {
      apiVersion: { description: "Group and version of the API, such as lattice.dev/v1alpha1.", type: "string" },
      kind: { description: "Kind of the object.", type: "string" },
      metadata: { type: "object", ...(name === undefined ? {} : { properties: { name } }) },
      ...own,
    },
  };
}

function addTransition<T>(schema: Structural, path: readonly string[], rule: Transition<T>): Structural {
  const [head, ...rest] = path;
  if (head === undefined) return { ...schema, [VALIDATIONS]: [...(schema[VALIDATIONS] ?? []), toKubernetesValidation(rule)] };
  const next = schema.properties?.[head];
  if (next === undefined) throw new Error(`a rule stands on ${rule.on}, and the schema has no "${head}" there`);
  return { ...schema, properties: { ...schema.properties, [head]: addTransition(next, rest, rule) } };
}
