/** What is wrong with a Score file. `unsupported`: it is legal Score, and Lattice cannot do it. */
export type ScoreError = {
  readonly kind: "invalid" | "unsupported";
  /** In Score's terms: `containers.main.files["/etc/app.yaml"].source`. */
  readonly path: string;
  readonly message: string;
};
