/** A directory in memory, and one whose process dies at a write. */
import { err, ok } from "#base";
import type { ExportFolder } from "./export-folder.ts";
import type { MortalProcess } from "../../../test/builders/mortal-process.ts";

export class MemoryFolder {
  readonly files = new Map<string, string>();

  folder(process?: MortalProcess): ExportFolder {
    const change = (make: () => void) => {
      const sent = process?.countWrite() ?? "sent";
      if (sent === "dead") return err("killed");
      make();
      return sent === "sent" ? ok(undefined) : err("killed");
    };
    return {
      list: () => ok(this.files.size === 0 ? undefined : [...this.files].map(([name, text]) => ({ name, bytes: Buffer.byteLength(text) }))),
      read: (name) => ok(Buffer.from(this.files.get(name) ?? "")),
      write: (name, text) => change(() => this.files.set(name, text)),
      create: (name, text) => {
        const isNew = !this.files.has(name);
        const changed = change(() => void (isNew && this.files.set(name, text)));
        return changed.ok ? ok(isNew) : changed;
      },
      remove: (name) => change(() => this.files.delete(name)),
    };
  }
}
