/** APIService: a group version that another server answers, or this one. Its name is made of the two. */
import type { JsonObject, KubeObject } from "#kube";
import { isTrueAt, numberAt, objectAt, objectsAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { dns1035Label, dnsSubdomain, pathSegment, portNumber } from "../rules/formats.ts";

const apiService: KindRules = {
  name: pathSegment,
  onUpdate: "meta-and-spec-last",
  validate: (object) => [...validateName(object), ...validateSpec(objectAt(object, "spec") ?? {})],
  validateStatus: (next) =>
    objectsAt(next, "status", "conditions").flatMap((condition, index) => {
      const status = textAt(condition, "status");
      const known = ["True", "False", "Unknown"];
      return known.includes(status) ? [] : [notSupported(`status.conditions[${index}].status`, status, known.toSorted())];
    }),
};

function validateName({ metadata: { name }, ...object }: KubeObject): Causes {
  const wanted = `${textAt(object, "spec", "version")}.${textAt(object, "spec", "group")}`;
  const isName = pathSegment(name).length === 0;
  return isName && name !== wanted
    ? [invalid("metadata.name", name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)]
    : [];
}

function validateSpec(spec: JsonObject): Causes {
  const [group, version] = [textAt(spec, "group"), textAt(spec, "version")];
  return [
    ...(group === "" && version !== "v1"
      ? [required("spec.group", "only v1 may have an empty group and it better be legacy kube")]
      : group === ""
        ? []
        : invalidEach("spec.group", group, dnsSubdomain(group))),
    ...invalidEach("spec.version", version, dns1035Label(version)),
    ...validatePriority(spec, "groupPriorityMinimum", 20_000),
    ...validatePriority(spec, "versionPriority", 1_000),
    ...validateService(spec),
  ];
}

function validatePriority(spec: JsonObject, name: string, max: number): Causes {
  const priority = numberAt(spec, name) ?? 0;
  return priority > 0 && priority <= max ? [] : [invalid(`spec.${name}`, priority, `must be positive and less than ${max}`)];
}

function validateService(spec: JsonObject): Causes {
  const service = objectAt(spec, "service");
  const [bundle, trusting] = [textAt(spec, "caBundle"), isTrueAt(spec, "insecureSkipTLSVerify")];
  const skip = (detail: string) => invalid("spec.insecureSkipTLSVerify", true, detail);
  if (service === undefined) {
    return [
      ...(bundle === "" ? [] : [invalid("spec.caBundle", `${atob(bundle).length} bytes`, "local APIServices may not have a caBundle")]),
      ...(trusting ? [skip("local APIServices may not have insecureSkipTLSVerify")] : []),
    ];
  }
  const port = numberAt(service, "port") ?? 0;
  const wrongPort = portNumber(port);
  return [
    ...["namespace", "name"].filter((part) => textAt(service, part) === "").map((part) => required(`spec.service.${part}`)),
    ...(wrongPort.length === 0 ? [] : [invalid("spec.service.port", port, `port is not valid: ${wrongPort.join(", ")}`)]),
    ...(trusting && bundle !== "" ? [skip("may not be true if caBundle is present")] : []),
  ];
}

export const registrationKinds: RulesByKind = { APIService: apiService };
