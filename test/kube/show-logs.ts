/** Prints the last log lines of the shared plane's components when a story fails: once per file, because one cause fails many stories. */
import { afterEach } from "vitest";
import { sharedPlane } from "./harness/shared-plane.ts";

let shown = false;

afterEach(({ task }) => {
  if (shown || task.result?.state !== "fail") return;
  shown = true;
  console.error(sharedPlane().logTail());
});
