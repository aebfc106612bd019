/**
 * A service or external service whose spec cannot be understood, as the world keeps it: it has its place and its name, and declares nothing. So
 * its neighbours close their edges to it, and no other service gets its name.
 */
import type { LatticeExternalService, LatticeService } from "#crds";
import { fieldAt, type KubeObject } from "#kube";

const API_VERSION = "lattice.dev/v1alpha1";

export type InvalidKind = (LatticeService | LatticeExternalService)["kind"];

export function closedForm(kind: InvalidKind, object: KubeObject): LatticeService | LatticeExternalService {
  const { name, namespace, creationTimestamp } = object.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
  const written = fieldAt(object, "spec", "environment");
  const environment = typeof written === "string" ? { environment: written } : {};
  return kind === "LatticeService"
    ? { apiVersion: API_VERSION, kind, metadata, spec: environment }
    : { apiVersion: API_VERSION, kind, metadata, spec: { ...environment, endpoints: {}, allowedRequesters: [], resolution: "dns" } };
}
