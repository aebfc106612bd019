/**
 * The messages of Kubernetes' protobuf form, decoded from the committed table when they are first needed.
 *
 * A line is a message and its fields: `2data:{s` is field 2, in JSON "data", a map of strings. `[` repeats, `{` maps from string, `^` is a
 * message whose fields stand in JSON where it stands; `s y b i d` are string, bytes, bool, integer and double; anything else is a message.
 */
import { MESSAGES } from "./generated/messages.ts";

export type FieldShape = { readonly name: string; readonly form: "one" | "list" | "map" | "inline"; readonly type: string };
export type MessageShape = ReadonlyMap<number, FieldShape>;

const FORMS: Readonly<Record<string, FieldShape["form"]>> = { "[": "list", "{": "map", "^": "inline" };
let lines: ReadonlyMap<string, string> | undefined;
const shapes = new Map<string, MessageShape>();

export function messageShape(name: string): MessageShape | undefined {
  lines ??= new Map(MESSAGES.split("\n").map((line) => [line.split(" ", 1)[0] ?? "", line]));
  const line = lines.get(name);
  if (line === undefined) return undefined;
  const known = shapes.get(name);
  if (known !== undefined) return known;
  const made = new Map(line.split(" ").slice(1).map(fieldShape));
  shapes.set(name, made);
  return made;
}

function fieldShape(text: string): [number, FieldShape] {
  const [, number = "0", name = "", mark = "", type = ""] = /^(\d+)(\w+):([[{^]?)(.*)$/.exec(text) ?? [];
  return [Number(number), { name, form: FORMS[mark] ?? "one", type }];
}
