/**
 * A cache of parsed paths. Clients request the same objects repeatedly, and parsing a path takes longer than reading the object.
 *
 * Lists and watches are not cached, because the query decides between them; nor are paths that are not served.
 */
import type { ApiRequest } from "../protocol/request.ts";
import type { ResourceRequest } from "../protocol/request-info.ts";
import type { RequestTarget } from "../protocol/route.ts";
import type { TypeRegistry } from "../protocol/type-registry.ts";

/** The parsed path, and its kind and object. */
export type Route = { readonly info: ResourceRequest; readonly target: RequestTarget };

const MOST_PATHS = 4_096;
/** Longer paths are not cached; paths of objects are usually shorter. */
const LONGEST_PATH = 400;

export class RecentRoutes {
  readonly #types: TypeRegistry;
  readonly #byMethod = new Map<string, Map<string, Route>>();
  #generation: number;
  #size = 0;

  constructor(types: TypeRegistry) {
    this.#types = types;
    this.#generation = types.generation;
  }

  find({ method, path }: ApiRequest): Route | undefined {
    if (this.#generation !== this.#types.generation) this.#forget();
    return this.#byMethod.get(method)?.get(path);
  }

  add({ method, path }: ApiRequest, route: Route): void {
    const { verb } = route.target;
    if (verb === "list" || verb === "watch" || path.length > LONGEST_PATH) return;
    if (this.#size >= MOST_PATHS) this.#forget();
    const paths = this.#byMethod.get(method) ?? new Map<string, Route>();
    this.#byMethod.set(method, paths.set(path, route));
    this.#size += 1;
  }

  #forget(): void {
    this.#generation = this.#types.generation;
    this.#byMethod.clear();
    this.#size = 0;
  }
}
