/** Quota usage of PersistentVolumeClaims: their number and storage, in total and per storage class. */
import { fieldAt } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Quantity } from "../quantities.ts";
import { amountOf, readAmounts, type Amount, type Amounts } from "./amounts.ts";
import { countName, noRefusal, selectsValue, type QuotaEvaluator, type QuotaScope } from "./evaluator.ts";

const COUNT = countName("", "persistentvolumeclaims");
const PER_CLASS = ".storageclass.storage.k8s.io/";
const OWN = ["persistentvolumeclaims", "requests.storage"] as const;

export const volumeClaimQuota: QuotaEvaluator = {
  group: "",
  plural: "persistentvolumeclaims",
  tracks: (name) => name === COUNT || OWN.some((own) => name === own || name.endsWith(`${PER_CLASS}${own}`)),
  inScope: claimInScope,
  usage: claimUsage,
  refusal: noRefusal,
};

function claimUsage(claim: KubeObject): Amounts {
  const storage = storageOf(claim);
  const usage = new Map<string, Amount>([
    ["persistentvolumeclaims", amountOf(1)],
    [COUNT, amountOf(1)],
  ]);
  const storageClass = storageClassOf(claim);
  if (storageClass !== "") usage.set(`${storageClass}${PER_CLASS}persistentvolumeclaims`, amountOf(1));
  if (storage === undefined) return usage;
  usage.set("requests.storage", storage);
  return storageClass === "" ? usage : usage.set(`${storageClass}${PER_CLASS}requests.storage`, storage);
}

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

function storageClassOf(claim: KubeObject): string {
  const old = fieldAt(claim, "metadata", "annotations", CLASS_ANNOTATION);
  if (typeof old === "string") return old;
  const name = fieldAt(claim, "spec", "storageClassName");
  return typeof name === "string" ? name : "";
}

/** Rounded up to bytes, and at least the allocated storage: a failed expansion still counts. */
function storageOf(claim: KubeObject): Amount | undefined {
  const wanted = readAmounts(fieldAt(claim, "spec", "resources", "requests")).get("storage");
  if (wanted === undefined) return undefined;
  const given = allocatedStorage(claim);
  const rounded = wholeBytes(wanted);
  return given !== undefined && given.quantity > rounded.quantity ? wholeBytes(given) : rounded;
}

function allocatedStorage(claim: unknown): Amount | undefined {
  return readAmounts(fieldAt(claim, "status", "allocatedResources")).get("storage");
}

const BYTE = 1_000_000_000n;

function wholeBytes(amount: Amount): Amount {
  const bytes = (amount.quantity + BYTE - 1n) / BYTE;
  return { ...amount, quantity: (bytes * BYTE) as Quantity };
}

function claimInScope(scope: QuotaScope, claim: KubeObject): boolean {
  if (scope.name !== "VolumeAttributesClass") return false;
  const names = attributeClassesOf(claim);
  return names.length === 0 ? selectsValue(scope, undefined) : names.some((name) => selectsValue(scope, name));
}

/** The current, the requested and the target VolumeAttributesClass. */
function attributeClassesOf(claim: unknown): readonly string[] {
  const names = [
    fieldAt(claim, "spec", "volumeAttributesClassName"),
    fieldAt(claim, "status", "currentVolumeAttributesClassName"),
    fieldAt(claim, "status", "modifyVolumeStatus", "targetVolumeAttributesClassName"),
  ];
  const named = names.flatMap((name) => (typeof name === "string" && name !== "" ? [name] : []));
  return [...new Set(named)].toSorted();
}

/** Whether a change of the status changes the usage. */
export function claimUsageMoved(next: unknown, previous: unknown): boolean {
  if (allocatedStorage(next)?.quantity !== allocatedStorage(previous)?.quantity) return true;
  return attributeClassesOf(next).join() !== attributeClassesOf(previous).join();
}
