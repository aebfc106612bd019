/**
 * Field owners in versions that only a webhook can convert to.
 *
 * Tracking and applying are pure and cannot wait. They run with the known conversions; missing conversions are requested, and they run again.
 * Each run needs the same conversions in the same order, and a real server calls the webhook for each of them, also for equal objects. So a
 * conversion is stored by its position in the sequence; until it is known, the conversion of an equal object is used.
 */
import { err, ok, whenThere, type Later, type Result } from "#base";
import { canonicalJson, type JsonObject } from "#kube";
import type { ConvertObject, ManagedKind } from "../apply/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { asJsonObject, asObject, managedKind } from "../protocol/managed-kinds.ts";
import type { TypeRegistry } from "../protocol/type-registry.ts";

type Conversion = { readonly object: JsonObject; readonly apiVersion: string };
type ConversionResult = Result<JsonObject, string>;

/** Beyond these, equal objects share a conversion, because the number of managers of an object is not limited. */
const MAX_CALLS = 100;

/** Limit of runs; managedFields with more versions than this are not expected. */
const MAX_RUNS = 8;

export type Tracked = { readonly types: TypeRegistry; readonly type: ResourceType; readonly subresource: string | undefined };

export function withVersions<T>({ types, type, subresource }: Tracked, run: (kind: ManagedKind) => T): Later<T> {
  const kind = managedKind(types, type, subresource);
  const { conversion } = type;
  if (conversion === undefined) return run(kind);
  const known: Known = { inOrder: [], byContent: new Map() };
  const again = async (runs: number): Promise<T> => {
    const missing: Conversion[] = [];
    const result = run({ ...kind, convert: converting({ types, type, known, missing }), convertsManagedFields: true });
    if (missing.length === 0 || runs === MAX_RUNS) return result;
    for (const one of missing) {
      const converted = await conversion.ask([asObject(one.object)], one.apiVersion);
      const first = converted.ok ? converted.value[0] : undefined;
      const entry = first === undefined ? err(converted.ok ? "the webhook returned no object" : converted.error) : ok(asJsonObject(first));
      if (known.inOrder.length < MAX_CALLS) known.inOrder.push(entry);
      known.byContent.set(keyOf(one), entry);
    }
    return again(runs + 1);
  };
  return whenThere(again(1), (result) => result);
}

type Known = { readonly inOrder: ConversionResult[]; readonly byContent: Map<string, ConversionResult> };

type Converting = Pick<Tracked, "types" | "type"> & { readonly known: Known; readonly missing: Conversion[] };

function converting({ types, type, known, missing }: Converting): ConvertObject {
  let place = 0;
  return (object, apiVersion) => {
    const other = types.otherVersion(type, apiVersion);
    if (other === undefined) return err({ kind: "missing-version" });
    const own = known.inOrder[place];
    const result = own ?? known.byContent.get(keyOf({ object, apiVersion }));
    if (result === undefined || (own === undefined && place < MAX_CALLS)) missing.push({ object, apiVersion });
    place += 1;
    if (result?.ok === true) return ok({ object: result.value, schema: other.typeSchema });
    return err({ kind: "failed", message: result?.error ?? "the conversion is not known yet" });
  };
}

function keyOf({ object, apiVersion }: Conversion): string {
  return `${apiVersion} ${canonicalJson(object)}`;
}
