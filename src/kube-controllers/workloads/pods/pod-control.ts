/** Creates and deletes Pods on behalf of an owner, and records events on that owner, with kube-controller-manager's messages. */
import { err, ok, type Result } from "#base";
import type { EventNote } from "#controller-runtime";
import { pods, type KubeObject, type Pod, type PodTemplate, type Resource } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { controllerReference } from "./owners.ts";
import type { PodLimit } from "./pod-limit.ts";

export type PodOwner = { readonly object: KubeObject; readonly resource: Resource };

export type PodControl = {
  readonly create: (owner: PodOwner, template: PodTemplate, generateName?: string) => Promise<Result<Pod, KubeError>>;
  /** A Pod that is already deleted is an error of kind `not-found`; callers may ignore it. */
  readonly remove: (owner: PodOwner, name: string) => Promise<Result<void, KubeError>>;
};

export type PodControlOptions = {
  readonly client: KubeClient;
  readonly record: (note: EventNote) => void;
  readonly limit: Pick<PodLimit, "admit">;
};

export function podControl({ client, record, limit }: PodControlOptions): PodControl {
  return {
    async create(owner, template, generateName) {
      const { object: regarding } = owner;
      const pod = podFromTemplate(owner, template, generateName);
      const created = await limit.admit(regarding, pod, () => client.create(pods, pod));
      if (created.ok) {
        record({ regarding, type: "Normal", reason: "SuccessfulCreate", note: `Created pod: ${created.value.metadata.name}` });
      } else if (!isNamespaceEnding(created.error)) {
        record({ regarding, type: "Warning", reason: "FailedCreate", note: `Error creating: ${created.error.message}` });
      }
      return created;
    },
    async remove({ object: regarding }, name) {
      const deleted = await client.delete(pods, { namespace: regarding.metadata.namespace, name });
      if (deleted.ok && deleted.value) {
        record({ regarding, type: "Normal", reason: "SuccessfulDelete", note: `Deleted pod: ${name}` });
        return ok(undefined);
      }
      if (deleted.ok) return err({ kind: "not-found", message: `pods "${name}" not found` });
      record({ regarding, type: "Warning", reason: "FailedDelete", note: `Error deleting: ${deleted.error.message}` });
      return err({ ...deleted.error, message: `unable to delete pods: ${deleted.error.message}` });
    },
  };
}

export function podFromTemplate({ object, resource }: PodOwner, template: PodTemplate, generateName?: string): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      // the server generates the name; the type of stored objects requires one
      name: "",
      generateName: generateName ?? `${object.metadata.name}-`,
      namespace: object.metadata.namespace ?? "",
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(object, resource)],
    },
    spec: template.spec,
  };
}

/** A terminating namespace accepts no new objects. That is not a failure and must not be retried. */
export function isNamespaceEnding({ status }: KubeError): boolean {
  return status?.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}
