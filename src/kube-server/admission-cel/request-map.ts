/**
 * `request` in expressions. The names by which conditions select most often are read from the attributes; the whole request is made for any other
 * use of it.
 */
import { NO_SUCH_OVERLOAD, type CelMap, type CelValue } from "#cel";
import type { Attributes } from "../protocol/admission-port.ts";
import { JsonMap } from "./json-values.ts";
import { admissionRequest, namespaceOf, type Matched } from "./request.ts";

export class RequestMap implements CelMap {
  readonly kind = "map";
  readonly #attributes: Attributes;
  readonly #matched: Matched;
  #whole: CelMap | undefined;

  constructor(attributes: Attributes, matched: Matched) {
    this.#attributes = attributes;
    this.#matched = matched;
  }

  get size(): number {
    return this.#all().size;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    if (key === "name") return this.#attributes.name === "" ? undefined : this.#attributes.name;
    if (key === "namespace") return namespaceOf(this.#attributes);
    return key === "operation" ? this.#attributes.operation : this.#all().get(key);
  }

  /** Nothing but the name, the namespace and the operation was read. */
  get isNamesOnly(): boolean {
    return this.#whole === undefined;
  }

  keys(): readonly CelValue[] {
    return this.#all().keys();
  }

  #all(): CelMap {
    return (this.#whole ??= new JsonMap(admissionRequest(this.#attributes, this.#matched)));
  }
}
