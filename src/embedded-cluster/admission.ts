/**
 * Admission of a cluster with controllers: Pods need ServiceAccounts, because a controller creates them.
 *
 * Fixtures are loaded before the controllers start, and a Pod among them would be refused for an account that does not exist yet; so the
 * plugin is active once the cluster is ready.
 */
import { ok } from "#base";
import { admissionPlugins, serviceAccounts, type AdmissionContext, type AdmissionPlugin } from "#kube-server";

/** The position of the plugin in kube-apiserver. */
const BEFORE = "LimitRanger";

export function withServiceAccounts(isReady: () => boolean): (context: AdmissionContext) => readonly AdmissionPlugin[] {
  return (context) => {
    const { name, mutate = ({ object }) => ok(object), validate = () => ok(undefined) } = serviceAccounts(context);
    const plugin: AdmissionPlugin = {
      name,
      mutate: (attributes) => (isReady() ? mutate(attributes) : ok(attributes.object)),
      validate: (attributes) => (isReady() ? validate(attributes) : ok(undefined)),
    };
    return admissionPlugins(context).flatMap((other) => (other.name === BEFORE ? [other, plugin] : [other]));
  };
}
