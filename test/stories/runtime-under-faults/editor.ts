/** Somebody else: creates, resizes, marks, deletes and recreates things, and remembers what each must look like in the end. */
import { defineResource, type KubeObject } from "#kube";
import type { ScriptedApi } from "../../builders/scripted-api/index.ts";

export type Thing = KubeObject & { readonly spec: { readonly size: number }; readonly status?: { readonly observed?: number } };

export const things = defineResource<Thing>({ group: "example.org", version: "v1", kind: "Thing", plural: "things", namespaced: true });
/** Written by the operator: the size it has acted on. */
export const SIZE = "example.org/size";
/** Written by the editor: how often it has marked the thing. Must survive every write of the operator. */
const MARK = "example.org/mark";

type Wanted = { readonly size: number; readonly mark: number };

export class Editor {
  readonly #api: ScriptedApi;
  readonly #random: () => number;
  readonly #objects: number;
  readonly #wanted = new Map<string, Wanted>();

  constructor(api: ScriptedApi, random: () => number, objects: number) {
    this.#api = api;
    this.#random = random;
    this.#objects = objects;
  }

  createAll(): void {
    for (let at = 0; at < this.#objects; at += 1) this.#write(`thing-${at}`, { size: this.#size(), mark: 0 });
  }

  edit(): void {
    const name = `thing-${Math.floor(this.#random() * this.#objects)}`;
    const wanted = this.#wanted.get(name);
    const dice = this.#random();
    if (wanted === undefined) this.#write(name, { size: this.#size(), mark: 0 });
    else if (dice < 0.1) this.#remove(name);
    else if (dice < 0.5) this.#write(name, { ...wanted, size: this.#size() });
    else this.#write(name, { ...wanted, mark: wanted.mark + 1 });
  }

  /** Where the server's objects are not what the editor left and the operator should have made of it. */
  complaints(): readonly string[] {
    const found = this.#api.objects(things);
    const missing = found.length === this.#wanted.size ? [] : [`${found.length} things on the server, ${this.#wanted.size} wanted`];
    return [...missing, ...found.flatMap((thing) => this.#complaintsAbout(thing))];
  }

  #complaintsAbout({ metadata, spec, status }: Thing): readonly string[] {
    const wanted = this.#wanted.get(metadata.name);
    const { [SIZE]: size, [MARK]: mark } = metadata.annotations ?? {};
    const seen = [spec.size, mark, size, status?.observed].join();
    const right = wanted === undefined ? "absent" : [wanted.size, wanted.mark, wanted.size, wanted.size].join();
    return seen === right ? [] : [`${metadata.name} has size, mark, annotation, status ${seen} instead of ${right}`];
  }

  #write(name: string, wanted: Wanted): void {
    const current = this.#api.object(things, { namespace: "shop", name });
    const parity = wanted.size % 2 === 0 ? "even" : "odd";
    const annotations = { ...current?.metadata.annotations, [MARK]: String(wanted.mark) };
    const metadata = { ...current?.metadata, name, namespace: "shop", labels: { parity }, annotations };
    this.#api.put(things, { apiVersion: "example.org/v1", kind: "Thing", ...current, metadata, spec: { size: wanted.size } });
    this.#wanted.set(name, wanted);
  }

  #remove(name: string): void {
    this.#api.remove(things, { namespace: "shop", name });
    this.#wanted.delete(name);
  }

  #size(): number {
    return Math.floor(this.#random() * 1_000);
  }
}
