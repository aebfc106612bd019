/** The values of one request by name, each made when an expression first reads it: most expressions read one or two of them. */
import type { JsonObject, KubeObject } from "#kube";
import { authorizerValue, resourceCheckValue, type AccessCheck, type CelAuthorizer, type CelValue, type VariableValues } from "#cel";
import type { Access, Authorizer } from "../protocol/auth-port.ts";
import { asJsonObject } from "../protocol/managed-kinds.ts";
import type { Attributes } from "../protocol/admission-port.ts";
import type { User } from "../protocol/request.ts";
import type { ActivationInput } from "./activation.ts";
import { jsonValue } from "./json-values.ts";
import { RequestMap } from "./request-map.ts";
import { namespaceOf } from "./request.ts";

export class RequestValues implements VariableValues {
  readonly #input: ActivationInput;
  #request: RequestMap | undefined;
  #made: Map<string, CelValue> | undefined;

  constructor(input: ActivationInput) {
    this.#input = input;
  }

  get(name: string): CelValue | undefined {
    // most conditions read nothing else, and need no map
    if (name === "request") return (this.#request ??= new RequestMap(this.#input.attributes, this.#input.matched));
    const known = this.#made?.get(name);
    if (known !== undefined) return known;
    const value = valueNamed(name, this.#input);
    if (value !== undefined) this.set(name, value);
    return value;
  }

  set(name: string, value: CelValue): void {
    (this.#made ??= new Map()).set(name, value);
  }

  /** Nothing but the name, the namespace and the operation of the request was read: a request with the same three has the same result. */
  get isNamesOnly(): boolean {
    return this.#made === undefined && this.#request?.isNamesOnly !== false;
  }
}

/**
 * A key for results that depend on the name, the namespace and the operation of a request, in one version of one resource. Only a name can have a "/", and
 * it comes last.
 */
export function namesKey(attributes: Attributes): string {
  const { operation, type, name } = attributes;
  return `${operation}${type.collection}/${type.resource.version}/${namespaceOf(attributes) ?? ""}/${name}`;
}

function valueNamed(name: string, { attributes, object, old, params, namespace, authorize }: ActivationInput): CelValue | undefined {
  switch (name) {
    case "object":
      return objectValue(object);
    case "oldObject":
      return objectValue(old);
    case "params":
      return objectValue(params);
    case "namespaceObject":
      return namespace === undefined ? null : jsonValue(namespaceView(namespace));
    case "authorizer":
      return authorize === undefined ? undefined : authorizerValue(authorizerFor(attributes.user, authorize));
    case "authorizer.requestResource":
      return authorize === undefined ? undefined : requestResource(attributes, authorize);
    default:
      return undefined;
  }
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

function requestResource(attributes: ActivationInput["attributes"], authorize: Authorizer): CelValue {
  const { group, plural } = attributes.type.resource;
  const check = {
    group,
    resource: plural,
    subresource: attributes.subresource ?? "",
    namespace: namespaceOf(attributes) ?? "",
    name: attributes.name,
  };
  return resourceCheckValue(authorizerFor(attributes.user, authorize), check);
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
