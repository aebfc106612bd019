/** Resources whose params read each other, each twice its predecessor: a few lines that become `base × 2^count` bytes. */

/** `r00`, `r01`, …: the outputs of each are twice as long as those of the one before. `base`: the length of the first. */
export function doublingResources(count: number, base = 1): Readonly<Record<string, object>> {
  const nameOf = (at: number) => `r${String(at).padStart(2, "0")}`;
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const before = `\${resources.${nameOf(at - 1)}.database}`;
      return [nameOf(at), { type: "postgres", params: { database: at === 0 ? "x".repeat(base) : before + before } }];
    }),
  );
}
