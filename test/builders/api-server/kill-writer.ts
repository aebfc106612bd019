/**
 * One writer of the load. It is the only writer of its objects, writes one after the other and remembers the responses. So there is
 * exactly one state that must be stored, and at most one other that may be.
 */
import { fieldAt, type Json, type JsonObject } from "#kube";
import { IN_DOUBT, type Exchange, type ExchangeRequest, type ExchangeResponse } from "./exchange.ts";
import { collectionPath, contentFields, digestOf, LOAD_KINDS, loadObject, type LoadContent, type LoadKind } from "./kill-kinds.ts";

/** The known state of an object. */
export type KnownObject = {
  readonly kind: LoadKind;
  readonly name: string;
  /** As the server last confirmed it; undefined: deleted, or not created yet. */
  confirmed: JsonObject | undefined;
  /** The write without a response when the server was killed: its digest, or a delete. */
  doubt: { readonly digest: string } | "deletes" | undefined;
};

type Move = { readonly request: ExchangeRequest; readonly content: LoadContent | undefined };

export class KillWriter {
  readonly id: number;
  readonly known: readonly KnownObject[];
  readonly #random: () => number;
  acknowledged = 0;
  /** Responses that this load must not get. */
  readonly wrong: string[] = [];
  #writes = 0;

  constructor(id: number, random: () => number) {
    this.id = id;
    this.#random = random;
    this.known = LOAD_KINDS.flatMap((kind) =>
      [0, 1, 2].map((at) => ({ kind, name: `w${id}-${at}`, confirmed: undefined, doubt: undefined })),
    );
  }

  /** Runs until the server no longer responds. */
  async run(exchange: Exchange): Promise<void> {
    for (;;) {
      const known = this.known[Math.floor(this.#random() * this.known.length)];
      if (known === undefined || !(await this.#write(exchange, known))) return;
    }
  }

  async #write(exchange: Exchange, known: KnownObject): Promise<boolean> {
    const { request, content } = this.#move(known);
    known.doubt = content === undefined ? "deletes" : { digest: digestOf(known.name, content.number, content.text) };
    const response = await exchange.request(request);
    if (response === IN_DOUBT) return false;
    known.doubt = undefined;
    if (response.code >= 300)
      this.wrong.push(
        `${request.method} ${request.path} ${request.type ?? ""}: ${response.code} ${JSON.stringify(response.body["message"])}`,
      );
    else this.#confirm(known, response, content === undefined);
    return true;
  }

  #confirm(known: KnownObject, { body }: ExchangeResponse, deleted: boolean): void {
    this.acknowledged += 1;
    const before = known.confirmed;
    known.confirmed = deleted ? undefined : body;
    if (before === undefined || deleted) return;
    if (Number(fieldAt(body, "metadata", "resourceVersion")) <= Number(fieldAt(before, "metadata", "resourceVersion")))
      this.wrong.push(`${known.name}: the version did not grow`);
    if (fieldAt(body, "metadata", "uid") !== fieldAt(before, "metadata", "uid")) this.wrong.push(`${known.name}: the uid changed`);
  }

  #move({ kind, name, confirmed }: KnownObject): Move {
    this.#writes += 1;
    const size = this.#random() < 0.03 ? 60_000 : 3_000;
    const text = `${this.id}-${this.#writes}-`.padEnd(Math.floor(this.#random() * size), "x");
    const content = { number: Math.floor(this.#random() * 1_000), text };
    const path = collectionPath(kind);
    const object = loadObject(kind, name, content);
    if (confirmed === undefined) {
      return this.#random() < 0.3 ? applied(path, name, object, content) : { request: { method: "POST", path, body: object }, content };
    }
    if (this.#random() < 0.15) return { request: { method: "DELETE", path: `${path}/${name}` }, content: undefined };
    return this.#change({ kind, name, confirmed, content, object });
  }

  #change(change: { kind: LoadKind; name: string; confirmed: JsonObject; content: LoadContent; object: JsonObject }): Move {
    const { kind, name, confirmed, content, object } = change;
    const path = collectionPath(kind);
    const at = `${path}/${name}`;
    const fields = contentFields(kind, name, content);
    const { managedFields: _, ...metadata } = fieldAt(confirmed, "metadata") as JsonObject;
    const updated = { ...confirmed, ...fields, metadata: { ...metadata, ...fields.metadata } } as Json;
    const pick = this.#random();
    if (pick < 0.25) return { request: { method: "PUT", path: at, body: updated }, content };
    if (pick < 0.5) return { request: { method: "PATCH", path: at, body: fields, type: "application/merge-patch+json" }, content };
    if (pick < 0.65)
      return { request: { method: "PATCH", path: at, body: fields, type: "application/strategic-merge-patch+json" }, content };
    if (pick < 0.8)
      return { request: { method: "PATCH", path: at, body: replacing(fields), type: "application/json-patch+json" }, content };
    return applied(path, name, object, content);
  }
}

function applied(path: string, name: string, object: JsonObject, content: LoadContent): Move {
  const request = {
    method: "PATCH",
    path: `${path}/${name}?fieldManager=load&force=true`,
    body: object,
    type: "application/apply-patch+yaml",
  };
  return { request, content };
}

function replacing(fields: JsonObject & { metadata: JsonObject }): Json {
  const { metadata, ...rest } = fields;
  const tops = Object.entries(rest).map(([name, value]) => ({ op: "replace", path: `/${name}`, value: value ?? null }));
  return [...tops, { op: "replace", path: "/metadata/annotations", value: metadata["annotations"] ?? null }];
}
