/** Servers of packages whose names must not be committed. Container registries are not included: image names are product data. */
import type { Exception } from "./crypto-rules.ts";

export const REGISTRY_HOSTS =
  /\b(?:registry\.npmjs\.org|registry\.yarnpkg\.com|registry\.npmmirror\.com|npm\.pkg\.github\.com|proxy\.golang\.org|sum\.golang\.org|deb\.debian\.org|security\.debian\.org|snapshot\.debian\.org|pypi\.org|files\.pythonhosted\.org|static\.crates\.io|[\w.-]+\.jfrog\.io)\b/g;

export const REGISTRY_EXCEPTIONS: readonly Exception[] = [
  { file: "scripts/check/registry-hosts.ts", why: "is the list" },
  { file: "scripts/check/pins.test.ts", why: "proves that the check refuses them" },
];
