/**
 * Splits the body of a watch into lines of JSON, whatever its chunks are.
 *
 * Linear time: a chunk is searched for line ends once and joined with others once. A chunk may end within a character; a line is decoded
 * only when it is complete (no byte of a multi-byte UTF-8 character is a line feed).
 */
import { err, map, ok, type Result } from "#base";
import { decodeJson, decodeObject, decodeUtf8 } from "./decode.ts";
import { errorOfResponse, failure, type KubeError } from "./errors.ts";
import { field, fieldAt, isStatus, type Json, type KubeObject, type Resource } from "#kube";
import type { WatchEvent } from "./ports.ts";

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes = MAX_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. */
  *push(piece: Uint8Array): Generator<Result<string, KubeError>, void> {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      const line = this.#take(piece.subarray(start, end));
      start = end + 1;
      if (!line.ok || line.value.trim() !== "") yield line;
      if (!line.ok) return;
    }
    if (!this.#keep(piece.subarray(start))) yield this.#tooLong();
  }

  /** A body that ends within a line is incomplete. */
  end(): Result<void, KubeError> {
    const rest = decodeUtf8(this.#pieces);
    return rest.ok && rest.value.trim() === "" ? ok(undefined) : failure("protocol", "the watch ended in the middle of an event");
  }

  #take(last: Uint8Array): Result<string, KubeError> {
    if (!this.#keep(last)) return this.#tooLong();
    const line = decodeUtf8(this.#pieces);
    this.#pieces = [];
    this.#size = 0;
    return line;
  }

  #keep(piece: Uint8Array): boolean {
    this.#size += piece.byteLength;
    if (piece.byteLength > 0) this.#pieces.push(piece);
    return this.#size <= this.#maxBytes;
  }

  #tooLong(): Result<string, KubeError> {
    return failure("protocol", `the API server sent an event larger than ${this.#maxBytes} bytes`);
  }
}

export function decodeEvent<T extends KubeObject>(resource: Resource<T>, line: string): Result<WatchEvent<T>, KubeError> {
  const parsed = decodeJson(line);
  if (!parsed.ok) return parsed;
  const type = field(parsed.value, "type");
  const object = field(parsed.value, "object");
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") {
    return map(decodeObject(resource, object), (decoded) => ({ type, object: decoded }));
  }
  if (type === "BOOKMARK") return decodeBookmark(object);
  if (type === "ERROR") return err(errorOfEvent(object));
  return failure("protocol", "the API server sent a watch event of an unknown type");
}

function decodeBookmark(object: Json | undefined): Result<{ type: "BOOKMARK"; resourceVersion: string }, KubeError> {
  const resourceVersion = fieldAt(object, "metadata", "resourceVersion");
  if (typeof resourceVersion !== "string") return failure("protocol", "the API server sent a bookmark without a resourceVersion");
  return ok({ type: "BOOKMARK", resourceVersion });
}

/** A watch sends 410 as an event, within a response of 200. */
function errorOfEvent(object: Json | undefined): KubeError {
  return errorOfResponse(isStatus(object) ? (object.code ?? 500) : 500, object, undefined);
}
