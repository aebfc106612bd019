/** Names of a service that another one holds, as errors. */
import { splitId, type ServiceId } from "#mesh-compiler";
import { sourceOf } from "#service-compiler";
import type { ObjectTaken, ServiceError } from "../errors.ts";
import { isFlaggerName } from "../object-names.ts";
import { isSame, describeResource, type WorldState, type ResourceName } from "./state.ts";

/** Errors for names that another service holds. */
export function takenNames(state: WorldState, one: ResourceName, id: ServiceId): readonly ServiceError[] {
  const holder = state.places.holder(id);
  if (holder !== undefined && !isSame(holder, one))
    return [{ kind: "name-taken", namespace: splitId(id).namespace, by: describeResource(holder) }];
  const errors: ServiceError[] = [];
  for (const object of state.objects.namesOf(one)) {
    const first = state.objects.holder(object);
    if (first !== undefined && !isSame(first, one) && !canShare(state, object, first, one))
      errors.push({
        kind: "object-taken",
        object: object.slice(object.indexOf(" ") + 1),
        by: describeResource(first),
        ...flaggerOf(state, object, first, one),
      });
  }
  return errors;
}

/** Whether a conflict about a Flagger name can be ignored: both services are of one namespace and neither is a canary. */
function canShare(state: WorldState, object: string, one: ResourceName, other: ResourceName): boolean {
  const services = [one, other].map(({ key }) => state.services.get(key));
  if (!services.some((service) => service !== undefined && isFlaggerName(object, service.metadata.name))) return false;
  const [first, second] = services.map((service) => (service === undefined ? undefined : sourceOf(service)));
  return first === second && services.every((service) => service?.spec.deploy?.strategy !== "canary");
}

/** The canary whose copies have the name, and the other service; empty: it is not a Flagger name. */
function flaggerOf(state: WorldState, object: string, first: ResourceName, second: ResourceName): Pick<ObjectTaken, "flagger"> {
  const isCanary = ({ key }: ResourceName) => {
    const service = state.services.get(key);
    return service?.spec.deploy?.strategy === "canary" && isFlaggerName(object, service.metadata.name);
  };
  const canary = [first, second].find(isCanary);
  if (canary === undefined) return {};
  return { flagger: { canary: describeResource(canary), other: describeResource(canary === first ? second : first) } };
}
