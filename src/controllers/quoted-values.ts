/**
 * Errors about a Deployment of another owner, without its values. The API server, and policies and webhooks behind it, quote what they refuse; conditions,
 * events and logs of Lattice have other readers than the Deployment.
 */
import { field, fieldAt, type Json, type KubeObject } from "#kube";
import { revertWorkloadPatch } from "#workload-patch";

const HIDDEN = "(hidden)";
/** Above these, the search for values would take too long, and a part of a message could end within a value: the whole message is hidden. */
const MOST_VALUES = 1_000;
const LONGEST_MESSAGE = 65_536;
const WHOLLY_HIDDEN = "the answer is hidden, because it or the Deployment is too large to remove values from it; read it with kubectl";
/** A shorter value is more often part of the message itself than a secret. */
const LEAST_LENGTH = 4;

type Caused = { readonly message: string };

/** The error with `(hidden)` in place of each value of a variable, command or argument of the Deployment, with and without its patch. */
export function withoutQuotedValues<E extends Caused>(error: E, deployment: KubeObject | undefined): E {
  if (deployment === undefined) return error;
  const values = new Set([deployment, revertWorkloadPatch(deployment).deployment].flatMap(valuesOf));
  if (values.size > MOST_VALUES || error.message.length > LONGEST_MESSAGE) return { ...error, message: WHOLLY_HIDDEN };
  // longest first: a value can be part of another
  const texts = [...values].flatMap(writtenForms).toSorted((a, b) => b.length - a.length);
  return { ...error, message: texts.reduce((message, text) => message.replaceAll(text, HIDDEN), error.message) };
}

/** As it is, and inside of a quoted text. */
function writtenForms(value: string): readonly string[] {
  return [value, JSON.stringify(value).slice(1, -1)];
}

function valuesOf(deployment: KubeObject): readonly string[] {
  const pod = fieldAt(deployment, "spec", "template", "spec");
  const containers = ["containers", "initContainers"].flatMap((list) => listOf(field(pod, list)));
  const texts = containers.flatMap((container) => [
    ...listOf(field(container, "env")).map((element) => field(element, "value")),
    ...listOf(field(container, "command")),
    ...listOf(field(container, "args")),
  ]);
  return texts.filter((text) => typeof text === "string").filter((text) => text.trim().length >= LEAST_LENGTH);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
