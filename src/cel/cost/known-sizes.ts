/** The sources and the largest sizes of the values in an expression, for the estimate of its cost. */
import { characters } from "../characters.ts";
import { ACCUMULATOR, type Expression } from "../ast.ts";
import type { Checked } from "../checked.ts";
import { maxElementsAt, type DeclaredType } from "../declared-type.ts";
import type { CelType } from "../types.ts";
import { fixed, ONE, UNKNOWN, type Range } from "./sizes.ts";

/** The sizes of the keys (or indices) and of the values of a list or map. */
export type EntrySizes = { readonly container: "list" | "map"; readonly key: Range; readonly value: Range };

/** An operand for the estimates of calls. */
export type Operand = {
  readonly expression: Expression | undefined;
  readonly type: CelType;
  readonly path: readonly string[];
  readonly size: Range | undefined;
};

export type Local = { readonly path: readonly string[]; readonly size: Range | undefined; readonly entries: EntrySizes | undefined };

export class KnownSizes {
  readonly #checked: Checked;
  readonly #root: DeclaredType;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entries = new Map<Expression, EntrySizes>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: Checked, root: DeclaredType) {
    this.#checked = checked;
    this.#root = root;
  }

  operand(node: Expression): Operand {
    const path = this.path(node);
    return { expression: node, type: this.#checked.typeOf(node), path: path[0] === ACCUMULATOR ? [] : path, size: this.size(node) };
  }

  /** The size that the schema allows at this path; undefined for an unknown path. */
  sizeAt(path: readonly string[]): Range | undefined {
    if (path.length === 0) return undefined;
    const max = maxElementsAt(this.#root, path.slice(1));
    return max === undefined ? undefined : { min: 0, max };
  }

  size(node: Expression): Range | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node);
    if (known !== undefined) return known;
    const declared = this.sizeAt(this.path(node));
    if (declared !== undefined) {
      this.#sizes.set(node, declared);
      return declared;
    }
    if (isScalar(this.#checked.typeOf(node))) return ONE;
    return node.kind === "identifier" ? this.local(node.name)?.size : undefined;
  }

  sizeOrUnknown(node: Expression): Range {
    return this.size(node) ?? UNKNOWN;
  }

  entries(node: Expression): EntrySizes | undefined {
    return this.#entries.get(node) ?? (node.kind === "identifier" ? this.local(node.name)?.entries : undefined);
  }

  setEntries(node: Expression, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(node, entries);
  }

  copySizes(to: Expression, from: Expression): void {
    const size = this.size(from);
    if (size !== undefined) this.#sizes.set(to, size);
    this.setEntries(to, this.entries(from));
  }

  path(node: Expression): readonly string[] {
    const local = node.kind === "identifier" ? this.local(node.name) : undefined;
    return local?.path ?? this.#paths.get(node) ?? [];
  }

  local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  push(name: string, local: Local): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
  }

  pop(name: string): void {
    this.#locals.set(name, (this.#locals.get(name) ?? []).slice(0, -1));
  }

  setPath(node: Expression, path: readonly string[]): void {
    this.#paths.set(node, path);
  }

  setSize(node: Expression, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(node, size);
  }
}

function literalSize(node: Expression): Range | undefined {
  if (node.kind === "list") return fixed(node.items.length);
  if (node.kind === "map") return fixed(node.entries.length);
  if (node.kind !== "constant") return undefined;
  if (typeof node.value === "string") return fixed(characters(node.value));
  return fixed(node.value instanceof Uint8Array ? node.value.length : 1);
}

function isScalar(type: CelType): boolean {
  if (["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind)) return true;
  const [inner] = type.parameters;
  return type.kind === "opaque" && type.name === "optional_type" && inner !== undefined && isScalar(inner);
}
