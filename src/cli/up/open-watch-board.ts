/** The board without its imports: whoever imports the program for another command does not load informers and compilers with it. */
import type { BoardOptions, WatchBoard } from "./watch-board.ts";

export async function openWatchBoard(options: BoardOptions): Promise<WatchBoard> {
  const { WatchBoard: Board } = await import("./watch-board.ts");
  return new Board(options);
}
