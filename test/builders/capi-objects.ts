/** The objects of a cluster of Cluster API, as a user writes them: the example of the in-memory provider, and the same for local machines. */

/** One control-plane machine and two workers on the in-memory provider. `startup`: how long VM and Node take to start; `components`: etcd and API server. */
export function devClusterYaml(name: string, startup = "1s", components = startup): string {
  return `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: ${name}, namespace: ${name}}
spec:
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.128.0.0/12]}, serviceDomain: cluster.local}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: ${name}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: ${name}-cp}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevCluster
metadata: {name: ${name}, namespace: ${name}, annotations: {lattice.dev/backend: inMemory}}
spec: {backend: {inMemory: {}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: ${name}-cp, namespace: ${name}}
spec:
  replicas: 1
  version: v1.36.3
  machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: ${name}-cp}}}
  kubeadmConfigSpec:
    clusterConfiguration: {apiServer: {certSANs: [localhost, 127.0.0.1]}}
    initConfiguration: {nodeRegistration: {criSocket: "unix:///var/run/containerd/containerd.sock"}}
    joinConfiguration: {nodeRegistration: {criSocket: "unix:///var/run/containerd/containerd.sock"}}
    postKubeadmCommands: ["echo lattice-post-kubeadm ${name}"]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata: {name: ${name}-cp, namespace: ${name}}
spec: {template: {spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: ${startup}}}, node: {provisioning: {startupDuration: ${startup}}}, apiServer: {provisioning: {startupDuration: ${components}}}, etcd: {provisioning: {startupDuration: ${components}}}}}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata: {name: ${name}-md, namespace: ${name}}
spec: {template: {spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: ${startup}}}, node: {provisioning: {startupDuration: ${startup}}}}}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: ${name}-md, namespace: ${name}}
spec: {template: {spec: {joinConfiguration: {nodeRegistration: {criSocket: "unix:///var/run/containerd/containerd.sock"}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: ${name}-md, namespace: ${name}}
spec:
  clusterName: ${name}
  replicas: 2
  selector: {matchLabels: {}}
  template:
    spec:
      clusterName: ${name}
      version: v1.36.3
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name}-md}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: ${name}-md}
`;
}

export type LocalClusterShape = { readonly controlPlanes?: number; readonly workers?: number; readonly version?: string };

/** A cluster of local machines. Its endpoint is an address where nothing listens: requests go through the kubeconfig. */
export function localClusterYaml(name: string, { controlPlanes = 1, workers = 2, version = "v1.36.3" }: LocalClusterShape = {}): string {
  const template = "{apiGroup: infrastructure.lattice.dev, kind: LocalMachineTemplate, name: NAME}";
  return `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: ${name}, namespace: ${name}}
spec:
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.128.0.0/12]}, serviceDomain: cluster.local}
  controlPlaneEndpoint: {host: 127.0.0.9, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.lattice.dev, kind: LocalCluster, name: ${name}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: ${name}-cp}
---
apiVersion: infrastructure.lattice.dev/v1alpha1
kind: LocalCluster
metadata: {name: ${name}, namespace: ${name}}
spec: {}
---
apiVersion: infrastructure.lattice.dev/v1alpha1
kind: LocalMachineTemplate
metadata: {name: ${name}-cp, namespace: ${name}}
spec: {template: {spec: {}}}
---
apiVersion: infrastructure.lattice.dev/v1alpha1
kind: LocalMachineTemplate
metadata: {name: ${name}-md, namespace: ${name}}
spec: {template: {spec: {}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: ${name}-md, namespace: ${name}}
spec: {template: {spec: {joinConfiguration: {nodeRegistration: {name: worker}}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: ${name}-cp, namespace: ${name}}
spec:
  replicas: ${controlPlanes}
  version: ${version}
  machineTemplate: {spec: {infrastructureRef: ${template.replace("NAME", `${name}-cp`)}}}
  kubeadmConfigSpec:
    clusterConfiguration: {apiServer: {certSANs: [localhost, 127.0.0.1]}}
    preKubeadmCommands: ["echo before"]
    postKubeadmCommands: ["echo after"]
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: ${name}-md, namespace: ${name}}
spec:
  clusterName: ${name}
  replicas: ${workers}
  selector: {matchLabels: {}}
  template:
    spec:
      clusterName: ${name}
      version: ${version}
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: ${name}-md}}
      infrastructureRef: ${template.replace("NAME", `${name}-md`)}
`;
}
