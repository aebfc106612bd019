/** Invariants between a server and its informers. */
import { jsonEqual, keyOf, keyText, type KubeObject, type ObjectKey } from "#kube";

export function differencesOf(follower: string, server: readonly KubeObject[], followed: readonly KubeObject[]): readonly string[] {
  const left = new Map(followed.map((object) => [keyText(keyOf(object)), object]));
  const differences: string[] = [];
  for (const object of server) {
    const key = keyText(keyOf(object));
    const copy = left.get(key);
    left.delete(key);
    if (copy === undefined) differences.push(`the ${follower} misses ${key}`);
    else if (!jsonEqual(copy, object)) differences.push(`the ${follower} has another ${key}`);
  }
  return [...differences, ...[...left.keys()].map((key) => `the ${follower} has a deleted ${key}`)];
}

/** Follows an informer by its changes alone: each must start with the result of its predecessor. */
export class Mirror {
  readonly #objects = new Map<string, KubeObject>();
  readonly wrong: string[] = [];

  take({ key, before, after }: { key: ObjectKey; before: KubeObject | undefined; after: KubeObject | undefined }): void {
    const name = keyText(key);
    if (this.#objects.get(name) !== before) this.wrong.push(`a change of ${name} does not start with the result of the last one`);
    if (before === undefined && after === undefined) this.wrong.push(`a change of ${name} changes nothing`);
    if (after === undefined) this.#objects.delete(name);
    else this.#objects.set(name, after);
  }

  objects(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }
}
