/** The type parameters of one check: creates new ones and keeps their bindings. */
import { assignAll, substitute, type Bindings } from "./assignability.ts";
import type { Overload } from "./declarations.ts";
import { parameterType, type CelType } from "./types.ts";

export class TypeBindings {
  #bindings: Bindings = new Map();
  #fresh = 0;

  /** The overload with new parameters. */
  instantiate(overload: Overload): Pick<Overload, "parameters" | "result"> {
    const names = new Map<string, CelType>();
    const rename = (type: CelType): CelType => {
      if (type.kind === "parameter") {
        const known = names.get(type.name) ?? this.freshType();
        names.set(type.name, known);
        return known;
      }
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(rename) };
    };
    return { parameters: overload.parameters.map(rename), result: rename(overload.result) };
  }

  freshType(): CelType {
    this.#fresh += 1;
    return parameterType(`_var${this.#fresh - 1}`);
  }

  /** Whether each of `from` is assignable to its `to`; if so, the resulting bindings are kept. */
  assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    const bindings = assignAll(this.#bindings, from, to);
    if (bindings !== undefined) this.#bindings = bindings;
    return bindings !== undefined;
  }

  resolved(type: CelType, freeBecomesDyn = false): CelType {
    return substitute(this.#bindings, type, freeBecomesDyn);
  }
}
