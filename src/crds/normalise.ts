/**
 * The changes that the API server makes to an object before validation, so that the parser here validates the same value: `null` in a field
 * that is not nullable counts as absent (in a list it stays, and is an error), and so does `undefined`.
 *
 * `__proto__` is rejected as a name everywhere. Kubernetes accepts it in a map, but it is unsafe in JavaScript objects.
 */
import { err, ok, type Result } from "#base";
import { depthExceeds, isJsonObject, MAX_DEPTH } from "#kube";
import { formatPath, type FieldError } from "./field-error.ts";
import { NOT_PLAIN, plainCopy } from "./plain.ts";
import { below, type Structural } from "./structural.ts";

/** `schemaOf` is slow at its first call, and most objects do not need it. */
export function normalise(value: unknown, schemaOf: () => Structural): Result<unknown, readonly FieldError[]> {
  if (!isJsonObject(value))
    return err([{ kind: "wrong-type", path: "", message: "must be an object with apiVersion, kind, metadata and spec" }]);
  if (depthExceeds(value, MAX_DEPTH))
    return err([{ kind: "invalid", path: "", message: `must not be nested deeper than ${MAX_DEPTH} levels` }]);
  const plain = plainCopy(value);
  if (plain !== NOT_PLAIN) return ok(plain);
  const schema = schemaOf();
  const refused: PropertyKey[][] = [];
  const copy = withoutNulls(value, schema, [], refused);
  if (refused.length === 0) return ok(copy);
  return err(
    refused.map((path) => ({
      kind: "not-allowed",
      path: formatPath(schema, path),
      message: 'the name "__proto__" is not accepted; use another',
    })),
  );
}

function withoutNulls(value: unknown, schema: Structural | undefined, path: readonly PropertyKey[], refused: PropertyKey[][]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => withoutNulls(item, below(schema, index), [...path, index], refused));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, item]) => {
    if (name === "__proto__") refused.push([...path, name]);
    const schemaBelow = below(schema, name);
    const absent = item === undefined || (item === null && schemaBelow !== undefined);
    return absent ? [] : [[name, withoutNulls(item, schemaBelow, [...path, name], refused)] as const];
  });
  // fromEntries defines own properties: a "__proto__" in here is data, and is refused above
  return Object.fromEntries(kept);
}
