/**
 * The form in which the world keeps a service or external service whose spec is invalid: it keeps its namespace and name, and declares nothing. So
 * the edges of its neighbours to it are closed, and no other service gets its name.
 */
import type { LatticeExternalService, LatticeService } from "#crds";
import { field, fieldAt, parseNamespace, type KubeObject } from "#kube";

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
    ? { apiVersion: API_VERSION, kind, metadata, spec: { ...environment, ...workloadRefIn(object) } }
    : { apiVersion: API_VERSION, kind, metadata, spec: { ...environment, endpoints: {}, allowedRequesters: [], resolution: "dns" } };
}

/** The Deployment stays claimed, so that its patch is not reverted because of a mistake elsewhere in the spec. */
function workloadRefIn(object: KubeObject): Pick<LatticeService["spec"], "workloadRef"> {
  const ref = fieldAt(object, "spec", "workloadRef");
  const [name, namespace] = [field(ref, "name"), field(ref, "namespace")];
  const parsed = typeof namespace === "string" ? parseNamespace(namespace) : undefined;
  return typeof name !== "string" || parsed?.ok !== true ? {} : { workloadRef: { kind: "Deployment", name, namespace: parsed.value } };
}
