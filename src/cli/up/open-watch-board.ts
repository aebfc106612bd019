/** Imports the board on demand, so that other commands do not load informers and compilers. */
import type { BoardOptions, WatchBoard } from "./watch-board.ts";

export async function openWatchBoard(options: BoardOptions): Promise<WatchBoard> {
  const { WatchBoard: Board } = await import("./watch-board.ts");
  return new Board(options);
}
