/**
 * Escaped names of fields as CEL identifiers: `in` becomes `__in__`, `a-b` becomes `a__dash__b`. A field whose name cannot be escaped is not
 * accessible to rules.
 */
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
const EXPANSIONS: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const CONTRACTIONS: ReadonlyMap<string, string> = new Map([...EXPANSIONS].map(([short, long]) => [long, short]));

export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

export function escapeName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => EXPANSIONS.get(part) ?? part);
}

export function unescapeName(escaped: string): string | undefined {
  let isValid = true;
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const known = CONTRACTIONS.get(part);
    if (known !== undefined) return known;
    const word = part.slice(2, -2);
    if (!RESERVED.has(word) || part.length !== escaped.length) isValid = false;
    return word;
  });
  return isValid ? name : undefined;
}
