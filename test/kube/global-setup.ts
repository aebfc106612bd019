/** Starts the plane that all story files share, and stops it after the last one. */
import type { TestProject } from "vitest/node";
import { realPlane } from "./harness/real-plane.ts";

/** `LATTICE_KUBE_LOGS`: a folder that keeps the logs of the components after the run, for CI. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const plane = await realPlane({ logs: process.env["LATTICE_KUBE_LOGS"] });
  project.provide("kubePlane", plane.data);
  return () => plane.stop();
}
