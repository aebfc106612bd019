/**
 * Admission of a cluster whose controllers run: ServiceAccounts are asked for, because somebody makes them.
 *
 * Fixtures are older than the controllers, and a Pod among them would wait for an account that nobody has made yet; so the plugin begins when
 * the cluster is handed over.
 */
import { ok } from "#base";
import { admissionPlugins, serviceAccounts, type AdmissionContext, type AdmissionPlugin } from "#kube-server";

/** Where kube-apiserver has it. */
const BEFORE = "LimitRanger";

export function withServiceAccounts(isHandedOver: () => boolean): (context: AdmissionContext) => readonly AdmissionPlugin[] {
  return (context) => {
    const { name, mutate = ({ object }) => ok(object), validate = () => ok(undefined) } = serviceAccounts(context);
    const plugin: AdmissionPlugin = {
      name,
      mutate: (attributes) => (isHandedOver() ? mutate(attributes) : ok(attributes.object)),
      validate: (attributes) => (isHandedOver() ? validate(attributes) : ok(undefined)),
    };
    return admissionPlugins(context).flatMap((other) => (other.name === BEFORE ? [other, plugin] : [other]));
  };
}
