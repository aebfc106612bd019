/** Which responses are faults: a 500 that a real server would not send, an error without a Status, a stream that is not JSON. */
import { fieldAt, parseJson } from "#kube";
import type { FuzzResponse } from "./fuzz-in-process.ts";
import type { FuzzRequest } from "./fuzz-requests.ts";

type Known = { readonly why: string; readonly message: RegExp; /** Default: 500. */ readonly status?: number };

/** Requests to which a real server also responds with 500. Any other 500 is a bug. */
export const KNOWN_500: readonly Known[] = [
  { why: "contradictory strategic merge directives", message: /unknown patch type: |expected a (map\[string\]|\[\])interface \{\}, but received|list element types are not identical|unable to find api field in struct/ },
  { why: "a list without its merge key, or in an impossible order", message: /does not contain declared merge key|cannot merge lists without merge key|The order in patch|\$setElementOrder|\$deleteFromPrimitiveList|\$retainKeys|invalid (patch|type)/ },
  { why: "an apply of an object that does not match its type", message: /failed to create typed patch object/ },
  { why: "a wrong type that is found after the merge", message: /failed to convert new object \(.*\) to proper version|unable to convert unstructured object to / },
  { why: "an apply to a stored object that breaks a list type", message: /failed to convert (new|live) object \(.*\) to smd typed/ },
  { why: "a new object with a resourceVersion", message: /resourceVersion should not be set on objects to be created/ },
  { why: "a resourceVersion that is not a number", message: /strconv\.ParseUint|resourceVersion: Invalid value/ },
  { why: "a path that RequestInfo cannot parse", message: /failed to create RequestInfo: unable to determine kind and namespace from url/ },
  { why: "a webhook that fails", message: /failed calling webhook/ },
  { why: "a webhook whose patch cannot be applied", message: /Internal error occurred: \w+ operation does not apply/ },
  { why: "a policy whose patch changes the type of a field", message: /message"?: ?["']?Internal error occurred: json: cannot unmarshal [a-z]+ into Go (struct field|value)/ },
  { why: "a webhook that changes an immutable object", message: /attempted to modify the object, which is not supported for this operation/ },
  { why: "one custom object, requested as PartialObjectMetadataList", message: /message"?: ?["']?content is not a list/ },
  { why: "a patch that removes the apiVersion of a custom object", message: /Object 'apiVersion' is missing in 'object has no apiVersion field'/ },
  { why: "an invalid Binding: its errors are a plain aggregate", message: /message"?: ?["']?\[?target\.(kind|name): / },
  { why: "a command for a pod on a node without a kubelet", message: /message"?: ?["']?error dialing backend: / },
  { why: "a proxy request without a backend", message: /no endpoints available for service|error trying to reach service: /, status: 503 },
  { why: "a resourceVersion in the future, after the wait for it", message: /Too large resource version/, status: 504 },
]; // prettier-ignore

/** The fault of the response, or undefined. `known` is called for expected 500s. */
export function faultOf(request: FuzzRequest, answer: FuzzResponse, known: (why: string) => void): string | undefined {
  const { status, text, type } = answer;
  if (status === undefined) return isHttp(request) ? "the server closed the connection on a valid HTTP request" : undefined;
  if (!Number.isInteger(status) || status < 200) return `answered ${status}`;
  if (status < 400 || request.method === "HEAD") return undefined;
  if (status >= 500) return faultOf5xx(status, text, known);
  if (!type.startsWith("application/json")) return undefined;
  const body = parseJson(text);
  return body.ok && fieldAt(body.value, "code") === status ? undefined : `${status} without its Status: ${text.slice(0, 300)}`;
}

function faultOf5xx(status: number, text: string, known: (why: string) => void): string | undefined {
  const inOneLine = text.replaceAll(/\s+/g, " "); // YAML folds long lines
  const found = KNOWN_500.find(({ message, status: expected = 500 }) => status === expected && message.test(inOneLine));
  if (found === undefined) return `${status}: ${text.slice(0, 600)}`;
  known(found.why);
  return undefined;
}

/** Node closes the connection of a CONNECT request when there is no listener for it. */
function isHttp({ method }: FuzzRequest): boolean {
  return method !== "CONNECT";
}
