/**
 * Who owns which fields, told in versions that only a webhook can convert to.
 *
 * Tracking and applying are pure and cannot wait. So they are run with what is known of other versions; when they ask for something that is
 * not known, it is asked for outside and they are run again. Mostly nothing is missing and one run is all.
 */
import { err, ok, whenThere, type Later, type Result } from "#base";
import { canonicalJson, type JsonObject } from "#kube";
import type { ConvertObject, ManagedKind } from "../apply/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { asJsonObject, asObject, managedKind } from "./managed-kinds.ts";
import type { TypeRegistry } from "./type-registry.ts";

type Missing = { readonly object: JsonObject; readonly apiVersion: string };

/** More versions than this in one object's managedFields are somebody's mistake. */
const MAX_RUNS = 8;

export type Tracked = { readonly types: TypeRegistry; readonly type: ResourceType; readonly subresource: string | undefined };

export function withVersions<T>({ types, type, subresource }: Tracked, run: (kind: ManagedKind) => T): Later<T> {
  const kind = managedKind(types, type, subresource);
  const { conversion } = type;
  if (conversion === undefined) return run(kind);
  const known = new Map<string, Result<JsonObject, string>>();
  const again = async (runs: number): Promise<T> => {
    const missing: Missing[] = [];
    const result = run({ ...kind, convert: converting({ types, type, known, missing }) });
    if (missing.length === 0 || runs === MAX_RUNS) return result;
    for (const one of missing) {
      const converted = await conversion.into([asObject(one.object)], one.apiVersion);
      const first = converted.ok ? converted.value[0] : undefined;
      known.set(keyOf(one), first === undefined ? err(converted.ok ? "nothing came back" : converted.error) : ok(asJsonObject(first)));
    }
    return again(runs + 1);
  };
  return whenThere(again(1), (result) => result);
}

type Converting = Pick<Tracked, "types" | "type"> & {
  readonly known: ReadonlyMap<string, Result<JsonObject, string>>;
  readonly missing: Missing[];
};

function converting({ types, type, known, missing }: Converting): ConvertObject {
  return (object, apiVersion) => {
    const other = types.otherVersion(type, apiVersion);
    if (other === undefined) return err({ kind: "missing-version" });
    const converted = known.get(keyOf({ object, apiVersion }));
    if (converted?.ok === true) return ok({ object: converted.value, schema: other.typeSchema });
    if (converted === undefined) missing.push({ object, apiVersion });
    return err({ kind: "failed", message: converted?.error ?? "not known yet" });
  };
}

function keyOf({ object, apiVersion }: Missing): string {
  return `${apiVersion} ${canonicalJson(object)}`;
}
