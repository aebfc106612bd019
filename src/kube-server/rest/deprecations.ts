/** Deprecated kinds and versions: every response has a warning, also for reads. */
import type { ResourceType } from "../resource-type.ts";
import type { CustomType } from "../definitions/custom-types.ts";

/** All of the core group, which has one version. */
const BUILTIN: ReadonlyMap<string, string> = new Map([
  ["ComponentStatus", "v1 ComponentStatus is deprecated in v1.19+"],
  ["Endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
]);

export function deprecationOf(type: ResourceType): string | undefined {
  const { deprecationWarning }: CustomType = type;
  return deprecationWarning ?? (type.resource.group === "" ? BUILTIN.get(type.resource.kind) : undefined);
}
