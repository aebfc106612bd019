/**
 * The messages of Kubernetes' protobuf encoding, parsed from the generated table when they are first needed.
 *
 * A line is a message and its fields: `2data:{s` is field 2, in JSON "data", a map of strings. `[` repeats, `{` maps from string, `^` is a
 * message whose fields are inlined in JSON; `s y b i d` are string, bytes, bool, integer and double; anything else is a message.
 */
import { once } from "#base";
import { MESSAGES } from "./generated/messages.ts";

export type FieldShape = { readonly name: string; readonly form: "one" | "list" | "map" | "inline"; readonly type: string };
export type MessageShape = ReadonlyMap<number, FieldShape>;

const FORMS: Readonly<Record<string, FieldShape["form"]>> = { "[": "list", "{": "map", "^": "inline" };
/** Each message is parsed when it is first needed. */
const shapes = once(() => new Map(MESSAGES.split("\n").map((line) => [line.split(" ", 1)[0] ?? "", once(() => readShape(line))])));

export function messageShape(name: string): MessageShape | undefined {
  return shapes().get(name)?.();
}

function readShape(line: string): MessageShape {
  return new Map(line.split(" ").slice(1).map(fieldShape));
}

function fieldShape(text: string): [number, FieldShape] {
  const [, number = "0", name = "", mark = "", type = ""] = /^(\d+)(\w+):([[{^]?)(.*)$/.exec(text) ?? [];
  return [Number(number), { name, form: FORMS[mark] ?? "one", type }];
}
