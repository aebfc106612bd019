/**
 * The marker file identifies a folder of Lattice, and its layout. A folder without one is neither used nor deleted.
 *
 * Versions of Lattice before this layout have a marker without a number. They refuse a folder of this layout because of its other files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { writePrivateFile } from "#pki";
import { MARKER } from "./folder-names.ts";

const LAYOUT = 2;
const OLDER_TEXT = "This folder holds a local cluster of Lattice. `lattice down --purge` deletes it.\n";
const TEXT = "This folder holds local clusters of Lattice. `lattice down --purge` deletes it.\n";
const CONTENTS = ["empty", "laptop", "installed"] as const;
const DEFAULT_MANAGEMENT = "mgmt";
const MAX_LENGTH = 1_000;

/**
 * What a fleet was started with, and stays so: one cluster with services, clusters without services, the laptop fleet, or a management cluster that was
 * installed by itself.
 */
export type FleetFolderContent = "services" | (typeof CONTENTS)[number];

export type Marker = {
  readonly kind: "absent" | "older" | "current";
  readonly content: FleetFolderContent;
  /** Its kubeconfig is that of the folder. */
  readonly management: string;
};

/** An error for a folder that a newer version of Lattice wrote, and for a file that Lattice did not write. */
export function readMarker(path: string): Result<Marker, string> {
  const text = fromThrowing(() => readFileSync(join(path, MARKER), "utf8"), describeThrown);
  // an empty file: a power cut before its text was stored
  if (!text.ok || text.value === "") return ok({ kind: "absent", content: "services", management: DEFAULT_MANAGEMENT });
  if (text.value === OLDER_TEXT) return ok({ kind: "older", content: "services", management: DEFAULT_MANAGEMENT });
  const layout = text.value.length <= MAX_LENGTH ? /^layout: ([1-9][0-9]{0,3})$/m.exec(text.value)?.[1] : undefined;
  if (layout === undefined) return err(`${join(path, MARKER)} is not a marker file of Lattice; choose another folder`);
  if (Number(layout) > LAYOUT)
    return err(`${path} was written by a newer version of Lattice (layout ${layout}, this one has ${LAYOUT}); use that version`);
  const content =
    CONTENTS.find((one) =>
      text.value.includes(`content: ${one}
`),
    ) ?? "services";
  const management = /^management: ([a-z0-9-]{1,63})$/m.exec(text.value)?.[1] ?? DEFAULT_MANAGEMENT;
  return ok({ kind: "current", content, management });
}

/** Replaced at once, and only if it changes: other processes may read it. */
export function writeMarker(path: string, { content, management }: Pick<Marker, "content" | "management">): Result<void, string> {
  const file = join(path, MARKER);
  const text = `${TEXT}layout: ${LAYOUT}\n${linesOf({ content, management })}`;
  const known = fromThrowing(() => readFileSync(file, "utf8"), describeThrown);
  return known.ok && known.value === text ? ok(undefined) : writePrivateFile(file, text);
}

function linesOf({ content, management }: Pick<Marker, "content" | "management">): string {
  const named = management === DEFAULT_MANAGEMENT ? "" : `management: ${management}\n`;
  return `${content === "services" ? "" : `content: ${content}\n`}${named}`;
}
