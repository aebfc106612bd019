/**
 * KubeadmConfigs: the bootstrap data of one machine. The first control-plane machine gets `kubeadm init`; the others and the workers get
 * `kubeadm join`, once the control plane is initialized.
 */
import { ok, type Result } from "#base";
import { capiMachines, isBeingDeleted, keyOf, kubeadmConfigs, secrets, type Json, type JsonObject, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { again, done, passOf, retry, worstPass, type Pass } from "../../work.ts";
import { resolveController } from "../../workloads/pods/owners.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, notPaused, unknown, yes, type ConditionDraft } from "../conditions.ts";
import { summarize } from "../merge-conditions.ts";
import { CAPI_SECRET_TYPE, CLUSTER_LABEL } from "../names.ts";
import {
  byAge,
  flagAt,
  hasInfrastructure,
  isControlPlane,
  isInitialized,
  isLive,
  listAt,
  numberAt,
  objectAt,
  ownerReference,
  statusOf,
  textAt,
  textsAt,
  type CapiObject,
} from "../objects.ts";
import { secretObject, secretText } from "../secret-data.ts";
import { createOnce, patchObject, writeStatus } from "../writes.ts";
import { formatCloudConfig, initCommand, joinCommand, type CloudFile } from "./cloud-config.ts";
import { createJoinToken, discoveryOf } from "./join-token.ts";
import { certificateFiles, initFile, joinFile, type ClusterSecrets } from "./kubeadm-files.ts";
import { cloudUsers, userFiles } from "./user-files.ts";

const RETRY_MS = 2_000;
const PURPOSES = ["ca", "etcd", "proxy", "sa"];

/** Why there is no bootstrap data yet; `pass` is when to look again. */
type Waiting = { readonly message: string; readonly pass: Pass };
const waitFor = (message: string, pass: Pass = done): Waiting => ({ message, pass });
type Outcome = Result<CapiObject | Waiting, KubeError>;

export async function kubeadmConfigPass(work: CapiWork, config: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  const machine = resolveController(work.caches.of("machines"), capiMachines, config);
  if (cluster === undefined || machine === undefined || isBeingDeleted(config)) return done;
  // a moved object has lost its status, and its machine already uses the data
  const isUsed = textAt(machine, "spec", "bootstrap", "dataSecretName") !== undefined;
  if (isUsed || flagAt(config, "status", "initialization", "dataSecretCreated")) return writeReady(work, config);
  const made = await bootstrapData(work, { config, cluster, machine });
  if (!made.ok) return passOf(made);
  if (!("message" in made.value)) return writeReady(work, made.value);
  return worstPass([
    made.value.pass,
    passOf(await writeStatus(work.client, kubeadmConfigs, config, statusWith(work, config, made.value.message))),
  ]);
}

type Target = { readonly config: CapiObject; readonly cluster: CapiObject; readonly machine: CapiObject };

async function bootstrapData(work: CapiWork, target: Target): Promise<Outcome> {
  const { cluster, machine } = target;
  if (!hasInfrastructure(cluster)) return ok(waitFor("Waiting for Cluster status.infrastructureReady to be true"));
  if (!isInitialized(cluster) && !isFirst(work, machine, cluster))
    return ok(waitFor("Waiting for Cluster control plane to be initialized"));
  const authorities = await readAuthorities(work, cluster);
  if (authorities.size < PURPOSES.length) return ok(waitFor("Waiting for certificates of the control plane", retry));
  const filled = isInitialized(cluster) ? await fillJoin(work, target, authorities) : await fillInit(work, target);
  if (!filled.ok || "message" in filled.value) return filled;
  return storeData(work, { ...target, config: filled.value }, authorities);
}

/** The oldest control-plane machine initializes the cluster: the same one after every restart. */
function isFirst(work: CapiWork, machine: CapiObject, cluster: CapiObject): boolean {
  const machines = work.caches.inCluster("machines", keyOf(cluster)).filter((one) => isControlPlane(one) && isLive(one));
  return isControlPlane(machine) && [...machines].toSorted(byAge)[0]?.metadata.name === machine.metadata.name;
}

async function readAuthorities(work: CapiWork, cluster: CapiObject): Promise<ClusterSecrets> {
  const found = new Map<string, KubeObject>();
  for (const purpose of PURPOSES) {
    const read = await work.client.get(secrets, { namespace: cluster.metadata.namespace, name: `${cluster.metadata.name}-${purpose}` });
    if (read.ok) found.set(purpose, read.value);
  }
  return found;
}

async function fillInit(work: CapiWork, { config, cluster }: Target): Promise<Outcome> {
  if (textAt(config, "spec", "clusterConfiguration", "controlPlaneEndpoint") !== undefined) return ok(config);
  const host = textAt(cluster, "spec", "controlPlaneEndpoint", "host");
  if (host === undefined) return ok(config);
  const controlPlaneEndpoint = `${host}:${numberAt(cluster, "spec", "controlPlaneEndpoint", "port") ?? 6443}`;
  return patchObject(work.client, kubeadmConfigs, config, { spec: { clusterConfiguration: { controlPlaneEndpoint } } });
}

async function fillJoin(work: CapiWork, { config, cluster }: Target, authorities: ClusterSecrets): Promise<Outcome> {
  if (textAt(config, "spec", "joinConfiguration", "discovery", "bootstrapToken", "token") !== undefined) return ok(config);
  const token = await createJoinToken(work, cluster);
  if (token === undefined) return ok(waitFor("Waiting for a connection to the control plane of the Cluster", again(RETRY_MS)));
  if (!token.ok) return ok(waitFor("Failed to create a bootstrap token in the workload cluster", again(RETRY_MS)));
  const authority = authorities.get("ca");
  const discovery = discoveryOf(cluster, token.value, authority === undefined ? undefined : secretText(authority, "tls.crt"));
  return patchObject(work.client, kubeadmConfigs, config, { spec: { joinConfiguration: { discovery } } });
}

async function storeData(work: CapiWork, { config, cluster, machine }: Target, authorities: ClusterSecrets): Promise<Outcome> {
  const files = await userFiles(work, config);
  if (!files.ok) return ok(waitFor(`Failed to prepare spec.files: ${files.error}`, retry));
  const users = await cloudUsers(work, config);
  if (!users.ok) return ok(waitFor("Failed to read password from secrets for spec.users", retry));
  const value = dataOf({ config, cluster, machine }, { authorities, files: files.value, users: users.value });
  const { name, namespace } = config.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [CLUSTER_LABEL]: cluster.metadata.name },
    ownerReferences: [{ ...ownerReference(config), controller: true }],
  };
  const created = await createOnce(
    work.client,
    secrets,
    secretObject({ metadata, type: CAPI_SECRET_TYPE, data: { value, format: "cloud-config" } }),
  );
  return created.ok ? ok(config) : created;
}

