/** Another client: creates, resizes, marks, deletes and recreates things, and remembers the expected state of each. */
import { expectOk } from "#base";
import { defineResource, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";

export type Thing = KubeObject & { readonly spec: { readonly size: number }; readonly status?: { readonly observed?: number } };

export const things = defineResource<Thing>({ group: "example.org", version: "v1", kind: "Thing", plural: "things", namespaced: true });
/** Written by the operator: the size that it has reconciled. */
export const SIZE = "example.org/size";
/** Written by the editor: how often it has marked the thing. Must survive every write of the operator. */
const MARK = "example.org/mark";

type Wanted = { readonly size: number; readonly mark: number };

export class Editor {
  readonly #client: KubeClient;
  readonly #random: () => number;
  readonly #objects: number;
  readonly #wanted = new Map<string, Wanted>();
  #edited: Promise<void> = Promise.resolve();

  constructor(client: KubeClient, random: () => number, objects: number) {
    this.#client = client;
    this.#random = random;
    this.#objects = objects;
  }

  async createAll(): Promise<void> {
    for (let at = 0; at < this.#objects; at += 1) await this.#create(`thing-${at}`);
  }

  /** Edits run one after the other, so that the last one wins. */
  edit(): Promise<void> {
    this.#edited = this.#edited.then(() => this.#editNow());
    return this.#edited;
  }

  async #editNow(): Promise<void> {
    const name = `thing-${Math.floor(this.#random() * this.#objects)}`;
    const wanted = this.#wanted.get(name);
    const dice = this.#random();
    if (wanted === undefined) await this.#create(name);
    else if (dice < 0.1) await this.#remove(name);
    else if (dice < 0.5) await this.#change(name, { ...wanted, size: this.#size() });
    else await this.#change(name, { ...wanted, mark: wanted.mark + 1 });
  }

  /** Differences between the server's objects and the expected results of the editor and the operator. */
  problems(found: readonly Thing[]): readonly string[] {
    const missing = found.length === this.#wanted.size ? [] : [`${found.length} things on the server, ${this.#wanted.size} wanted`];
    return [...missing, ...found.flatMap((thing) => this.#problemsOf(thing))];
  }

  #problemsOf({ metadata, spec, status }: Thing): readonly string[] {
    const wanted = this.#wanted.get(metadata.name);
    const { [SIZE]: size, [MARK]: mark } = metadata.annotations ?? {};
    const seen = [spec.size, mark, size, status?.observed].join();
    const right = wanted === undefined ? "absent" : [wanted.size, wanted.mark, wanted.size, wanted.size].join();
    return seen === right ? [] : [`${metadata.name} has size, mark, annotation, status ${seen} instead of ${right}`];
  }

  async #create(name: string): Promise<void> {
    const wanted = { size: this.#size(), mark: 0 };
    const { metadata, spec } = fieldsOf(wanted);
    const object = { apiVersion: "example.org/v1", kind: "Thing", metadata: { ...metadata, name, namespace: "shop" }, spec };
    expectOk(await this.#client.create(things, object));
    this.#wanted.set(name, wanted);
  }

  async #change(name: string, wanted: Wanted): Promise<void> {
    expectOk(await this.#client.patch(things, { namespace: "shop", name }, { type: "merge", patch: fieldsOf(wanted) }));
    this.#wanted.set(name, wanted);
  }

  async #remove(name: string): Promise<void> {
    expectOk(await this.#client.delete(things, { namespace: "shop", name }));
    this.#wanted.delete(name);
  }

  #size(): number {
    return Math.floor(this.#random() * 1_000);
  }
}

function fieldsOf({ size, mark }: Wanted) {
  const labels = { parity: size % 2 === 0 ? "even" : "odd" };
  return { metadata: { labels, annotations: { [MARK]: String(mark) } }, spec: { size } };
}
