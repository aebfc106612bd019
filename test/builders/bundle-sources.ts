/** The components of docs/guides/bundle as sources of a bundle. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ComponentSource } from "#bundle";

const FILES = {
  "cluster-api": "core-components",
  "bootstrap-kubeadm": "bootstrap-components",
  "control-plane-kubeadm": "control-plane-components",
  "infrastructure-docker": "infrastructure-components",
  cilium: "cilium",
} as const;

export function bundleSources(): ComponentSource[] {
  return Object.entries(FILES).map(([name, file]) => {
    const path = `docs/guides/bundle/${file}.yaml`;
    return { name, version: "v1.0.0", files: [{ path, text: readFileSync(join(import.meta.dirname, "../..", path), "utf8") }] };
  });
}
