/**
 * Compares a body with its declared length. A body that is longer would be read as the next message of its connection, a shorter one would make
 * the reader wait for it.
 */
export class BodyLength {
  readonly #declared: number | undefined;
  #received = 0;

  /** Undefined: any length. */
  constructor(declared: number | undefined) {
    this.#declared = declared;
  }

  /** False: the body is too long, and the bytes must not be forwarded. */
  add(bytes: number): boolean {
    this.#received += bytes;
    return this.#declared === undefined || this.#received <= this.#declared;
  }

  isComplete(): boolean {
    return this.#declared === undefined || this.#received === this.#declared;
  }
}
