/** The specs of the kubeadm kinds. Settings of single components (`extraArgs`, `extraVolumes`, disks) are not checked. */
import {
  contractRef,
  count,
  anything,
  defaulted,
  flag,
  integer,
  intOrString,
  list,
  mapOf,
  name,
  object,
  oneOf,
  text,
  time,
} from "./schema.ts";
import { deletionTimeouts, machineTaints, readinessGates, templateMetadata } from "./core-schemas.ts";

const secretKey = object({ secret: object({ key: name, name }, ["key", "name"]) }, ["secret"]);
const localEndpoint = object({ advertiseAddress: text, bindPort: integer });
const nodeRegistration = object({
  criSocket: text,
  ignorePreflightErrors: list(text),
  imagePullPolicy: oneOf("Always", "IfNotPresent", "Never"),
  imagePullSerial: flag,
  kubeletExtraArgs: list(object({ name: text, value: text }, ["name", "value"])),
  name: text,
  taints: list(anything),
});
const component = { extraArgs: list(anything), extraEnvs: list(anything), extraVolumes: list(anything) };

const clusterConfiguration = object({
  apiServer: object({ certSANs: list(text), ...component }),
  caCertificateValidityPeriodDays: integer,
  certificateValidityPeriodDays: integer,
  certificatesDir: text,
  controlPlaneEndpoint: text,
  controllerManager: object(component),
  dns: object({ imageRepository: text, imageTag: text }),
  encryptionAlgorithm: oneOf("ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"),
  etcd: object({ external: anything, local: anything }),
  featureGates: mapOf(flag),
  imageRepository: text,
  scheduler: object(component),
});

const file = object(
  {
    append: flag,
    content: text,
    contentFormat: oneOf("Raw", "Template"),
    contentFrom: secretKey,
    encoding: oneOf("base64", "gzip", "gzip+base64"),
    owner: text,
    path: name,
    permissions: text,
  },
  ["path"],
);

const user = object(
  {
    gecos: text,
    groups: text,
    homeDir: text,
    inactive: flag,
    lockPassword: flag,
    name,
    passwd: text,
    passwdFrom: secretKey,
    primaryGroup: text,
    shell: text,
    sshAuthorizedKeys: list(text),
    sudo: text,
  },
  ["name"],
);

const phases = { nodeRegistration, patches: object({ directory: text }), skipPhases: list(text), timeouts: anything };
const bootstrapToken = object({ apiServerEndpoint: text, caCertHashes: list(text), token: text, unsafeSkipCAVerification: flag });

export const kubeadmConfigSpec = object({
  bootCommands: list(text),
  clusterConfiguration,
  diskSetup: anything,
  files: list(file),
  format: oneOf("cloud-config", "ignition"),
  ignition: anything,
  initConfiguration: object({ bootstrapTokens: list(anything), localAPIEndpoint: localEndpoint, ...phases }),
  joinConfiguration: object({
    caCertPath: text,
    controlPlane: object({ localAPIEndpoint: localEndpoint }),
    discovery: object({ bootstrapToken, file: anything, tlsBootstrapToken: text }),
    ...phases,
  }),
  mounts: list(list(text)),
  ntp: object({ enabled: flag, servers: list(text) }),
  postKubeadmCommands: list(text),
  preKubeadmCommands: list(text),
  users: list(user),
  verbosity: integer,
});

export const kubeadmConfigTemplateSpec = object({ template: object({ metadata: templateMetadata, spec: kubeadmConfigSpec }) }, [
  "template",
]);

const machineTemplate = object(
  {
    metadata: templateMetadata,
    spec: object({ deletion: deletionTimeouts, infrastructureRef: contractRef, readinessGates, taints: machineTaints }, [
      "infrastructureRef",
    ]),
  },
  ["spec"],
);

export const kubeadmControlPlaneSpec = object(
  {
    kubeadmConfigSpec,
    machineNaming: object({ template: text }),
    machineTemplate,
    remediation: object({ maxRetry: count, minHealthyPeriodSeconds: count, retryPeriodSeconds: count }),
    replicas: defaulted(count, 1),
    // the real default comes from a webhook
    rollout: defaulted(
      object({
        after: time,
        before: object({ certificatesExpiryDays: count }),
        strategy: object({ rollingUpdate: object({ maxSurge: intOrString }), type: oneOf("RollingUpdate") }, ["type"]),
      }),
      { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } },
    ),
    version: { type: "string", minLength: 1, maxLength: 256 },
  },
  ["machineTemplate", "version"],
);
