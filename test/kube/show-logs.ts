/** When a story fails, what the components of the shared plane logged last: once a file, because one cause fails many. */
import { afterEach } from "vitest";
import { sharedPlane } from "./harness/shared-plane.ts";

let shown = false;

afterEach(({ task }) => {
  if (shown || task.result?.state !== "fail") return;
  shown = true;
  console.error(sharedPlane().logTail());
});
