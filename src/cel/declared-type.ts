/**
 * A type together with how large a value of it can be, from which the cost of an expression is estimated before it ever runs.
 */
import { listType, mapType, STRING, structType, type CelType } from "./types.ts";

export type DeclaredType = {
  readonly kind: "scalar" | "list" | "map" | "object";
  /** Of scalars; the rest get theirs when they are given names. */
  readonly type: CelType;
  /** Characters, items or entries at most. */
  readonly maxElements: number;
  /** The fewest bytes a value takes in JSON. */
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

/** Every object gets a name of its own, so that two of different shape are different types. */
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

/** How large what the path leads to can be: "@items", "@values", "@keys" and names of fields. */
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
