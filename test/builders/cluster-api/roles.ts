/** Names that are the same on every run. Machines are named by what made them; MachineSets are counted in the order of their creation. */
import type { StoryChapter, StoryObject } from "./recorder.ts";

const SET = /^c1-md-[a-z0-9]{5}$/;

export class StoryRoles {
  readonly #sets: readonly string[];

  constructor(chapters: readonly StoryChapter[]) {
    const sets = chapters.flatMap(({ events }) => events.map(({ object }) => object)).filter(({ kind }) => kind === "MachineSet");
    this.#sets = [...new Set(sets.map(({ metadata }) => metadata.name))];
  }

  of({ kind, metadata: { name } }: StoryObject): string {
    return `${kind} ${this.replaceNames(name)}`;
  }

  replaceNames(text: string): string {
    return text
      .replaceAll(/\bc1-md-([a-z0-9]{5})-[a-z0-9]{5}\b/g, (_, set: string) => `<worker of set ${this.#number(`c1-md-${set}`)}>`)
      .replaceAll(/\bc1-md-[a-z0-9]{5}\b/g, (name) => `<set ${this.#number(name)}>`)
      .replaceAll(/\bc1-cp-[a-z0-9]{5}\b/g, "<control-plane machine>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, "<time>")
      .replaceAll(/\b\d+-[a-z0-9]{5}\b/g, "<hash>")
      .replaceAll(/127\.0\.0\.\d+:\d+/g, "<endpoint>")
      .replaceAll(/host: 127\.0\.0\.\d+, port: \d+/g, "<endpoint>")
      .replaceAll(/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "<token>")
      .replaceAll(/sha256:[a-f0-9]{64}/g, "<digest>");
  }

  #number(name: string): string {
    const at = SET.test(name) ? this.#sets.indexOf(name) : -1;
    return at < 0 ? "?" : String(at + 1);
  }
}
