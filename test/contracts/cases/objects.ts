/** Objects that several areas use. Mostly of kinds without a controller, so that objects stay as the contract wrote them. */

export const configMap = (name: string, data: Readonly<Record<string, string>> = {}, more: object = {}) => ({
  metadata: { name, ...more },
  data,
});

/** A PodTemplate has all the lists that are merged by key, and no controller. */
export const podTemplate = (name: string, spec: object = {}) => ({
  metadata: { name },
  template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image: "example.test/web:1" }], ...spec } },
});

export const deployment = (name: string, spec: object = {}, pod: object = {}) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image: "example.test/web:1" }], ...pod } },
    ...spec,
  },
});

export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { automountServiceAccountToken: false, containers: [{ name: "web", image: "example.test/web:1" }], ...spec },
});

export const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});
