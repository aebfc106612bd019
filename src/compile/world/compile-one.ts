/** One service or external service compiled, with its policies. */
import { err, ok, type Result } from "#base";
import type { LatticeService } from "#crds";
import { keyText, type KubeObject } from "#kube";
import { serviceId, type ServiceId } from "#mesh-compiler";
import {
  compileService,
  grantsOf,
  podSecurityLabels,
  SHAREABLE_LABEL,
  shareableValues,
  sourceOf,
  widerLevel,
  type CompiledObject,
  type CompiledService,
  type DeploymentPatch,
} from "#service-compiler";
import type { WorkloadPatch } from "#workload-patch";
import type { ServiceError } from "../errors.ts";
import { routesOf } from "../mesh-node.ts";
import type { PatchTarget } from "../patch-target.ts";
import { inputFor, furtherErrors } from "./input.ts";
import { targetFor } from "./patch-identity.ts";
import { isInvalidResource, heldId, placeOf, type WorldState, type ServiceKey } from "./state.ts";
import { takenNames } from "./taken-names.ts";

/** One service compiled, with its policies. */
export type CompiledApplication = Omit<CompiledService, "objects" | "patch"> & {
  readonly id: ServiceId;
  /** Workload, then policies, in apply order. */
  readonly objects: readonly CompiledObject[];
  /** In patch mode: the Deployment that is patched, and how. */
  readonly target?: PatchTarget | undefined;
  readonly workloadPatch?: WorkloadPatch | undefined;
};

/**
 * Returns all errors of a service. A service that may not have its target namespace has only that error: other errors would disclose to its author
 * information about Secrets and objects of another namespace. `misplaced: "check"` lists them too, for authors who have all the files.
 */
export function compileInWorld(
  state: WorldState,
  key: ServiceKey,
  { misplaced }: { readonly misplaced?: "check" } = {},
): Result<CompiledApplication, readonly ServiceError[]> {
  const service = state.services.get(key);
  if (service === undefined || isInvalidResource(state, { kind: "LatticeService", key })) return err([]);
  const placed = placeOf(state, service);
  if (!placed.ok) return err([placed.error, ...(misplaced === "check" ? furtherErrors(state, service) : [])]);
  const id = serviceId(placed.value.namespace, service.metadata.name);
  const taken = takenNames(state, { kind: "LatticeService", key }, id);
  const target = targetFor(state, service, placed.value);
  const refused = target?.ok === false ? [...taken, target.error] : taken;
  const compiled = compileService(inputFor(state, service, placed.value));
  if (!compiled.ok) return err([...refused, ...compiled.error]);
  if (refused.length > 0) return err(refused);
  const policies = state.mesh.policiesOf(id).map((object) => ({ object }));
  const { patch, ...application } = compiled.value;
  const patched = target?.ok === true && patch !== undefined ? workloadPatchOf(service, target.value, patch) : {};
  return ok({ ...application, id, objects: [...application.objects, ...policies], ...patched });
}

/**
 * The policies and HTTPRoutes of a service, from declarations alone. They are compiled whether or not the workload
 * compiles; empty for a service that does not hold its target name.
 */
export function accessIn(state: WorldState, key: ServiceKey): readonly KubeObject[] {
  const id = heldId(state, { kind: "LatticeService", key });
  const service = state.services.get(key);
  const placed = service === undefined ? undefined : placeOf(state, service);
  if (id === undefined || service === undefined || placed?.ok !== true) return [];
  return [...state.mesh.policiesOf(id), ...routesOf(inputFor(state, service, placed.value))];
}

/** ServiceEntries of an external service. */
export function compileExternalInWorld(state: WorldState, key: ServiceKey): Result<readonly KubeObject[], readonly ServiceError[]> {
  const external = state.externals.get(key);
  if (external === undefined || isInvalidResource(state, { kind: "LatticeExternalService", key })) return err([]);
  const placed = placeOf(state, external);
  if (!placed.ok) return err([placed.error]);
  const id = serviceId(placed.value.namespace, external.metadata.name);
  const taken = takenNames(state, { kind: "LatticeExternalService", key }, id);
  return taken.length === 0 ? ok(state.mesh.policiesOf(id)) : err(taken);
}

/** Istio's waypoint pods have no seccomp profile, which `restricted` requires, so a wider level is enforced; services are still checked for their level. */
export function podSecurityOf(state: WorldState, namespace: string): Readonly<Record<string, string>> {
  const level = grantsOf(state.environmentOf.get(namespace)).podSecurity;
  return podSecurityLabels(level, state.mesh.hasWaypoint(namespace) ? widerLevel(level, "baseline") : level);
}

function workloadPatchOf(
  service: LatticeService,
  target: PatchTarget,
  patch: DeploymentPatch,
): Pick<CompiledApplication, "target" | "workloadPatch"> {
  const { namespace, name } = target;
  const source = sourceOf(service);
  // the owner of a Deployment of another namespace allows it with the label
  const consent = source === namespace ? {} : { consent: { label: SHAREABLE_LABEL, values: shareableValues(source) } };
  return { target, workloadPatch: { version: 1, service: keyText(service.metadata), target: { namespace, name }, ...consent, ...patch } };
}
