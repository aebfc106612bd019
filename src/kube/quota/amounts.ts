/**
 * Amounts of resources by name (`requests.cpu`, `pods`, `count/jobs.batch`): requests of containers, limits of a quota, usage.
 *
 * An amount keeps the kind of unit it was parsed from: usage of a quota of 1Gi is shown as 512Mi, not as 536870912.
 */
import { field, isJsonObject } from "../json.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityFamily,
  type Quantity,
  type QuantityFamily,
} from "../quantities.ts";

export type Amount = { readonly quantity: Quantity; readonly family: QuantityFamily };
export type Amounts = ReadonlyMap<string, Amount>;

export const NO_AMOUNTS: Amounts = new Map();
export const NOTHING: Amount = amountOf(0);

/** An amount that is an integer without a unit. */
export function amountOf(count: number): Amount {
  return { quantity: (BigInt(count) * 1_000_000_000n) as Quantity, family: "decimal" };
}

/** Reads a ResourceList. Invalid quantities are ignored: validation has already rejected them. */
export function readAmounts(list: unknown): Amounts {
  const amounts = new Map<string, Amount>();
  if (!isJsonObject(list)) return amounts;
  for (const name of Object.keys(list)) {
    const amount = readAmount(field(list, name));
    if (amount !== undefined) amounts.set(name, amount);
  }
  return amounts;
}

function readAmount(raw: unknown): Amount | undefined {
  if (typeof raw !== "string" && typeof raw !== "number") return undefined;
  const parsed = parseQuantity(raw);
  return parsed.ok ? { quantity: parsed.value, family: quantityFamily(String(raw)) } : undefined;
}

export function amountText({ quantity, family }: Amount): string {
  return formatQuantity(quantity, family);
}

/** As a ResourceList, sorted by name. A null prototype: names come from users. */
export function writeAmounts(amounts: Amounts): Readonly<Record<string, string>> {
  const list: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name of [...amounts.keys()].toSorted()) list[name] = amountText(amounts.get(name) ?? NOTHING);
  return { ...list };
}

/** "a=1,b=2", the format of error messages. */
export function describeAmounts(amounts: Amounts): string {
  return Object.entries(writeAmounts(amounts))
    .map(([name, text]) => `${name}=${text}`)
    .join(",");
}

/** A zero amount takes the unit of the other. */
function add(a: Amount, b: Amount): Amount {
  return { quantity: addQuantities(a.quantity, b.quantity), family: a.quantity === 0n ? b.family : a.family };
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return merged(a, b, add);
}

export function maxAmounts(a: Amounts, b: Amounts): Amounts {
  return merged(a, b, (one, other) => (compareQuantities(other.quantity, one.quantity) > 0 ? other : one));
}

function merged(a: Amounts, b: Amounts, both: (a: Amount, b: Amount) => Amount): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) {
    const own = result.get(name);
    result.set(name, own === undefined ? amount : both(own, amount));
  }
  return result;
}

/** The increase from `before` to `now`; decreases are ignored. */
export function growth(now: Amounts, before: Amounts): Amounts {
  const result = new Map<string, Amount>();
  for (const [name, { quantity, family }] of now) {
    const more = (quantity - (before.get(name)?.quantity ?? 0n)) as Quantity;
    if (more > 0n) result.set(name, { quantity: more, family });
  }
  return result;
}

export function onlyNamed(amounts: Amounts, wanted: (name: string) => boolean): Amounts {
  return new Map([...amounts].filter(([name]) => wanted(name)));
}

export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, { quantity }]) => quantity !== 0n));
}

export function sameAmounts(a: Amounts, b: Amounts): boolean {
  return a.size === b.size && [...a].every(([name, { quantity }]) => b.get(name)?.quantity === quantity);
}
