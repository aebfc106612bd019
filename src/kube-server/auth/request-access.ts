/** The attributes of a request for authorization. The request was parsed once, for authorization and routing. */
import type { RequestInfo } from "../protocol/request-info.ts";
import type { Access } from "../protocol/auth-port.ts";

export function accessOf(info: RequestInfo): Access {
  if (info.kind === "path") return info;
  const { kind, verb, group, version, resource, subresource = "", namespace = "", name = "", selectedName = "" } = info;
  return {
    kind,
    verb,
    group,
    version,
    resource,
    subresource: subresource === "" || verb === "proxy" ? undefined : subresource,
    namespace: namespace === "" ? undefined : namespace,
    name: name === "" ? selectedName : name,
  };
}
