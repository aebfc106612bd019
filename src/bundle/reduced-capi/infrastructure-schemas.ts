/** The specs of the infrastructure kinds: Dev* of Cluster API's test provider, and Local* of Lattice, whose machines are folders on a laptop. */
import { anything, flag, list, object, text } from "./schema.ts";
import { endpoint, templateMetadata } from "./core-schemas.ts";

const startup = object({ provisioning: object({ startupDuration: text, startupJitter: text }, ["startupDuration"]) });

const machineBackend = object({
  docker: object({
    bootstrapTimeout: text,
    customImage: text,
    extraMounts: list(object({ containerPath: text, hostPath: text, readOnly: flag })),
    preLoadImages: list(text),
  }),
  inMemory: object({ apiServer: startup, etcd: startup, node: startup, vm: startup }),
});

export const devClusterSpec = object({ backend: object({ docker: anything, inMemory: anything }), controlPlaneEndpoint: endpoint }, [
  "backend",
]);
export const devMachineSpec = object({ backend: machineBackend, providerID: text }, ["backend"]);
export const devMachineTemplateSpec = object({ template: object({ metadata: templateMetadata, spec: devMachineSpec }, ["spec"]) }, [
  "template",
]);

export const localClusterSpec = object({ controlPlaneEndpoint: endpoint });
export const localMachineSpec = object({ providerID: text });
export const localMachineTemplateSpec = object({ template: object({ metadata: templateMetadata, spec: localMachineSpec }, ["spec"]) }, [
  "template",
]);
