/** Fetching with stubs of apt-get and dpkg: their arguments, and the use of their output. */
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { fetchModule, forRelease, releaseOf } from "./fetch-module.ts";

const DEBIAN = "ID=debian\nVERSION_CODENAME=bookworm\n";
const SOURCES = "URIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\n";
const APT = `#!/bin/sh
for last; do :; done
case "$2" in *sourcelist=*) cp "\${2#*=}" "$RECORD" ;; esac
if [ "$last" = openssl-provider-fips ]; then touch openssl-provider-fips_1_amd64.deb; fi
`;
const DPKG = `#!/bin/sh
mkdir -p "$3/usr/lib/ossl-modules" && echo module > "$3/usr/lib/ossl-modules/fips.so"
`;

async function machine(files: Record<string, string>) {
  const root = await fileTree({ "etc/os-release": DEBIAN, "etc/apt/sources.list.d/debian.sources": SOURCES, ...files });
  for (const name of Object.keys(files).filter((path) => path.startsWith("bin/"))) await chmod(join(root, name), 0o755);
  const env = { ...process.env, PATH: `${join(root, "bin")}:/usr/bin:/bin`, RECORD: join(root, "record") };
  const target = join(root, "cache", "fips.so");
  return { root, target, fetch: () => fetchModule(target, { etc: join(root, "etc"), env }) };
}

describe("fetchModule", () => {
  it("requests the newer release from the machine's own mirror and stores the module", async () => {
    const { root, target, fetch } = await machine({ "bin/apt-get": APT, "bin/dpkg": DPKG });
    expect(await fetch()).toEqual({ ok: true, value: target });
    expect(await readFile(target, "utf8")).toBe("module\n");
    expect(await readFile(join(root, "record"), "utf8")).toBe("URIs: http://mirror.example/debian\nSuites: trixie trixie-updates\n");
  });

  const rows: { name: string; files: Record<string, string>; want: string }[] = [
    {
      name: "another system",
      files: { "etc/os-release": "ID=fedora\n" },
      want: "this is not Debian, and only Debian's package can be fetched",
    },
    {
      name: "a Debian without sources",
      files: { "etc/apt/sources.list.d/debian.sources": "# empty\n" },
      want: "no apt sources of Debian were found in /etc/apt",
    },
    {
      name: "an unreachable mirror",
      files: { "bin/apt-get": "#!/bin/sh\necho 'W: slow' >&2; echo 'E: no route' >&2; exit 100\n" },
      want: "apt-get update failed: E: no route",
    },
    { name: "a release without the package", files: { "bin/apt-get": "#!/bin/sh\n" }, want: "apt-get downloaded no openssl-provider-fips" },
    {
      name: "a package without the module",
      files: { "bin/apt-get": APT, "bin/dpkg": "#!/bin/sh\n" },
      want: "openssl-provider-fips_1_amd64.deb contains no fips.so",
    },
  ];
  it.each(rows)("reports $name in one line", async ({ files, want }) => {
    expect(await (await machine(files)).fetch()).toEqual({ ok: false, error: want });
  });
});

describe("Debian's releases", () => {
  it("are recognized by code name, and other systems are not Debian", () => {
    expect(releaseOf(`NAME="Debian GNU/Linux"\n${DEBIAN}`)).toBe("bookworm");
    expect(releaseOf("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n")).toBeUndefined();
  });

  it("newer ones have the package themselves", () => {
    expect(forRelease("Suites: trixie\n", "trixie")).toBe("Suites: trixie\n");
    expect(forRelease("Suites: forky\n", "forky")).toBe("Suites: forky\n");
  });
});
