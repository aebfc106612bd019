/** A full collection of this process, without a flag at its start. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // what finalizers release goes with the second one
  collect();
  collect();
}
