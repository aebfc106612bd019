/** The values that the expressions of one request read. Made once per request and object version, and shared by many expressions. */
import type { JsonObject, KubeObject } from "#kube";
import {
  authorizerValue,
  resourceCheckValue,
  type AccessCheck,
  type CelAuthorizer,
  type CelMap,
  type CelValue,
  type RunLimits,
} from "#cel";
import type { Access, Authorizer } from "../protocol/auth-port.ts";
import type { Pace } from "../pace.ts";
import { asJsonObject } from "../protocol/managed-kinds.ts";
import type { User } from "../protocol/request.ts";
import type { Attributes } from "../protocol/admission-port.ts";
import { jsonValue } from "./json-values.ts";
import { admissionRequest, namespaceOf, type Matched } from "./request.ts";

export type ActivationInput = {
  readonly attributes: Attributes;
  readonly matched: Matched;
  /** In the version that matched. Undefined is null in an expression. */
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** Undefined is null: cluster-scoped objects have no namespace, and match conditions of webhooks never read it. */
  readonly namespace?: KubeObject | undefined;
  readonly params?: KubeObject | undefined;
  readonly authorize?: Authorizer | undefined;
  /** The time budget of the request; undefined: no limit. */
  readonly pace?: Pace | undefined;
};

export type Activation = {
  readonly values: ReadonlyMap<string, CelValue>;
  readonly variables: LazyVariables | undefined;
  readonly pace: Pace | undefined;
};

/** The values of `variables`, each evaluated when an expression first reads it. */
export type LazyVariables = {
  readonly map: CelMap;
  /** The limits of the next expression, which include those of the variables that it reads. */
  readonly limit: (limits: Required<RunLimits>) => void;
  /** The cost of variables since the last call. */
  readonly takeCost: () => number;
};

export type VariablesOf = (values: ReadonlyMap<string, CelValue>) => LazyVariables;

export function activationOf(input: ActivationInput, variablesOf?: VariablesOf): Activation {
  const { attributes, authorize, pace } = input;
  const values = new Map<string, CelValue>([
    ["object", objectValue(input.object)],
    ["oldObject", objectValue(input.old)],
    ["params", objectValue(input.params)],
    ["request", jsonValue(admissionRequest(attributes, input.matched))],
    ["namespaceObject", input.namespace === undefined ? null : jsonValue(namespaceView(input.namespace))],
  ]);
  if (authorize !== undefined) addAuthorizer(values, attributes, authorize);
  const variables = variablesOf?.(values);
  if (variables !== undefined) values.set("variables", variables.map);
  return { values, variables, pace };
}

function objectValue(object: KubeObject | undefined): CelValue {
  return object === undefined ? null : jsonValue(asJsonObject(object));
}

/** A namespace without owner references, managed fields, apiVersion and kind. */
function namespaceView(namespace: KubeObject): JsonObject {
  const { apiVersion: _, kind: __, ...content } = asJsonObject(namespace);
  const { managedFields: ___, ownerReferences: ____, ...metadata } = asJsonObject(namespace)["metadata"] as JsonObject;
  return { ...content, metadata };
}

function addAuthorizer(values: Map<string, CelValue>, attributes: Attributes, authorize: Authorizer): void {
  const authorizer = authorizerFor(attributes.user, authorize);
  const { group, plural } = attributes.type.resource;
  values.set("authorizer", authorizerValue(authorizer));
  const check = {
    group,
    resource: plural,
    subresource: attributes.subresource ?? "",
    namespace: namespaceOf(attributes) ?? "",
    name: attributes.name,
  };
  values.set("authorizer.requestResource", resourceCheckValue(authorizer, check));
}

function authorizerFor(user: User, authorize: Authorizer): CelAuthorizer {
  return {
    check: (check) => authorize(user, accessOf(check)),
    forServiceAccount: (namespace, name) => authorizerFor(serviceAccount(namespace, name), authorize),
  };
}

function accessOf(check: AccessCheck): Access {
  if (check.kind === "path") return check;
  const { subresource, namespace } = check;
  return {
    ...check,
    version: "*",
    subresource: subresource === "" ? undefined : subresource,
    namespace: namespace === "" ? undefined : namespace,
  };
}

function serviceAccount(namespace: string, name: string): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { name: `system:serviceaccount:${namespace}:${name}`, uid: "", groups };
}
