/** Something that a conversion changed or could not convert: one sentence with its field. */
import type { FieldStep } from "#kube";
import { pathText } from "../score/schema.ts";

/** One sentence about a field of a Compose file. */
export type ComposeNotice = {
  /** warning: something is lost or has to be done by hand. note: something to know. */
  readonly severity: "warning" | "note";
  /** `services.web.ports[0]`. */
  readonly path: string;
  readonly steps: readonly FieldStep[];
  readonly message: string;
};

/** Collects notices below one field. */
export class Notices {
  readonly #all: ComposeNotice[];
  readonly #steps: readonly FieldStep[];

  constructor(all: ComposeNotice[], steps: readonly FieldStep[]) {
    this.#all = all;
    this.#steps = steps;
  }

  at(...steps: readonly FieldStep[]): Notices {
    return new Notices(this.#all, [...this.#steps, ...steps]);
  }

  warn(message: string): undefined {
    this.#add("warning", message);
  }

  note(message: string): undefined {
    this.#add("note", message);
  }

  #add(severity: ComposeNotice["severity"], message: string): void {
    this.#all.push({ severity, path: pathText(this.#steps), steps: this.#steps, message });
  }
}
