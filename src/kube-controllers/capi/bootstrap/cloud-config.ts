/** The user data of a machine in the format of cloud-init. Texts of users go in as YAML values, so that none of them can add a directive. */
import { formatYaml, type Json, type JsonObject } from "#kube";

export type CloudFile = {
  readonly path: string;
  readonly content: string;
  readonly owner?: string | undefined;
  readonly permissions?: string | undefined;
  readonly encoding?: string | undefined;
  readonly append?: boolean;
};

export type CloudConfig = {
  readonly files: readonly CloudFile[];
  readonly commands: readonly string[];
  readonly bootCommands: readonly string[];
  readonly users: readonly Json[];
  readonly ntp: JsonObject;
  readonly mounts: readonly Json[];
};

const HEADER = "## template: jinja\n#cloud-config\n\n";
const PLACEHOLDER: CloudFile = {
  path: "/run/cluster-api/placeholder",
  owner: "root:root",
  permissions: "0640",
  content:
    "This placeholder file is used to create the /run/cluster-api sub directory in a way that is compatible with both Linux and Windows (mkdir -p /run/cluster-api does not work with Windows)",
};

export function formatCloudConfig({ files, commands, bootCommands, users, ntp, mounts }: CloudConfig): string {
  const document = {
    write_files: [...files, PLACEHOLDER].map(fileEntry),
    ...(bootCommands.length === 0 ? {} : { bootcmd: bootCommands }),
    runcmd: commands,
    ...(Object.keys(ntp).length === 0 ? {} : { ntp }),
    ...(users.length === 0 ? {} : { users }),
    ...(mounts.length === 0 ? {} : { mounts }),
  };
  return HEADER + formatYaml(document);
}

function fileEntry({ path, content, owner, permissions, encoding, append }: CloudFile): JsonObject {
  return {
    path,
    ...(encoding === undefined ? {} : { encoding }),
    ...(owner === undefined ? {} : { owner }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(append === true ? { append } : {}),
    content,
  };
}

const SUCCESS = "echo success > /run/cluster-api/bootstrap-success.complete";

export const initCommand = (verbosity: string) => `kubeadm init --config /run/kubeadm/kubeadm.yaml ${verbosity} && ${SUCCESS}`;
export const joinCommand = (verbosity: string) => `kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml ${verbosity} && ${SUCCESS}`;
