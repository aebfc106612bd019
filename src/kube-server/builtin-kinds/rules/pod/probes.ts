/** Probes, lifecycle hooks, and the handlers that both are made of. */
import { numberAt, objectAt, objectsAt, textAt, textsAt } from "../../draft.ts";
import type { Json, JsonObject } from "#kube";
import { forbidden, invalid, invalidEach, joined, nonNegative, notSupported, required, type Causes } from "../causes.ts";
import { httpHeaderName, portName, portNumber } from "../formats.ts";

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
const SIGNED = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] as const;

export function validateProbes(container: JsonObject, path: string, grace: number | undefined): Causes {
  const causes: Causes[] = [];
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = objectAt(container, name);
    if (probe !== undefined) causes.push(validateProbe(probe, { path: `${path}.${name}`, grace, once: name !== "readinessProbe" }));
  }
  return causes.flat();
}

type ProbePlace = {
  readonly path: string;
  readonly grace: number | undefined;
  /** One success is enough, and must be. */ readonly once: boolean;
};

function validateProbe(probe: JsonObject, { path, grace, once }: ProbePlace): Causes {
  const own = numberAt(probe, "terminationGracePeriodSeconds");
  const graceCauses =
    own !== undefined && own <= 0 ? [invalid(`${path}.terminationGracePeriodSeconds`, own, "must be greater than 0")] : [];
  const successes = numberAt(probe, "successThreshold") ?? 0;
  return joined(
    validateHandler(probe, path, grace),
    SIGNED.flatMap((name) => nonNegative(`${path}.${name}`, numberAt(probe, name))),
    graceCauses,
    once && successes !== 1 ? [invalid(`${path}.successThreshold`, successes, "must be 1")] : [],
    !once && own !== undefined ? [invalid(`${path}.terminationGracePeriodSeconds`, own, "must not be set for readinessProbes")] : [],
  );
}

export function validateLifecycle(container: JsonObject, path: string, grace: number | undefined): Causes {
  const lifecycle = objectAt(container, "lifecycle");
  if (lifecycle === undefined) return [];
  return ["postStart", "preStop"].flatMap((name) => {
    const hook = objectAt(lifecycle, name);
    return hook === undefined ? [] : validateHandler(hook, `${path}.lifecycle.${name}`, grace);
  });
}

function validateHandler(holder: JsonObject, path: string, grace: number | undefined): Causes {
  const present = HANDLERS.filter((name) => objectAt(holder, name) !== undefined);
  const [first, ...others] = present;
  if (first === undefined) return [required(path, "must specify a handler type")];
  return joined(
    validateAction(first, objectAt(holder, first) ?? {}, { path: `${path}.${first}`, grace }),
    others.map((name) => forbidden(`${path}.${name}`, "may not specify more than 1 handler type")),
  );
}

function validateAction(
  kind: (typeof HANDLERS)[number],
  action: JsonObject,
  { path, grace }: { readonly path: string; readonly grace: number | undefined },
): Causes {
  switch (kind) {
    case "exec":
      return textsAt(action, "command").length === 0 ? [required(`${path}.command`)] : [];
    case "httpGet":
      return validateHttpGet(action, path);
    case "tcpSocket":
    case "grpc":
      return validatePort(`${path}.port`, action["port"]);
    case "sleep": {
      const seconds = numberAt(action, "seconds") ?? 0;
      const wrong = grace !== undefined && (seconds < 0 || seconds > grace);
      return wrong ? [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`)] : [];
    }
  }
}

function validateHttpGet(action: JsonObject, path: string): Causes {
  const scheme = textAt(action, "scheme");
  return joined(
    textAt(action, "path") === "" ? [required(`${path}.path`)] : [],
    validatePort(`${path}.port`, action["port"]),
    ["HTTP", "HTTPS"].includes(scheme) ? [] : [notSupported(`${path}.scheme`, scheme, ["HTTP", "HTTPS"])],
    objectsAt(action, "httpHeaders").flatMap((header) =>
      invalidEach(`${path}.httpHeaders`, textAt(header, "name"), httpHeaderName(textAt(header, "name"))),
    ),
  );
}

/** A number, or the name of a port. */
export function validatePort(path: string, port: Json | undefined): Causes {
  if (typeof port === "string") return invalidEach(path, port, portName(port));
  const number = typeof port === "number" ? port : 0;
  return invalidEach(path, number, portNumber(number));
}
