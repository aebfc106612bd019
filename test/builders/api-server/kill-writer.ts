/**
 * One writer of the load: it alone writes its objects, one write after the other, and remembers what it was told. So there is always
 * exactly one thing that must be there, and at most one other that may.
 */
import { fieldAt, type Json, type JsonObject } from "#kube";
import { IN_DOUBT, type Exchange, type Question, type Told } from "./exchange.ts";
import { collectionPath, contentFields, digestOf, LOAD_KINDS, loadObject, type Content, type LoadKind } from "./kill-kinds.ts";

/** What is known of an object. */
export type Known = {
  readonly kind: LoadKind;
  readonly name: string;
  /** As the server last confirmed it; undefined: it confirmed that it is gone, or was never asked. */
  confirmed: JsonObject | undefined;
  /** The write that was under way when the server died: a digest, or that it deletes. */
  doubt: { readonly digest: string } | "deletes" | undefined;
};

type Move = { readonly question: Question; readonly content: Content | undefined };

export class KillWriter {
  readonly id: number;
  readonly known: readonly Known[];
  readonly #random: () => number;
  acknowledged = 0;
  /** Answers that this load never asks for. */
  readonly wrong: string[] = [];
  #writes = 0;

  constructor(id: number, random: () => number) {
    this.id = id;
    this.#random = random;
    this.known = LOAD_KINDS.flatMap((kind) =>
      [0, 1, 2].map((at) => ({ kind, name: `w${id}-${at}`, confirmed: undefined, doubt: undefined })),
    );
  }

  /** Until the server does not answer any more. */
  async run(exchange: Exchange): Promise<void> {
    for (;;) {
      const known = this.known[Math.floor(this.#random() * this.known.length)];
      if (known === undefined || !(await this.#write(exchange, known))) return;
    }
  }

  async #write(exchange: Exchange, known: Known): Promise<boolean> {
    const { question, content } = this.#move(known);
    known.doubt = content === undefined ? "deletes" : { digest: digestOf(known.name, content.number, content.text) };
    const told = await exchange.ask(question);
    if (told === IN_DOUBT) return false;
    known.doubt = undefined;
    if (told.code >= 300)
      this.wrong.push(`${question.method} ${question.path} ${question.type ?? ""}: ${told.code} ${JSON.stringify(told.body["message"])}`);
    else this.#confirm(known, told, content === undefined);
    return true;
  }

  #confirm(known: Known, { body }: Told, deleted: boolean): void {
    this.acknowledged += 1;
    const before = known.confirmed;
    known.confirmed = deleted ? undefined : body;
    if (before === undefined || deleted) return;
    if (Number(fieldAt(body, "metadata", "resourceVersion")) <= Number(fieldAt(before, "metadata", "resourceVersion")))
      this.wrong.push(`${known.name}: the version did not grow`);
    if (fieldAt(body, "metadata", "uid") !== fieldAt(before, "metadata", "uid")) this.wrong.push(`${known.name}: the uid changed`);
  }

  #move({ kind, name, confirmed }: Known): Move {
    this.#writes += 1;
    const size = this.#random() < 0.03 ? 60_000 : 3_000;
    const text = `${this.id}-${this.#writes}-`.padEnd(Math.floor(this.#random() * size), "x");
    const content = { number: Math.floor(this.#random() * 1_000), text };
    const path = collectionPath(kind);
    const object = loadObject(kind, name, content);
    if (confirmed === undefined) {
      return this.#random() < 0.3 ? applied(path, name, object, content) : { question: { method: "POST", path, body: object }, content };
    }
    if (this.#random() < 0.15) return { question: { method: "DELETE", path: `${path}/${name}` }, content: undefined };
    return this.#change({ kind, name, confirmed, content, object });
  }

  #change(change: { kind: LoadKind; name: string; confirmed: JsonObject; content: Content; object: JsonObject }): Move {
    const { kind, name, confirmed, content, object } = change;
    const path = collectionPath(kind);
    const at = `${path}/${name}`;
    const fields = contentFields(kind, name, content);
    const { managedFields: _, ...metadata } = fieldAt(confirmed, "metadata") as JsonObject;
    const updated = { ...confirmed, ...fields, metadata: { ...metadata, ...fields.metadata } } as Json;
    const pick = this.#random();
    if (pick < 0.25) return { question: { method: "PUT", path: at, body: updated }, content };
    if (pick < 0.5) return { question: { method: "PATCH", path: at, body: fields, type: "application/merge-patch+json" }, content };
    if (pick < 0.65)
      return { question: { method: "PATCH", path: at, body: fields, type: "application/strategic-merge-patch+json" }, content };
    if (pick < 0.8)
      return { question: { method: "PATCH", path: at, body: replacing(fields), type: "application/json-patch+json" }, content };
    return applied(path, name, object, content);
  }
}

function applied(path: string, name: string, object: JsonObject, content: Content): Move {
  const question = {
    method: "PATCH",
    path: `${path}/${name}?fieldManager=load&force=true`,
    body: object,
    type: "application/apply-patch+yaml",
  };
  return { question, content };
}

function replacing(fields: JsonObject & { metadata: JsonObject }): Json {
  const { metadata, ...rest } = fields;
  const tops = Object.entries(rest).map(([name, value]) => ({ op: "replace", path: `/${name}`, value: value ?? null }));
  return [...tops, { op: "replace", path: "/metadata/annotations", value: metadata["annotations"] ?? null }];
}
