/** The order in which the objects of a chapter are gone: kinds and roles by their last object. The garbage collector's part has no order. */
import type { StoryRoles } from "./roles.ts";
import type { StoryEvent } from "./recorder.ts";

const COLLECTED: ReadonlySet<string> = new Set(["Secret", "DevMachineTemplate", "KubeadmConfigTemplate", "MachineHealthCheck"]);

export function goneOrder(events: readonly StoryEvent[], roles: StoryRoles): readonly string[] {
  const gone = events.filter(({ type, object }) => type === "DELETED" && !COLLECTED.has(object.kind)).map(({ object }) => roles.of(object));
  return gone.filter((role, at) => gone.lastIndexOf(role) === at);
}
