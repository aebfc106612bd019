import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { err, expectOk, ok } from "#base";
import { formatYaml } from "#kube";
import { parseCloudConfig } from "./cloud-config.ts";

const parse = (text: string) => parseCloudConfig(text, "m1");
const textOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("utf8");

describe("bootstrap data", () => {
  it("of Cluster API has files, commands, and keys that are ignored", () => {
    const config = expectOk(
      parse(`## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      name: '{{ ds.meta_data.local_hostname }}'
-   path: /etc/a
    encoding: "gzip+base64"
    append: true
    content: |
      ${gzipSync("packed").toString("base64")}
-   path: /etc/b
    encoding: b64
    permissions: 0600
    content: dGV4dA==
-   path: /etc/empty
runcmd:
  - 'kubeadm init --config /run/kubeadm/kubeadm.yaml  && echo success > /run/cluster-api/bootstrap-success.complete'
  - [echo, 1, true]
ntp:
  enabled: true
`),
    );
    expect(config.files.map(({ path, content, mode, append }) => [path, textOf(content), mode, append])).toEqual([
      ["/run/kubeadm/kubeadm.yaml", "---\nname: 'm1'\n", 0o640, false],
      ["/etc/a", "packed", 0o644, true],
      ["/etc/b", "text", 0o600, false],
      ["/etc/empty", "", 0o644, false],
    ]);
    expect(config.commands[1]).toEqual(["echo", "1", "true"]);
    expect(config.ignored).toEqual(["ntp"]);
  });

  it("that is no template keeps its braces", () => {
    const { commands } = expectOk(parse("#cloud-config\nruncmd: ['echo {{ ds.meta_data.hostname }}']\n"));
    expect(commands).toEqual(["echo {{ ds.meta_data.hostname }}"]);
  });

  test.each([
    { name: "is no cloud-config", text: "#!/bin/sh\n", want: "the bootstrap data is not a cloud-config: it has no line #cloud-config" },
    { name: "is too large", text: `#cloud-config\n#${"x".repeat(2 ** 21)}`, want: "the bootstrap data is larger than 2097152 bytes" },
    { name: "has two documents", text: "#cloud-config\na: 1\n---\nb: 1\n", want: "the bootstrap data must be one YAML document with keys" },
    { name: "is a list", text: "#cloud-config\n- a\n", want: "the bootstrap data must be one YAML document with keys" },
    { name: "has no list of files", text: "#cloud-config\nwrite_files: a\n", want: "write_files: must be a list" },
    {
      name: "has a command that is a map",
      text: "#cloud-config\nruncmd: [{a: b}]\n",
      want: "runcmd[0]: must be a text or a list of texts",
    },
    { name: "has a nested command", text: "#cloud-config\nruncmd: [[[a]]]\n", want: "runcmd[0]: must be a text or a list of texts" },
    {
      name: "has a relative path",
      text: "#cloud-config\nwrite_files: [{path: a}]\n",
      want: "write_files[0].path: must be the absolute path of a file",
    },
    {
      name: "has a wrong mode",
      text: "#cloud-config\nwrite_files: [{path: /a, permissions: rwx}]\n",
      want: "write_files[0].permissions: must be octal digits such as '0640'",
    },
    {
      name: "has no text",
      text: "#cloud-config\nwrite_files: [{path: /a, content: [1]}]\n",
      want: "write_files[0].content: must be a text",
    },
    {
      name: "has invalid base64",
      text: "#cloud-config\nwrite_files: [{path: /a, encoding: b64, content: '*'}]\n",
      want: "write_files[0]: content: is not valid base64",
    },
    {
      name: "has an unknown encoding",
      text: "#cloud-config\nwrite_files: [{path: /a, encoding: rot13}]\n",
      want: "write_files[0]: encoding: must be one of text/plain, b64, base64, gz+b64, gz+base64, gzip+b64, gzip+base64",
    },
    { name: "has many entries", text: `#cloud-config\nruncmd: [${"a,".repeat(1_001)}]\n`, want: "runcmd: has more than 1000 entries" },
  ])("that $name is refused with one sentence", ({ text, want }) => {
    expect(parse(text)).toEqual(err(want));
  });

  it("that cannot be parsed or decompressed is refused", () => {
    expect(parse("#cloud-config\na: [\n")).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^the bootstrap data is not valid YAML: /) as string,
    });
    const bomb = gzipSync(Buffer.alloc(11 * 1024 * 1024)).toString("base64");
    for (const content of ["dGV4dA==", bomb]) {
      const refused = parse(`#cloud-config\nwrite_files: [{path: /a, encoding: gz+b64, content: '${content}'}]\n`);
      expect(refused).toMatchObject({
        ok: false,
        error: expect.stringMatching(/^write_files\[0\]: content: cannot be decompressed: /) as string,
      });
    }
  });

  it("keeps every file and command, whatever they contain", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 60 });
    const file = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), content: text, packed: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(file, { maxLength: 5 }),
        fc.array(fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 4 })), { maxLength: 5 }),
        (files, runcmd) => {
          const writeFiles = files.map(({ name, content, packed }) =>
            packed
              ? { path: `/etc/${name}`, encoding: "gzip+b64", content: gzipSync(content).toString("base64") }
              : { path: `/etc/${name}`, content },
          );
          const config = parse(`#cloud-config\n${formatYaml({ write_files: writeFiles, runcmd })}`);
          expect(config).toMatchObject(ok({ commands: runcmd, ignored: [] }));
          expect(expectOk(config).files.map(({ path, content }) => [path, textOf(content)])).toEqual(
            files.map(({ name, content }) => [`/etc/${name}`, content]),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.boolean(), (json, whole) => {
        parse(`#cloud-config\n${whole ? json : `{"write_files": ${json}, "runcmd": ${json}}`}`);
      }),
      { numRuns: 200 },
    );
  });
});
