/** Reads the arguments of the tools: flags with and without values, short ones in groups (`-sSf`), and operands. Pure. */
import { err, ok, type Result } from "#base";

export type FlagTable = {
  /** Every spelling, without dashes, to the name of the flag. */
  readonly withValue: ReadonlyMap<string, string>;
  readonly withoutValue: ReadonlyMap<string, string>;
};

export type ReadFlags = {
  /** In the order of the arguments. */
  readonly flags: readonly { readonly name: string; readonly value: string }[];
  readonly operands: readonly string[];
};

/** The error is the argument that is not known. */
export function readFlags(args: readonly string[], table: FlagTable): Result<ReadFlags, string> {
  const flags: { name: string; value: string }[] = [];
  const operands: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (!arg.startsWith("-") || arg === "-") {
      operands.push(arg);
      continue;
    }
    const read = arg.startsWith("--") ? readLong(arg, rest, table) : readShort(arg, rest, table);
    if (read === undefined) return err(arg);
    flags.push(...read);
  }
  return ok({ flags, operands });
}

type Flags = ReadFlags["flags"];

function readLong(arg: string, rest: string[], { withValue, withoutValue }: FlagTable): Flags | undefined {
  const at = arg.indexOf("=");
  const spelling = arg.slice(2, at < 0 ? undefined : at);
  const plain = withoutValue.get(spelling);
  if (plain !== undefined) return at < 0 || arg.slice(at + 1) === "true" ? [{ name: plain, value: "" }] : undefined;
  const name = withValue.get(spelling);
  const value = at < 0 ? rest.shift() : arg.slice(at + 1);
  return name === undefined || value === undefined ? undefined : [{ name, value }];
}

function readShort(arg: string, rest: string[], { withValue, withoutValue }: FlagTable): Flags | undefined {
  const found: { name: string; value: string }[] = [];
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg.charAt(at);
    const plain = withoutValue.get(letter);
    if (plain !== undefined) {
      found.push({ name: plain, value: "" });
      continue;
    }
    const name = withValue.get(letter);
    const value = at + 1 < arg.length ? arg.slice(at + 1).replace(/^=/, "") : rest.shift();
    return name === undefined || value === undefined ? undefined : [...found, { name, value }];
  }
  return found;
}

export function lastValue({ flags }: ReadFlags, name: string): string | undefined {
  return flags.findLast((flag) => flag.name === name)?.value;
}
