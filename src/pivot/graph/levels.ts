/** The order of a graph of owners: what lies below an object, and the level of every object. Pure and linear. */
export type OwnedVertex = { readonly uid: string; readonly hard: readonly string[]; readonly soft: readonly string[] };
/** The uids of the objects that an object owns, by reference or by convention. */
export type Dependants = ReadonlyMap<string, readonly string[]>;

export function dependantsOf(vertices: Iterable<OwnedVertex>): Dependants {
  const dependants = new Map<string, string[]>();
  for (const { uid, hard, soft } of vertices) {
    for (const owner of [...hard, ...soft]) {
      const known = dependants.get(owner);
      if (known === undefined) dependants.set(owner, [uid]);
      else known.push(uid);
    }
  }
  return dependants;
}

/** The roots, and everything below them. `follows`: which of the objects below are found at all. */
export function descendants(roots: readonly string[], dependants: Dependants, follows = (_uid: string) => true): Set<string> {
  const found = new Set(roots);
  for (const uid of found) for (const next of dependants.get(uid) ?? []) if (follows(next)) found.add(next);
  return found;
}

/** Kahn's order: an object gets its level when all its owners have theirs. `cyclic`: those that never do. */
export function levelsOf(vertices: readonly OwnedVertex[], dependants: Dependants) {
  const uids = new Set(vertices.map(({ uid }) => uid));
  const waiting = new Map(vertices.map(({ uid, hard, soft }) => [uid, [...hard, ...soft].filter((owner) => uids.has(owner)).length]));
  const levels = new Map<string, number>();
  let ready = [...waiting].filter(([, count]) => count === 0).map(([uid]) => uid);
  for (let level = 0; ready.length > 0; level += 1) {
    const next: string[] = [];
    for (const uid of ready) {
      levels.set(uid, level);
      for (const one of dependants.get(uid) ?? []) {
        const left = (waiting.get(one) ?? 0) - 1;
        waiting.set(one, left);
        if (left === 0 && uids.has(one)) next.push(one);
      }
    }
    ready = next;
  }
  return { levels, cyclic: [...uids].filter((uid) => !levels.has(uid)) };
}
