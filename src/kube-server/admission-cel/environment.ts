/**
 * The names that admission expressions may use, with their types. Objects are dyn: their fields are looked up at evaluation. `request` and
 * `namespaceObject` have declared fields, so a misspelt field is refused when the expression is written.
 */
import {
  AUTHORIZER,
  BOOL,
  DYN,
  INT,
  kubernetesLibrary,
  listType,
  mapType,
  RESOURCE_CHECK,
  STRING,
  structType,
  TIMESTAMP,
  type CelType,
  type CheckEnvironment,
} from "#cel";
import { mutationLibrary, patchFields, patchStruct } from "./patch-types.ts";

export type Declared = {
  /** `params` of a policy. */
  readonly withParams?: boolean;
  /** `authorizer`, and `authorizer.requestResource`. */
  readonly withAuthorizer?: boolean;
  /** `variables` of a policy that are declared so far; undefined: the name does not exist. */
  readonly variables?: ReadonlyMap<string, CelType>;
  /** `Object{…}`, `JSONPatch{…}` and `jsonpatch.escapeKey`, for mutations. */
  readonly withPatchTypes?: boolean;
};

const VARIABLES_TYPE = "kubernetes.variables";

type Fields = ReadonlyMap<string, CelType>;

const TEXTS = listType(STRING);

function fields(declared: Readonly<Record<string, CelType>>): Fields {
  return new Map(Object.entries(declared));
}

const KIND = structType("kubernetes.GroupVersionKind");
const RESOURCE = structType("kubernetes.GroupVersionResource");

const STRUCTS: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ["kubernetes.GroupVersionKind", fields({ group: STRING, version: STRING, kind: STRING })],
  ["kubernetes.GroupVersionResource", fields({ group: STRING, version: STRING, resource: STRING })],
  ["kubernetes.UserInfo", fields({ username: STRING, uid: STRING, groups: TEXTS, extra: mapType(STRING, TEXTS) })],
  [
    "kubernetes.AdmissionRequest",
    fields({
      kind: KIND,
      resource: RESOURCE,
      subResource: STRING,
      requestKind: KIND,
      requestResource: RESOURCE,
      requestSubResource: STRING,
      name: STRING,
      namespace: STRING,
      operation: STRING,
      userInfo: structType("kubernetes.UserInfo"),
      dryRun: BOOL,
      options: DYN,
    }),
  ],
  ["kubernetes.NamespaceSpec", fields({ finalizers: TEXTS })],
  [
    "kubernetes.NamespaceCondition",
    fields({ status: STRING, type: STRING, lastTransitionTime: TIMESTAMP, message: STRING, reason: STRING }),
  ],
  ["kubernetes.NamespaceStatus", fields({ conditions: listType(structType("kubernetes.NamespaceCondition")), phase: STRING })],
  [
    "kubernetes.NamespaceMetadata",
    fields({
      name: STRING,
      generateName: STRING,
      namespace: STRING,
      labels: mapType(STRING, STRING),
      annotations: mapType(STRING, STRING),
      UID: STRING,
      creationTimestamp: TIMESTAMP,
      deletionGracePeriodSeconds: INT,
      deletionTimestamp: TIMESTAMP,
      generation: INT,
      resourceVersion: STRING,
      finalizers: TEXTS,
    }),
  ],
  [
    "kubernetes.Namespace",
    fields({
      metadata: structType("kubernetes.NamespaceMetadata"),
      spec: structType("kubernetes.NamespaceSpec"),
      status: structType("kubernetes.NamespaceStatus"),
    }),
  ],
]);

export function environmentOf({ withParams, withAuthorizer, variables, withPatchTypes }: Declared): CheckEnvironment {
  const declared = new Map<string, CelType>([
    ["object", DYN],
    ["oldObject", DYN],
    ["namespaceObject", structType("kubernetes.Namespace")],
    ["request", structType("kubernetes.AdmissionRequest")],
  ]);
  if (withParams === true) declared.set("params", DYN);
  if (withAuthorizer === true) declared.set("authorizer", AUTHORIZER).set("authorizer.requestResource", RESOURCE_CHECK);
  if (variables !== undefined) declared.set("variables", structType(VARIABLES_TYPE));
  const fieldsOf = (struct: string) => (struct === VARIABLES_TYPE ? variables : STRUCTS.get(struct));
  if (withPatchTypes !== true) return { functions: kubernetesLibrary(), variables: declared, fieldsOf };
  return {
    functions: mutationLibrary(),
    variables: declared,
    fieldsOf: (struct) => fieldsOf(struct) ?? patchFields(struct),
    structNamed: patchStruct,
  };
}
