/** Claims of devices: what a Pod names, and what its containers use of it. */
import type { JsonObject } from "#kube";
import { at, objectsAt, textAt } from "../../draft.ts";
import { duplicate, invalid, invalidEach, joined, notFound, required, type Causes } from "../causes.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";

export function validatePodClaims(spec: JsonObject, path: string): Causes {
  const names = new Set<string>();
  return objectsAt(spec, "resourceClaims").flatMap((claim, index) => {
    const here = `${path}[${index}]`;
    const name = textAt(claim, "name");
    const again = names.has(name);
    names.add(name);
    return joined(validateName(name, again, `${here}.name`), validateSource(claim, here));
  });
}

function validateName(name: string, again: boolean, path: string): Causes {
  if (name === "") return [required(path)];
  return again ? [duplicate(path, name)] : invalidEach(path, name, dnsLabel(name));
}

const SOURCES = ["resourceClaimName", "resourceClaimTemplateName"] as const;

function validateSource(claim: JsonObject, path: string): Causes {
  const given = SOURCES.filter((name) => at(claim, name) !== undefined);
  // the server shows its internal struct here
  const shown = {
    Name: textAt(claim, "name"),
    ResourceClaimName: at(claim, "resourceClaimName") ?? null,
    ResourceClaimTemplateName: at(claim, "resourceClaimTemplateName") ?? null,
  };
  return joined(
    given.length === 2 ? [invalid(path, shown, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")] : [],
    given.length === 0 ? [invalid(path, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")] : [],
    given.flatMap((name) => invalidEach(`${path}.${name}`, textAt(claim, name), dnsSubdomain(textAt(claim, name)))),
  );
}

/** `known`: the claims of the Pod. A container takes a claim as a whole, or some requests of it. */
export function validateUsedClaims(resources: JsonObject | undefined, path: string, known: ReadonlySet<string>): Causes {
  const taken = new Set<string>();
  return objectsAt(resources, "claims").flatMap((claim, index) => {
    const here = `${path}[${index}]`;
    const name = textAt(claim, "name");
    if (name === "") return [required(here)];
    const causes = validateUse(name, textAt(claim, "request"), { path: here, taken });
    return known.has(name) ? causes : [...causes, notFound(here, name, unknownClaim(known))];
  });
}

function validateUse(name: string, request: string, { path, taken }: { readonly path: string; readonly taken: Set<string> }): Causes {
  if (taken.has(name)) return [duplicate(path, name)];
  const key = request === "" ? name : `${name}/${request}`;
  const again = taken.has(key);
  const overlaps = request === "" ? [...taken].filter((other) => other.startsWith(`${name}/`)) : [];
  taken.add(key);
  return joined(
    request === "" ? [] : invalidEach(`${path}.request`, request, dnsLabel(request)),
    again ? [duplicate(path, key)] : overlaps.map(() => duplicate(path, name)),
  );
}

function unknownClaim(known: ReadonlySet<string>): string {
  const list = known.size === 0 ? " which is empty" : `: ${[...known].toSorted().join(", ")}`;
  return `must be one of the names in pod.spec.resourceClaims${list}`;
}
