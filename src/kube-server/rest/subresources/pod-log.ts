/**
 * `GET …/pods/NAME/log`: validates the options and the state of the container as a server and a kubelet do, and sends what the port reads.
 *
 * A Pod without a log has the errors of a server whose node has no kubelet; one without a node has an empty log.
 */
import { millisecondsOf, ok, type Result } from "#base";
import { field, fieldAt, type Json, type KubeObject } from "#kube";
import type { RequestContext } from "../../protocol/core.ts";
import { plainText } from "../../protocol/go-format.ts";
import type { PodLogOptions } from "../../protocol/pod-log-port.ts";
import { textResponse } from "../../protocol/request.ts";
import type { ResponseResult } from "../../protocol/respond.ts";
import { badRequest, invalid, type Failure } from "../../protocol/status.ts";
import { warningTexts } from "../../protocol/warnings.ts";
import { normaliseTime } from "../../builtin-kinds/codec/go-time.ts";
import type { FieldCause } from "../../resource-type.ts";
import { flag, integer } from "../list-options.ts";
import { chosenContainer, noKubelet, podOf } from "./pods.ts";

export function podLog(call: RequestContext): ResponseResult {
  const options = logOptions(call);
  if (!options.ok) return options;
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const container = chosenContainer(call, pod.value.object);
  if (!container.ok) return container;
  const node = plainText(fieldAt(pod.value.object, "spec", "nodeName") ?? "");
  if (node === "") return ok({ ...textResponse(204, ""), headers: {}, body: { kind: "none" } });
  if (call.core.podLogs?.has(pod.value.object) !== true) return noKubelet(call, node, call.target.type);
  return readLog(call, { pod: pod.value.object, container: container.value, options: options.value });
}

type LogTarget = { readonly pod: KubeObject; readonly container: string; readonly options: PodLogOptions };

function readLog(call: RequestContext, { pod, container, options }: LogTarget): ResponseResult {
  const previous = isPreviousStart(pod, container, options.previous);
  if (!previous.ok) return previous;
  const { core, signal, warnings } = call;
  const ending = AbortSignal.any([signal, core.closing]);
  const chunks = core.podLogs?.read(pod, { ...options, container, previous: previous.value }, ending);
  if (chunks === undefined) return badRequest(`unable to retrieve container logs for ${inPod(pod, container)}: there is no log file`);
  const headers = { "content-type": "text/plain" };
  return ok({ status: 200, headers, warnings: warningTexts(warnings), body: { kind: "byte-stream", chunks } });
}

/** The numeric options of a log request, with their minimum. */
const LOG_NUMBERS = [
  ["tailLines", 0, "must be greater than or equal to 0"],
  ["limitBytes", 1, "must be greater than 0"],
  ["sinceSeconds", 1, "must be greater than 0"],
] as const;

function logOptions({ request, target, core }: RequestContext): Result<PodLogOptions, Failure> {
  const causes: FieldCause[] = [];
  const numbers = new Map<(typeof LOG_NUMBERS)[number][0], number>();
  for (const [name, least, problem] of LOG_NUMBERS) {
    const value = integer(request.query, name);
    if (!value.ok) return value;
    if (value.value !== undefined) numbers.set(name, value.value);
    if (value.value !== undefined && value.value < least)
      causes.push({ reason: "FieldValueInvalid", field: name, detail: `Invalid value: ${value.value}: ${problem}` });
  }
  const since = request.query.get("sinceTime") ?? "";
  const sinceTime = since === "" ? ok("") : normaliseTime(since, false);
  if (!sinceTime.ok) return badRequest(sinceTime.error);
  if ((request.query.get("stream") ?? "") !== "")
    causes.push({ reason: "FieldValueForbidden", field: "stream", detail: "Forbidden: may not be specified" });
  const sinceSeconds = numbers.get("sinceSeconds");
  if (sinceSeconds !== undefined && since !== "") {
    const detail = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified";
    causes.push({ reason: "FieldValueForbidden", field: "[]", detail });
  }
  if (causes.length > 0) return invalid({ group: "", kind: "PodLogOptions", name: target.name ?? "" }, causes);
  return ok({
    previous: flag(request.query, "previous"),
    follow: flag(request.query, "follow"),
    timestamps: flag(request.query, "timestamps"),
    tailLines: numbers.get("tailLines"),
    limitBytes: numbers.get("limitBytes"),
    since:
      sinceSeconds !== undefined ? core.clock.now() - sinceSeconds * 1_000 : since === "" ? undefined : millisecondsOf(sinceTime.value),
  });
}

const STATUSES = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const;

/** Whether the log is that of the start before the newest one; an error when the container has no log. The messages are a kubelet's. */
function isPreviousStart(pod: KubeObject, container: string, previous: boolean): Result<boolean, Failure> {
  const status = statusOf(pod, container);
  const place = inPod(pod, container);
  if (status === undefined) return badRequest(`${place} is not available`);
  const [running, terminated, waiting] = ["running", "terminated", "waiting"].map((name) => fieldAt(status, "state", name));
  const last = fieldAt(status, "lastState", "terminated");
  if (previous && !hasLog(last)) return badRequest(`previous terminated ${place} not found`);
  // a container that has not started again since its last end is that last one
  if (running !== undefined || hasLog(terminated)) return ok(previous);
  if (hasLog(last)) return ok(false);
  if (terminated !== undefined || last !== undefined) return badRequest(`${place} is terminated`);
  return badRequest(
    waiting === undefined ? `${place} is waiting to start - no logs yet` : `${place} is waiting to start: ${waitingText(waiting)}`,
  );
}

function statusOf(pod: KubeObject, container: string): Json | undefined {
  const all = STATUSES.flatMap((list) => {
    const statuses = fieldAt(pod, "status", list);
    return Array.isArray(statuses) ? statuses : [];
  });
  return all.find((status) => field(status, "name") === container);
}

/** A container that never ran has no id, and no log. */
function hasLog(terminated: Json | undefined): boolean {
  const id = field(terminated, "containerID");
  return typeof id === "string" && id !== "";
}

function waitingText(waiting: Json): string {
  const reason = plainText(field(waiting, "reason") ?? "");
  if (reason === "ErrImagePull") return "image can't be pulled";
  return reason === "ImagePullBackOff" ? "trying and failing to pull image" : reason;
}

function inPod({ metadata }: KubeObject, container: string): string {
  return `container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)}`;
}
