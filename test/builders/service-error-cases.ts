/** The eight errors of a service: a service that has each of them, the text that the message must begin with, and its path. */
import { mainContainer } from "./service-input.ts";

export type ServiceErrorCase = {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly want: string;
  readonly place: string;
  /** The error is not about templates: their condition is not set. */
  readonly afterTemplates?: true;
  /** The missing object may be created later: the operator waits for it. */
  readonly waits?: true;
};

export const serviceErrorCases: readonly ServiceErrorCase[] = [
  {
    name: "TemplateVariable",
    given: mainContainer({ variables: { LEVEL: "${config.level}" } }),
    place: "spec.containers.main.variables.LEVEL",
    want: "template error in container 'main' variable 'LEVEL': ${config.level}: config has no 'level'",
  },
  {
    name: "TemplateFile",
    given: mainContainer({ files: { "/etc/a.conf": { content: "a\n  ${config.level}" } } }),
    place: 'spec.containers.main.files["/etc/a.conf"]',
    want: "template error in container 'main' file '/etc/a.conf': ${config.level}: config has no 'level' (line 2, column 3)",
  },
  {
    name: "ResourceNotFound",
    waits: true,
    given: mainContainer({ variables: { URL: "${resources.backend.url}" } }, { resources: { backend: {} } }),
    place: "spec.resources.backend",
    want: "resource 'backend' of type 'service' not found",
  },
  {
    name: "UnsupportedResourceType",
    given: mainContainer({}, { resources: { queue: { type: "kafka" } } }),
    place: "spec.resources.queue",
    want: "no provisioner registered for resource type 'kafka'",
  },
  {
    name: "ProvisionerError",
    given: mainContainer({}, { resources: { db: { type: "postgres", params: { port: 0 } } } }),
    place: "spec.resources.db",
    want: `resource 'db' provisioner error: params.port is "0"; it must be a port from 1 to 65535`,
  },
  {
    name: "InvalidFileMount",
    afterTemplates: true,
    given: mainContainer({ files: { "/etc/key": { binaryContent: "AAA" } } }),
    place: 'spec.containers.main.files["/etc/key"]',
    want: "invalid file mount at '/etc/key': binaryContent ",
  },
  {
    name: "InvalidVolumeMount",
    afterTemplates: true,
    given: mainContainer({ volumes: { "/data": { source: "nfs:server" } } }),
    place: 'spec.containers.main.volumes["/data"]',
    want: `invalid volume mount at '/data': 'nfs' is no kind of volume; there are pvc, configmap, secret, emptydir, as in "pvc:data"`,
  },
  {
    name: "CircularDependency",
    given: mainContainer(
      {},
      {
        resources: {
          a: { type: "postgres", params: { database: "${resources.b.database}" } },
          b: { type: "postgres", params: { database: "${resources.a.database}" } },
        },
      },
    ),
    place: "spec.resources",
    want: "circular dependency detected: a -> b -> a",
  },
];
