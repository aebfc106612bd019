/**
 * Where a field is, as the API server writes it: `spec.versions[0].schema`, `properties[a.b]`.
 *
 * A path is its text. No path (the object as a whole) is undefined and prints as "<nil>", as the real server does.
 */
export type FieldPath = string | undefined;

export function child(path: FieldPath, ...names: readonly string[]): string {
  const below = names.join(".");
  return path === undefined ? below : `${path}.${below}`;
}

export function index(path: FieldPath, position: number): string {
  return `${path ?? ""}[${position}]`;
}

export function key(path: FieldPath, name: string): string {
  return `${path ?? ""}[${name}]`;
}

export function pathText(path: FieldPath): string {
  return path ?? "<nil>";
}