type DataParts = { readonly authorities: ClusterSecrets; readonly files: readonly CloudFile[]; readonly users: readonly Json[] };

function dataOf({ config, cluster, machine }: Target, { authorities, files, users }: DataParts): string {
  const isInit = !isInitialized(cluster);
  const verbosity = numberAt(config, "spec", "verbosity");
  const flags = verbosity === undefined ? "" : `--v ${verbosity}`;
  const ntp = objectAt(config, "spec", "ntp");
  return formatCloudConfig({
    files: [
      ...(isControlPlane(machine) ? certificateFiles(authorities) : []),
      ...files,
      isInit ? initFile(cluster, machine, config) : joinFile(config),
    ],
    bootCommands: textsAt(config, "spec", "bootCommands"),
    commands: [
      ...textsAt(config, "spec", "preKubeadmCommands"),
      isInit ? initCommand(flags) : joinCommand(flags),
      ...textsAt(config, "spec", "postKubeadmCommands"),
    ],
    users,
    ntp: Object.keys(ntp).length === 0 ? {} : { enabled: flagAt(ntp, "enabled"), servers: listAt(ntp, "servers") },
    mounts: listAt(config, "spec", "mounts"),
  });
}

function writeReady(work: CapiWork, config: CapiObject): Promise<Pass> {
  return writeStatus(work.client, kubeadmConfigs, config, statusWith(work, config, undefined)).then(passOf);
}

/** `waiting`: why there is no data; absent: there is. */
function statusWith(work: CapiWork, config: CapiObject, waiting: string | undefined): JsonObject {
  const isAvailable = waiting === undefined;
  const certificates: ConditionDraft = isAvailable
    ? yes("CertificatesAvailable", "Available")
    : unknown("CertificatesAvailable", "NotYetReported", "Condition not yet reported");
  const data = isAvailable ? yes("DataSecretAvailable", "Available") : no("DataSecretAvailable", "NotAvailable", waiting);
  const parts = isAvailable ? [certificates, data] : [data];
  const reasons = { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" };
  const ready = summarize({ type: "Ready", conditions: [data, certificates], reasons });
  const drafts = [ready, ...parts, notPaused];
  return {
    ...statusOf(config),
    observedGeneration: config.metadata.generation ?? 0,
    ...(isAvailable ? { dataSecretName: config.metadata.name, initialization: { dataSecretCreated: true } } : {}),
    conditions: conditionsWith(config, drafts, nowOf(work)),
  };
}
