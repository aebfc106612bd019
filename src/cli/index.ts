export type { CliIo, ExitCode } from "./io.ts";
export { runLattice } from "./program.ts";
export { plainText } from "./terminal/styled-text.ts";
export { openWatchBoard } from "./up/open-watch-board.ts";
export type { BoardOptions, WatchBoard } from "./up/watch-board.ts";
