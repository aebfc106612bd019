export type { CliIo, ExitCode } from "./io.ts";
export { runLattice } from "./program.ts";
