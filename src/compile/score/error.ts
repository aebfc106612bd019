/** An error of a Score file. `unsupported`: legal Score that Lattice does not support. */
export type ScoreError = {
  readonly kind: "invalid" | "unsupported";
  /** Path in the Score file: `containers.main.files["/etc/app.yaml"].source`. */
  readonly path: string;
  readonly message: string;
};
