/** The objects that a binding passes to its policy as `params`. A policy runs once for each of them. */
import { err, ok, whenOk, whenThere, type Later, type Result } from "#base";
import { field, keyText, matches, type JsonObject, type KubeObject } from "#kube";
import type { ResourceType } from "../../resource-type.ts";
import { fillConversionCache } from "../../protocol/convert-objects.ts";
import { inVersion } from "../../protocol/core.ts";
import { readSelector } from "../matching/index.ts";
import type { AdmissionContext } from "../../protocol/admission-port.ts";
import { textAt, type ParamKind } from "./policy-list.ts";

/** The resource type of the params, if the policy has params; an error if it is not served. */
export function paramTypeOf(context: AdmissionContext, kind: ParamKind | undefined): Result<ResourceType | undefined, string> {
  if (kind === undefined) return ok(undefined);
  const type = context.types.ofKind(kind.apiVersion, kind.kind);
  if (type !== undefined) return ok(type);
  const slash = kind.apiVersion.indexOf("/");
  const [group, version] = slash < 0 ? ["", kind.apiVersion] : [kind.apiVersion.slice(0, slash), kind.apiVersion.slice(slash + 1)];
  return err(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind.kind}'`);
}

type Wanted = {
  readonly type: ResourceType | undefined;
  readonly ref: JsonObject | undefined;
  /** The namespace of the request. */
  readonly namespace: string | undefined;
};

/** [undefined]: run once, without params. Empty: do not run. */
export function collectParams(
  context: AdmissionContext,
  { type, ref, namespace }: Wanted,
): Later<Result<readonly (KubeObject | undefined)[], string>> {
  if (type === undefined || ref === undefined) return ok([undefined]);
  const given = textAt(ref, "namespace");
  if (given !== "" && !type.resource.namespaced) return err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  const place = type.resource.namespaced ? (given === "" ? namespace : given) : undefined;
  if (type.resource.namespaced && place === undefined) {
    return err("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  return whenOk(paramsAt(context, type, { ref, place }), (found): Result<readonly KubeObject[], string> => {
    const required = textAt(ref, "parameterNotFoundAction") === "Deny";
    return found.length === 0 && required ? err("no params found for policy binding with `Deny` parameterNotFoundAction") : ok(found);
  });
}

type Place = { readonly ref: JsonObject; readonly place: string | undefined };

/** In the version that the policy names, for which a conversion webhook may have to be called. */
function paramsAt(context: AdmissionContext, type: ResourceType, { ref, place }: Place): Later<Result<readonly KubeObject[], string>> {
  const stored = storedAt(context, type, { ref, place });
  return whenThere(fillConversionCache(type, stored), (ready): Result<readonly KubeObject[], string> => {
    if (!ready.ok) return err(ready.error.message ?? "");
    const params = stored.map((object) => inVersion(type, object));
    if (textAt(ref, "name") !== "") return ok(params);
    const selector = readSelector(field(ref, "selector"));
    return ok(params.filter((object) => matches(selector, object.metadata.labels)));
  });
}

function storedAt({ store }: AdmissionContext, type: ResourceType, { ref, place }: Place): readonly KubeObject[] {
  const name = textAt(ref, "name");
  if (name === "") {
    const listed = store.list(type.collection, { namespace: place });
    return listed.ok ? listed.value.items.map(({ object }) => object) : [];
  }
  const found = store.get(type.collection, keyText({ namespace: place, name }));
  return found === undefined ? [] : [found.object];
}
