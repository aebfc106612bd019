/** LocalMachines: run by the LocalMachineHost of this process. Without a host they stay pending, with the reason in their conditions. */
import { capiMachines, isBeingDeleted, localMachines, secrets, type JsonObject } from "#kube";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { resolveController } from "../../workloads/pods/owners.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, notPaused, yes } from "../conditions.ts";
import type { LocalMachineState } from "../local-machine-host.ts";
import { hasInfrastructure, isControlPlane, providerIdOf, statusOf, textAt, versionOf, type CapiObject } from "../objects.ts";
import { secretText } from "../secret-data.ts";
import { ensureMetadata, removeFinalizer, writeStatus } from "../writes.ts";

const FINALIZER = "localmachine.infrastructure.lattice.dev";
const RETRY_MS = 2_000;

type Readiness = { readonly reason: string; readonly message: string; readonly isReady?: boolean; readonly retryMs?: number };

export async function localMachinePass(work: CapiWork, object: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (isBeingDeleted(object)) return remove(work, object);
  const machine = resolveController(work.caches.of("machines"), capiMachines, object);
  if (cluster === undefined || machine === undefined) return done;
  const first = await ensureMetadata(work.client, localMachines, object, { finalizer: FINALIZER });
  if (!first.ok) return passOf(first);
  const readiness = await run(work, first.value, { machine, cluster });
  const { namespace = "", name } = object.metadata;
  const provided = readiness.isReady === true && providerIdOf(object) === undefined;
  const marked = await ensureMetadata(
    work.client,
    localMachines,
    first.value,
    provided ? { spec: { providerID: `local:///${namespace}/${name}` } } : {},
  );
  if (!marked.ok) return passOf(marked);
  const written = await writeStatus(work.client, localMachines, marked.value, statusWith(work, marked.value, readiness));
  return worstPass([passOf(written), readiness.retryMs === undefined ? done : again(readiness.retryMs)]);
}

type Target = { readonly machine: CapiObject; readonly cluster: CapiObject };

async function run(work: CapiWork, object: CapiObject, { machine, cluster }: Target): Promise<Readiness> {
  if (work.host === undefined) {
    return { reason: "NoLocalMachines", message: "This cluster runs no local machines: only clusters of a laptop fleet do" };
  }
  if (!hasInfrastructure(cluster)) return { reason: "WaitingForClusterInfrastructureReady", message: "" };
  const secretName = textAt(machine, "spec", "bootstrap", "dataSecretName");
  if (secretName === undefined) return { reason: "WaitingForBootstrapData", message: "" };
  const { uid = "", name, namespace = "" } = object.metadata;
  const known = work.host.states().get(uid);
  if (known?.phase === "running") return readinessOf(known);
  const secret = await work.client.get(secrets, { namespace, name: secretName });
  if (!secret.ok) return { reason: "WaitingForBootstrapData", message: "", retryMs: RETRY_MS };
  work.host.ensure({
    id: uid,
    name,
    namespace,
    cluster: cluster.metadata.name,
    controlPlane: isControlPlane(machine),
    version: versionOf(machine),
    bootstrapData: secretText(secret.value, "value") ?? "",
  });
  return readinessOf(work.host.states().get(uid));
}

function readinessOf(state: LocalMachineState | undefined): Readiness {
  const message = state?.message ?? "";
  if (state?.phase === "running") return { reason: "Ready", message: "", isReady: true };
  if (state?.phase === "failed")
    return { reason: "MachineFailed", message: message === "" ? "the bootstrap data of the machine failed" : message };
  return { reason: state?.phase === "stopped" ? "MachineStopped" : "MachineStarting", message };
}

function statusWith(work: CapiWork, object: CapiObject, { reason, message, isReady = false }: Readiness): JsonObject {
  const provisioned = isReady || providerIdOf(object) !== undefined;
  const ready = isReady ? yes("Ready", reason) : no("Ready", reason, message);
  return {
    ...statusOf(object),
    ...(provisioned ? { initialization: { provisioned: true }, addresses: [{ type: "InternalIP", address: "127.0.0.1" }] } : {}),
    conditions: conditionsWith(object, [ready, notPaused], nowOf(work)),
  };
}

/** The machine has stopped before its object goes. */
async function remove(work: CapiWork, object: CapiObject): Promise<Pass> {
  const { uid = "" } = object.metadata;
  const state = work.host?.states().get(uid);
  if (state !== undefined && state.phase !== "stopped") work.host?.remove(uid);
  const after = work.host?.states().get(uid);
  if (after !== undefined && after.phase !== "stopped") return again(RETRY_MS);
  return passOf(await removeFinalizer(work.client, localMachines, object, FINALIZER));
}
