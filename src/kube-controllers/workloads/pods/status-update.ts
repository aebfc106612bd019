/** Writes a status by PUT, only when it differs. Zero values that Go omits are omitted here as well. */
import { ok, type Result } from "#base";
import { jsonEqual, type KubeObject, type Resource } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";

export async function updateStatus<T extends KubeObject & { readonly status?: object }>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
  status: NonNullable<T["status"]>,
): Promise<Result<T, KubeError>> {
  if (jsonEqual(object.status ?? {}, status)) return ok(object);
  return client.update(resource, { ...object, status }, { subresource: "status" });
}

/** The fields that are not 0, "" or an empty list: as Go's `omitempty` writes a struct. */
export function omitEmpty<T extends object>(fields: T): { readonly [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0);
}
