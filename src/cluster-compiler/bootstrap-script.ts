/**
 * The script that registers a new cluster with its parent, and the files beside it. `kubeadm` machines run it after `kubeadm init` and `join`.
 *
 * It runs on every control-plane machine for ever, years after the parent is gone too: it exits with 0 in all cases, at once where the operator
 * is installed, and after a limited number of tries without a parent. The token is never an argument of a process: `ps` shows those to all users.
 */
import type { JsonObject } from "#kube";
import { parseAddress } from "./networks.ts";

type ScriptInput = {
  readonly cluster: string;
  readonly host: string;
  readonly port: number;
};

export type BootstrapInput = ScriptInput & { readonly caBundle: string; readonly tokenSecret: string };

/** Cluster API's limit for the content of a file. */
export const MOST_FILE_CHARACTERS = 10_240;
const FOLDER = "/etc/lattice";
const TRIES = 120;
const PAUSE_SECONDS = 10;

/** The fields of `kubeadmConfigSpec` that matter only when a machine starts. They are never changed on an existing control plane. */
export function bootstrapFields({ caBundle, tokenSecret, ...script }: BootstrapInput): JsonObject {
  const ownedByRoot = { owner: "root:root" };
  return {
    files: [
      { path: `${FOLDER}/bootstrap.sh`, ...ownedByRoot, permissions: "0700", content: bootstrapScript(script) },
      { path: `${FOLDER}/cell-ca.crt`, ...ownedByRoot, permissions: "0644", content: caBundle },
      { path: `${FOLDER}/token`, ...ownedByRoot, permissions: "0600", contentFrom: { secret: { name: tokenSecret, key: "token" } } },
    ],
    postKubeadmCommands: [`sh ${FOLDER}/bootstrap.sh`],
  };
}

/** The host and port of a URL; an IPv6 address is in brackets. */
function authority(host: string, port: number): string {
  return parseAddress(host)?.family === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** POSIX sh. The report is JSON, so the text of an error is limited to ASCII without quotes and backslashes. */
export function bootstrapScript({ cluster, host, port }: ScriptInput): string {
  return `#!/bin/sh
# Registers cluster ${cluster} with its parent. Written by Lattice; runs on each control-plane machine. It always exits with 0.
set -u
umask 077
LC_ALL=C
export LC_ALL
root="\${LATTICE_ROOT:-}"
home="$root${FOLDER}"
work="$root/run/lattice"
admin="$root/etc/kubernetes/admin.conf"
api='https://${authority(host, port)}/api/clusters'

log() { echo "lattice: $1"; }

installed() {
  kubectl --kubeconfig "$admin" --request-timeout=30s get deployment lattice-operator --namespace lattice-system --output name >/dev/null 2>&1
}

# send PATH OUTPUT ARGUMENTS: the token is in a file, not in the arguments
send() {
  path=$1
  output=$2
  shift 2
  curl --silent --show-error --fail --proto '=https' --cacert "$home/cell-ca.crt" --connect-timeout 10 --max-time 60 \\
    --request POST --header "@$work/header" --output "$output" "$@" "$api/$path" 2>"$work/error"
}

apply() {
  kubectl --kubeconfig "$admin" --request-timeout=60s apply --server-side --force-conflicts --filename "$work/manifests.yaml" >/dev/null 2>"$work/error"
}

# plain TEXT: sets $text to the part that is safe inside a JSON string
plain() {
  rest=$1
  text=''
  left=300
  while [ -n "$rest" ] && [ "$left" -gt 0 ]; do
    char=\${rest%"\${rest#?}"}
    rest=\${rest#?}
    case "$char" in
      '"' | \\\\ | [!\\ -~]) char=' ' ;;
    esac
    text="$text$char"
    left=$((left - 1))
  done
}

report() {
  log "step $1 failed"
  message=''
  lines=0
  while [ "$lines" -lt 3 ] && IFS= read -r line; do
    plain "$line"
    message="$message$text "
    lines=$((lines + 1))
  done <"$work/error"
  node=''
  if [ -r "$root/etc/hostname" ]; then read -r node <"$root/etc/hostname"; fi
  plain "$node"
  printf '{"step":"%s","message":"%s","node":"%s"}' "$1" "$message" "$text" >"$work/report"
  send ${cluster}/report /dev/null --header 'Content-Type: application/json' --data-binary "@$work/report" || log "the parent cannot be reached"
}

clean() {
  for file in header manifests.yaml error report; do
    if [ -e "$work/$file" ]; then : >"$work/$file"; fi
  done
}

bootstrap() {
  step=register
  try=0
  failures=0
  while [ "$try" -lt ${TRIES} ]; do
    try=$((try + 1))
    if [ "$step" = register ]; then
      if installed; then
        log "the operator is installed"
        return
      fi
      if send register "$work/manifests.yaml" --data ''; then step=apply; fi
    fi
    if [ "$step" = apply ]; then
      if apply; then
        log "the operator was installed"
        return
      fi
      # the API server of a new cluster may restart, so the first failure is not reported
      failures=$((failures + 1))
      if [ "$failures" -eq 2 ]; then report apply; fi
    fi
    sleep ${PAUSE_SECONDS}
  done
  log "gave up after $try tries"
  report "$step"
}

trap 'exit 0' HUP INT TERM
if installed; then
  log "the operator is installed"
  exit 0
fi
trap clean EXIT
if mkdir -p "$work" && { printf 'Authorization: Bearer ' && cat "$home/token" && echo; } >"$work/header"; then
  bootstrap
else
  log "the token cannot be read"
fi
exit 0
`;
}
