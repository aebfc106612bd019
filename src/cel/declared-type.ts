/**
 * A type together with the largest size of its values, from which the cost of an expression is estimated before it runs.
 */
import { listType, mapType, STRING, structType, type CelType } from "./types.ts";

export type DeclaredType = {
  readonly kind: "scalar" | "list" | "map" | "object";
  /** For scalars; other types get their CEL type when they are named. */
  readonly type: CelType;
  /** The largest number of characters, items or entries. */
  readonly maxElements: number;
  /** The smallest number of bytes of a value in JSON. */
  readonly minSize: number;
  readonly element: DeclaredType | undefined;
  readonly fields: ReadonlyMap<string, DeclaredType>;
};

export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
const KEY_TYPE = scalarType(STRING, 2, 0);

export function scalarType(type: CelType, minSize: number, maxElements: number): DeclaredType {
  return { kind: "scalar", type, maxElements, minSize, element: undefined, fields: new Map() };
}

export type NamedTypes = { readonly type: CelType; readonly fieldsOf: (struct: string) => ReadonlyMap<string, CelType> | undefined };

/** Every object type gets a unique name, so that two with different fields are different types. */
export function nameTypes(root: DeclaredType, name: string): NamedTypes {
  const structs = new Map<string, ReadonlyMap<string, CelType>>();
  const visit = (declared: DeclaredType, path: string): CelType => {
    if (declared.kind === "list" && declared.element !== undefined) return listType(visit(declared.element, `${path}.@idx`));
    if (declared.kind === "map" && declared.element !== undefined) return mapType(STRING, visit(declared.element, `${path}.@elem`));
    if (declared.kind !== "object") return declared.type;
    structs.set(path, new Map([...declared.fields].map(([field, type]) => [field, visit(type, `${path}.${field}`)])));
    return structType(path);
  };
  return { type: visit(root, name), fieldsOf: (struct) => structs.get(struct) };
}

/** The largest size of the value at the path: "@items", "@values", "@keys" and names of fields. */
export function maxElementsAt(root: DeclaredType, path: readonly string[]): number | undefined {
  let at: DeclaredType = root;
  for (const step of path) {
    const next =
      step === "@items" || step === "@values"
        ? at.element
        : step === "@keys"
          ? at.kind === "map"
            ? KEY_TYPE
            : undefined
          : at.fields.get(step);
    if (next === undefined) return undefined;
    at = next;
  }
  return at.maxElements;
}
