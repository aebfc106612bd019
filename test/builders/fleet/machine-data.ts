/** Bootstrap data of machines, as Cluster API writes it. */

export type MachineData = { readonly cluster: string; readonly version: string; readonly after?: readonly string[] };

const SUCCESS = "echo success > /run/cluster-api/bootstrap-success.complete";
const PLACEHOLDER = `-   path: /run/cluster-api/placeholder
    owner: root:root
    permissions: '0640'
    content: "This placeholder file is used to create the /run/cluster-api sub directory"`;

export function controlPlaneData({ cluster, version, after = [] }: MachineData): string {
  return `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: ClusterConfiguration
      clusterName: ${cluster}
      kubernetesVersion: ${version}
      controlPlaneEndpoint: 127.0.0.9:6443
      apiServer:
        certSANs: [127.0.0.9]
      networking:
        podSubnet: 10.244.0.0/16
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: InitConfiguration
      nodeRegistration:
        name: '{{ ds.meta_data.local_hostname }}'
        kubeletExtraArgs:
        - name: node-labels
          value: pool=control-plane
${PLACEHOLDER}
runcmd:
  - 'kubeadm init --config /run/kubeadm/kubeadm.yaml  && ${SUCCESS}'
${after.map((line) => `  - ${JSON.stringify(line)}\n`).join("")}`;
}

export function workerData({ after = [] }: Pick<MachineData, "after">): string {
  return `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: JoinConfiguration
      nodeRegistration:
        name: '{{ ds.meta_data.local_hostname }}'
        taints: []
${PLACEHOLDER}
runcmd:
  - kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml && ${SUCCESS}
${after.map((line) => `  - ${JSON.stringify(line)}\n`).join("")}`;
}
