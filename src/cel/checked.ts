/** The input of the checker, and its result: the same expression, with a type on every node and overloads on every call. */
import type { Expression } from "./ast.ts";
import type { Declarations, Overload } from "./declarations.ts";
import type { CelType } from "./types.ts";

export type CheckEnvironment = {
  readonly functions: Declarations;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Fields of a struct type by its name; undefined for an unknown struct. */
  readonly fieldsOf: (struct: string) => FieldTypes | undefined;
  /** Struct types that an expression may construct; rules of custom resources have none. */
  readonly structNamed?: (name: string) => CelType | undefined;
};

export type FieldTypes = { readonly get: (field: string) => CelType | undefined };

export type Checked = {
  readonly expression: Expression;
  readonly typeOf: (expression: Expression) => CelType;
  readonly overloadsOf: (call: Expression) => readonly Overload[];
  /** The call is of a function whose name has dots: `ip.isCanonical(x)`, so there is no target. */
  readonly isQualified: (call: Expression) => boolean;
  /** Identifiers and selections that name a variable or a type. */
  readonly nameOf: (expression: Expression) => string | undefined;
  readonly variablesUsed: ReadonlySet<string>;
};
