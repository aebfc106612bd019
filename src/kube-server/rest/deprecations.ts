/** Kinds and versions that are on their way out: every answer about them says so, reads included. */
import { apiVersionOf } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import type { CustomType } from "./custom-types.ts";

const BUILTIN: ReadonlyMap<string, string> = new Map([
  ["v1 ComponentStatus", "v1 ComponentStatus is deprecated in v1.19+"],
  ["v1 Endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
]);

export function deprecationOf(type: ResourceType): string | undefined {
  const { deprecationWarning }: CustomType = type;
  return deprecationWarning ?? BUILTIN.get(`${apiVersionOf(type.resource)} ${type.resource.kind}`);
}
