/** What is wrong with the params of a service that can be seen without filling in any template: for checks of single files. */
import type { LatticeService } from "#crds";
import { agreementParams, renderParams, unknownParams, type Registry } from "../provisioners/index.ts";
import { hasPlaceholders, scopeOf } from "../templates/index.ts";
import { entriesOf, ownPortsOf } from "./render-service.ts";

export type ParamMistake = { readonly resource: string; readonly message: string };

/** A type that is not in the registry is left to the compiler: it may be declared elsewhere. */
export function paramMistakes(service: LatticeService, registry: Registry): readonly ParamMistake[] {
  const nothing = scopeOf([]);
  const own = ownPortsOf(service);
  return entriesOf({ service, namespace: service.metadata.namespace ?? "default" }).flatMap((entry): readonly ParamMistake[] => {
    const unknown = unknownParams(entry, registry.get(entry.type));
    if (unknown !== undefined) return [{ resource: entry.name, message: unknown }];
    if (entry.direction === "outbound" && entry.type !== "service") return [];
    if (hasPlaceholders(JSON.stringify(entry.params))) return [];
    const params = renderParams(entry.params, nothing);
    const read = params.ok ? agreementParams(params.value, entry.direction === "inbound" ? own : undefined) : undefined;
    return read?.ok === false && read.error.kind === "other" ? [{ resource: entry.name, message: read.error.message }] : [];
  });
}
