/**
 * The path of a field, as the API server prints it: `spec.versions[0].schema`, `properties[a.b]`.
 *
 * A path is a text. The path of the whole object is undefined and prints as "<nil>", as on a real server.
 */
export type CausePath = string | undefined;

export function child(path: CausePath, ...names: readonly string[]): string {
  const below = names.join(".");
  return path === undefined ? below : `${path}.${below}`;
}

export function index(path: CausePath, position: number): string {
  return `${path ?? ""}[${position}]`;
}

export function key(path: CausePath, name: string): string {
  return `${path ?? ""}[${name}]`;
}

export function pathText(path: CausePath): string {
  return path ?? "<nil>";
}
