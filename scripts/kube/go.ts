/** Finds a Go on this machine that can build Kubernetes. */
import { join } from "node:path";
import { err, ok, type Result } from "#base";
import { runProgram } from "../process/run-program.ts";
import { GO_MINIMUM, type Binary } from "./versions.ts";

/** The folder of the go.mod from which a binary is built. */
export function moduleFolder(module: Binary["module"]): string {
  return join(import.meta.dirname, "modules", module);
}

/**
 * Settings of the user or of an editor (a workspace, vendoring, cross-compiling) would change the build. Without cgo no C compiler is
 * needed and the binaries run on any libc.
 */
export function goEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...environment, GOWORK: "off", GOFLAGS: "", GOOS: "", GOARCH: "", CGO_ENABLED: "0" };
}

/** Its version ("go1.26.8"), or why it cannot be used. Run in the folder of the module, where Go may select a newer toolchain. */
export async function findGo(environment: NodeJS.ProcessEnv): Promise<Result<string, string>> {
  const env = goEnvironment(environment);
  const here = await runProgram("go", ["env", "GOVERSION"], { cwd: moduleFolder("kube"), env });
  if (here.code === 0) return checkGoVersion(here.stdout.trim());
  const alone = await runProgram("go", ["version"], { cwd: "/", env });
  return alone.code === 0 ? checkGoVersion(alone.stdout.trim()) : err("Go is not installed");
}

export function checkGoVersion(text: string): Result<string, string> {
  const [version, major, minor] = /go(\d+)\.(\d+)\S*/.exec(text) ?? [];
  if (version === undefined) return err(`Go does not print its version ("${text}")`);
  const isNewEnough = Number(major) > GO_MINIMUM.major || (Number(major) === GO_MINIMUM.major && Number(minor) >= GO_MINIMUM.minor);
  return isNewEnough ? ok(version) : err(`Go is too old (${version}; ${GO_MINIMUM.major}.${GO_MINIMUM.minor} or newer is needed)`);
}
