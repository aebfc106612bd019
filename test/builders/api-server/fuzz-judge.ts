/** Which answers are mistakes: a 500 that a real server would not give, an error without its Status, a stream that is no JSON. */
import { fieldAt, parseJson } from "#kube";
import type { FuzzAnswer } from "./fuzz-in-process.ts";
import type { FuzzRequest } from "./fuzz-requests.ts";

type Known = { readonly why: string; readonly message: RegExp; /** 500 unless told. */ readonly status?: number };

/** Where a real server answers 500, too (KUBE-FACTS names the fact). Anything else is ours. */
export const KNOWN_500: readonly Known[] = [
  { why: "4: strategic merge directives that make no sense", message: /unknown patch type: |expected a (map\[string\]|\[\])interface \{\}, but received|list element types are not identical|unable to find api field in struct/ },
  { why: "4: a list without its merge key, or in an impossible order", message: /does not contain declared merge key|cannot merge lists without merge key|The order in patch|\$setElementOrder|\$deleteFromPrimitiveList|\$retainKeys|invalid (patch|type)/ },
  { why: "6: an apply of what is not of its type", message: /failed to create typed patch object/ },
  { why: "6: a wrong type that is found after the merge", message: /failed to convert new object \(.*\) to proper version|unable to convert unstructured object to / },
  { why: "6: an apply to an object that a list type forbids, but its kind does not", message: /failed to convert (new|live) object \(.*\) to smd typed/ },
  { why: "12: a new object with a resourceVersion", message: /resourceVersion should not be set on objects to be created/ },
  { why: "12: a resourceVersion that is no number", message: /strconv\.ParseUint|resourceVersion: Invalid value/ },
  { why: "a path that RequestInfo cannot read", message: /failed to create RequestInfo: unable to determine kind and namespace from url/ },
  { why: "18: a webhook that fails", message: /failed calling webhook/ },
  { why: "18: a webhook whose patch does not fit", message: /Internal error occurred: \w+ operation does not apply/ },
  { why: "18: a policy whose patch makes it something else", message: /message"?: ?["']?Internal error occurred: json: cannot unmarshal [a-z]+ into Go (struct field|value)/ },
  { why: "18: a webhook that changes what may not be changed", message: /attempted to modify the object, which is not supported for this operation/ },
  { why: "one custom object, wanted as a list of metadata", message: /message"?: ?["']?content is not a list/ },
  { why: "a patch that takes away what a custom object is", message: /Object 'apiVersion' is missing in 'object has no apiVersion field'/ },
  { why: "a Binding that is not valid: its errors are a plain aggregate", message: /message"?: ?["']?\[?target\.(kind|name): / },
  { why: "a command for a pod whose node has no kubelet to be dialled", message: /message"?: ?["']?error dialing backend: / },
  { why: "a proxy to what is not there", message: /no endpoints available for service|error trying to reach service: /, status: 503 },
  { why: "a resourceVersion that is not there yet, after the wait for it", message: /Too large resource version/, status: 504 },
]; // prettier-ignore

/** What is wrong with the answer, or undefined. `known` is told about 500s that are as they should be. */
export function faultOf(request: FuzzRequest, answer: FuzzAnswer, known: (why: string) => void): string | undefined {
  const { status, text, type } = answer;
  if (status === undefined) return isHttp(request) ? "the server hung up on a request that was HTTP" : undefined;
  if (!Number.isInteger(status) || status < 200) return `answered ${status}`;
  if (status < 400 || request.method === "HEAD") return undefined;
  if (status >= 500) return faultOf5xx(status, text, known);
  if (!type.startsWith("application/json")) return undefined;
  const body = parseJson(text);
  return body.ok && fieldAt(body.value, "code") === status ? undefined : `${status} without its Status: ${text.slice(0, 300)}`;
}

function faultOf5xx(status: number, text: string, known: (why: string) => void): string | undefined {
  const inOneLine = text.replaceAll(/\s+/g, " "); // YAML folds what is long
  const found = KNOWN_500.find(({ message, status: expected = 500 }) => status === expected && message.test(inOneLine));
  if (found === undefined) return `${status}: ${text.slice(0, 600)}`;
  known(found.why);
  return undefined;
}

/** Node hangs up on a CONNECT that nobody listens for. */
function isHttp({ method }: FuzzRequest): boolean {
  return method !== "CONNECT";
}
