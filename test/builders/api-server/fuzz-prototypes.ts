/** Detects pollution of the built-in prototypes. */
const SHARED: readonly object[] = [
  Object.prototype, Array.prototype, Function.prototype, String.prototype, Number.prototype, Boolean.prototype, Map.prototype, Set.prototype,
  Promise.prototype, RegExp.prototype, Date.prototype, Error.prototype, Uint8Array.prototype, URLSearchParams.prototype, Object, Array, Function,
]; // prettier-ignore
const NAMES = SHARED.map((one) => Reflect.ownKeys(one).length);

/** The change since this module was loaded, or undefined. */
export function changedPrototypes(): string | undefined {
  const at = SHARED.findIndex((one, index) => Reflect.ownKeys(one).length !== NAMES[index]);
  if (at >= 0)
    return `a prototype has changed: ${Reflect.ownKeys(SHARED[at] ?? {})
      .map(String)
      .join(", ")}`;
  const probe: Record<string, unknown> = {};
  return probe["polluted"] === undefined && !("polluted" in Function.prototype) ? undefined : "a prototype is polluted";
}
