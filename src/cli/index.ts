export type { CliIo, ExitCode } from "./io.ts";
export { runLattice } from "./program.ts";
export { WatchBoard, type BoardOptions } from "./up/watch-board.ts";
