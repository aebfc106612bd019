/** Images for containers of Score files whose image is ".", which a build provides. */
import { didYouMean } from "#crds";

/** `only`: for the one container that needs an image. `byName`: by workload, or by `workload/container`. */
export type ScoreImages = { readonly only?: string; readonly byName?: ReadonlyMap<string, string> };

/**
 * For callers that do not need images: "." stays as it is.
 *
 * @example loadWorld(documents, { images: ANY_IMAGE })
 */
export const ANY_IMAGE = "any";

/** The images of one world; records which of them were used. */
export class ImageChoice {
  readonly #images: ScoreImages | typeof ANY_IMAGE;
  readonly #needed = new Set<string>();
  readonly #used = new Set<string>();

  constructor(images: ScoreImages | typeof ANY_IMAGE = {}) {
    this.#images = images;
  }

  /** undefined: no image is given. */
  find(workload: string, container: string): string | undefined {
    if (this.#images === ANY_IMAGE) return ".";
    const { only, byName = new Map<string, string>() } = this.#images;
    const key = [`${workload}/${container}`, workload].find((name) => byName.has(name));
    if (key !== undefined) this.#used.add(key);
    this.#needed.add(`${workload}/${container}`);
    return key === undefined ? only : byName.get(key);
  }

  /** Errors: images that match no container, and an image without a name that matches several. */
  problems(): readonly string[] {
    if (this.#images === ANY_IMAGE) return [];
    const { only, byName = new Map<string, string>() } = this.#images;
    const needed = [...this.#needed];
    const known = [...needed, ...needed.map((name) => name.split("/")[0] ?? "")];
    const unused = [...byName].filter(([name]) => !this.#used.has(name));
    return [
      ...unused.map(([name, image]) => `${name}=${image} matches no container with image "."${didYouMean(name, known)}`),
      ...(only !== undefined && needed.length === 0 ? [`${only} matches no container with image "."`] : []),
      ...(only !== undefined && needed.length > 1 ? [`${needed.join(" and ")} need an image; write NAME=IMAGE for each`] : []),
    ];
  }
}
