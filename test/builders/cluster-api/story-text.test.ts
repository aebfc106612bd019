import { expect, test } from "vitest";
import type { StoryEvent, StoryObject } from "./recorder.ts";
import { storyText } from "./story-text.ts";

let version = 0;
const machine = (name: string, status: object, rest: object = {}): StoryObject => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: { name, uid: name, resourceVersion: String((version += 1)), ...rest },
  status: { ...status },
});
const changed = (object: StoryObject): StoryEvent => ({ type: "MODIFIED", object });
const ready = (...values: readonly string[]) =>
  values.map((value) =>
    changed(machine("c1-cp-aaaaa", { conditions: [{ type: "Updating", status: value.split(" ")[0], reason: value.split(" ")[1] }] })),
  );
const linesOf = (...events: readonly StoryEvent[]) => storyText([{ title: "t", events: [...events] }]).split("\n");

test("a sequence has each value once, in order, and ends with the last", () => {
  expect(linesOf(...ready("False A", "True B", "False A", "True B", "False A"))).toContain("  Updating: False A → True B → False A");
});

test("values that not every run shows are left out", () => {
  expect(linesOf(...ready("Unknown X", "True B"))).toContain("  Updating: True B");
});

test("objects of one role with the same history are shown once", () => {
  const two = ["c1-md-aaaaa-bbbbb", "c1-md-aaaaa-ccccc"].map((name) => changed(machine(name, { phase: "Running" })));
  expect(linesOf(...two)).toContain("Machine <worker of set ?> (2)");
});

test("numbers are shown at the beginning, at the highest, and at the end", () => {
  const counts = [2, 3, 2, 1].map((replicas) => changed(machine("c1-cp-aaaaa", { replicas, readyReplicas: replicas })));
  expect(linesOf(...counts)).toEqual(expect.arrayContaining(["  status.replicas: 2 → 3 → 1", "  status.readyReplicas: 2 → 1"]));
});

test("steps of different objects are in the order of their versions, whatever the order of the watches", () => {
  const first = machine("c1-cp-aaaaa", { phase: "Pending" }, { labels: { "cluster.x-k8s.io/control-plane": "" } });
  const second = machine("c1-md-aaaaa-bbbbb", { phase: "Provisioning" });
  const text = linesOf(changed(second), changed(first)).join("\n");
  expect(text).toContain("order:\n  Machine <control-plane machine> phase Pending\n  Machine <worker of set ?> phase Provisioning");
});

test("what is gone is listed in order, the last object of a role counting", () => {
  const gone = ["c1-md-aaaaa-bbbbb", "c1-cp-aaaaa", "c1-md-aaaaa-ccccc"].map((name): StoryEvent => ({
    type: "DELETED",
    object: machine(name, {}),
  }));
  expect(linesOf(...gone).join("\n")).toContain("gone:\n  Machine <control-plane machine>\n  Machine <worker of set ?>");
});

test("no name, time, address or token of a run is in the text", () => {
  const spec = { when: "2026-01-01T00:00:00Z", host: "127.0.0.1:4711", token: "abcdef.0123456789abcdef", set: "c1-md-aaaaa" };
  const text = storyText([{ title: "t", events: [changed({ ...machine("c1-cp-aaaaa", {}), spec })] }]);
  expect(text).toContain("spec.host: <endpoint>\n  spec.set: <set ?>\n  spec.token: <token>\n  spec.when: <time>");
});
