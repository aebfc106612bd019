export type { SupervisorChannel } from "#fleet";
export type { CliIo, ExitCode, RepeatHandler, StopSignalName } from "./io.ts";
export { createProgram, runLattice } from "./program.ts";
export { plainText } from "./styled-text.ts";
export { openWatchBoard } from "./up/open-watch-board.ts";
export type { BoardOptions, WatchBoard } from "./up/watch-board.ts";
export { visibleIo } from "./visible-text.ts";
