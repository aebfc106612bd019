/** A Pod's RuntimeClass must exist; the Pod's overhead and node selection come from it and cannot be set otherwise. */
import { ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { plainText } from "../../protocol/go-format.ts";
import type { Failure } from "../../protocol/status.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { withSpec, written } from "./change.ts";

export function runtimeClass(context: AdmissionContext): AdmissionPlugin {
  return {
    name: "RuntimeClass",
    mutate: (attributes) => {
      const pod = newPod(attributes);
      if (pod === undefined) return ok(attributes.object);
      const found = classOf(context, attributes, pod);
      return found.ok ? (found.value === undefined ? ok(pod) : withClass(attributes, pod, found.value)) : found;
    },
    validate: (attributes) => {
      const pod = newPod(attributes);
      if (pod === undefined) return ok(undefined);
      const found = classOf(context, attributes, pod);
      if (!found.ok) return found;
      const [own, wanted] = [fieldAt(pod, "spec", "overhead"), fieldAt(found.value, "overhead", "podFixed")];
      if (wanted !== undefined) return sameAmounts(own, wanted) ? ok(undefined) : forbid(attributes, DIFFERS);
      return own === undefined ? ok(undefined) : forbid(attributes, OVERHEAD_WITHOUT_CLASS);
    },
  };
}

const DIFFERS = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const OVERHEAD_WITHOUT_CLASS = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

function newPod(attributes: Attributes): KubeObject | undefined {
  return attributes.type.collection === "/pods" && attributes.operation === "CREATE" ? written(attributes) : undefined;
}

function classOf({ store }: AdmissionContext, attributes: Attributes, pod: KubeObject): Result<KubeObject | undefined, Failure> {
  const name = fieldAt(pod, "spec", "runtimeClassName");
  if (typeof name !== "string") return ok(undefined);
  const found = store.get("node.k8s.io/runtimeclasses", name);
  return found === undefined ? forbid(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`) : ok(found.object);
}

function withClass(attributes: Attributes, pod: KubeObject, known: KubeObject): Result<KubeObject, Failure> {
  const overhead = fieldAt(known, "overhead", "podFixed");
  const own = fieldAt(pod, "spec", "overhead");
  if (overhead !== undefined && own !== undefined && !sameAmounts(own, overhead)) return forbid(attributes, DIFFERS);
  const costly = overhead === undefined ? pod : withSpec(pod, { overhead });
  const scheduling = fieldAt(known, "scheduling");
  return isJsonObject(scheduling) ? scheduled(attributes, costly, scheduling) : ok(costly);
}

function sameAmounts(own: Json | undefined, wanted: Json): boolean {
  return jsonEqual(own ?? {}, wanted);
}

function scheduled(attributes: Attributes, pod: KubeObject, scheduling: JsonObject): Result<KubeObject, Failure> {
  const [own, wanted] = [textsOf(fieldAt(pod, "spec", "nodeSelector")), textsOf(field(scheduling, "nodeSelector"))];
  const key = Object.keys(wanted).find((name) => Object.hasOwn(own, name) && own[name] !== wanted[name]);
  if (key !== undefined) {
    const [theirs, ours] = [plainText(wanted[key]), plainText(own[key])];
    return forbid(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${theirs}; pod.spec.nodeSelector[${key}] = ${ours}`,
    );
  }
  const tolerations = [...listOf(fieldAt(pod, "spec", "tolerations")), ...listOf(field(scheduling, "tolerations"))];
  const all = widest(tolerations);
  const nodeSelector = { ...own, ...wanted };
  return ok(
    withSpec(pod, {
      ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
      ...(all.length === 0 ? {} : { tolerations: all }),
    }),
  );
}

/** Of two tolerations of which one covers the other, only the wider stays. */
function widest(tolerations: readonly Json[]): readonly Json[] {
  const kept: Json[] = [];
  for (const [index, one] of tolerations.entries()) {
    const later = tolerations.slice(index + 1).some((other) => !jsonEqual(other, one) && covers(other, one));
    if (!later && !kept.some((other) => covers(other, one))) kept.push(one);
  }
  return kept;
}

function covers(wide: Json, narrow: Json): boolean {
  if (jsonEqual(wide, narrow)) return true;
  const of = (toleration: Json, name: string) => field(toleration, name) ?? "";
  const everything = of(wide, "operator") === "Exists";
  if (of(wide, "key") !== of(narrow, "key") && !(everything && of(wide, "key") === "")) return false;
  if (of(wide, "effect") !== of(narrow, "effect") && of(wide, "effect") !== "") return false;
  const [most, asked] = [wide, narrow].map((one) => field(one, "tolerationSeconds")) as [Json | undefined, Json | undefined];
  if (of(wide, "effect") === "NoExecute" && typeof most === "number" && !(typeof asked === "number" && asked <= most)) return false;
  return everything || (of(narrow, "operator") === "Equal" && of(narrow, "value") === of(wide, "value"));
}

const textsOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
