/** An Ingress without a class gets the default class: the newest, if several are marked as default. */
import { ok } from "#base";
import { fieldAt } from "#kube";
import type { AdmissionContext, AdmissionPlugin } from "../../protocol/admission-port.ts";
import { withSpec, written } from "./change.ts";

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";
const LEGACY = "kubernetes.io/ingress.class";

export function defaultIngressClass(context: AdmissionContext): AdmissionPlugin {
  return {
    name: "DefaultIngressClass",
    mutate: (attributes) => {
      const ingress = written(attributes);
      const isNew = attributes.operation === "CREATE" && attributes.type.collection === "networking.k8s.io/ingresses";
      if (ingress === undefined || !isNew) return ok(attributes.object);
      const isNamed =
        fieldAt(ingress, "spec", "ingressClassName") !== undefined || Object.hasOwn(ingress.metadata.annotations ?? {}, LEGACY);
      const name = isNamed ? undefined : defaultClass(context);
      return ok(name === undefined ? ingress : withSpec(ingress, { ingressClassName: name }));
    },
  };
}

function defaultClass({ store }: AdmissionContext): string | undefined {
  const listed = store.list("networking.k8s.io/ingressclasses");
  const marked = (listed.ok ? listed.value.items : []).filter(({ object }) => object.metadata.annotations?.[IS_DEFAULT] === "true");
  const born = (index: number) => marked[index]?.object.metadata.creationTimestamp ?? "";
  // listed by name, so of two with the same creation time the first by name wins
  const newest = marked.reduce((best, _one, index) => (born(index) > born(best) ? index : best), 0);
  return marked[newest]?.object.metadata.name;
}
