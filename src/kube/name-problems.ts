/**
 * Names as the API server checks them, with its messages: people search for them.
 *
 * The parsers in `names.ts` return brands and Lattice's own messages; these functions return the server's, and a name can have several errors.
 */
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;

const LABEL_REGEX = new RegExp(`^${LABEL}$`);
const SUBDOMAIN_REGEX = new RegExp(`^${SUBDOMAIN}$`);
const LABEL_1035_REGEX = new RegExp(`^${LABEL_1035}$`);
const QUALIFIED_REGEX = new RegExp(`^${QUALIFIED}$`);
const LABEL_VALUE_REGEX = new RegExp(`^${LABEL_VALUE}$`);

const LABEL_RULE = regexText(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  ["my-name", "123-abc"],
);
const SUBDOMAIN_RULE = regexText(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  ["example.com"],
);
const LABEL_1035_RULE = regexText(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  LABEL_1035,
  ["my-name", "abc-123"],
);
const QUALIFIED_RULE = regexText(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  ["MyName", "my.name", "123-abc"],
);
const LABEL_VALUE_RULE = regexText(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  ["MyValue", "my_value", "12345"],
);

function regexText(rule: string, regex: string, examples: readonly string[]): string {
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${regex}')`;
}

function tooLong(value: string, max: number): readonly string[] {
  return value.length > max ? [`must be no more than ${max} characters`] : [];
}

export function dnsLabelProblems(value: string): readonly string[] {
  const problems = tooLong(value, 63);
  if (LABEL_REGEX.test(value)) return problems;
  return [...problems, SUBDOMAIN_REGEX.test(value) ? "must not contain dots" : LABEL_RULE];
}

export function dnsSubdomainProblems(value: string): readonly string[] {
  const problems = tooLong(value, 253);
  return SUBDOMAIN_REGEX.test(value) ? problems : [...problems, SUBDOMAIN_RULE];
}

export function dns1035LabelProblems(value: string): readonly string[] {
  const problems = tooLong(value, 63);
  return LABEL_1035_REGEX.test(value) ? problems : [...problems, LABEL_1035_RULE];
}

export function labelValueProblems(value: string): readonly string[] {
  const problems = tooLong(value, 63);
  return LABEL_VALUE_REGEX.test(value) ? problems : [...problems, LABEL_VALUE_RULE];
}

/** Label keys, annotation keys, finalizers: "name" or "prefix/name". */
export function qualifiedNameProblems(value: string): readonly string[] {
  const parts = value.split("/");
  if (parts.length > 2)
    return [`a valid label key ${QUALIFIED_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const [prefix, name] = parts.length === 2 ? [parts[0] ?? "", parts[1] ?? ""] : [undefined, value];
  const problems: string[] = [];
  if (prefix === "") problems.push("prefix part must be non-empty");
  else if (prefix !== undefined) problems.push(...dnsSubdomainProblems(prefix).map((text) => `prefix part ${text}`));
  if (name === "") problems.push("name part must be non-empty");
  else problems.push(...tooLong(name, 63).map((text) => `name part ${text}`));
  if (!QUALIFIED_REGEX.test(name)) problems.push(`name part ${QUALIFIED_RULE}`);
  return problems;
}

/** A name that must only be valid in a URL path: of resources embedded in others. */
export function pathSegmentProblems(value: string): readonly string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].flatMap((text) => (value.includes(text) ? [`may not contain '${text}'`] : []));
}

/** The name to validate for a generateName: a trailing dash is allowed, because a suffix will follow. */
export function asPrefix(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}
