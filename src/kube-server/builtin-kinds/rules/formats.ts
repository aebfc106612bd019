/** The forms that names and short texts must have; each check gives the server's sentences about what is wrong, or none. */

export type Messages = readonly string[];
export type TextRule = (text: string) => Messages;

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const KEY_MESSAGE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const WHOLE_LABEL = whole(LABEL);
const WHOLE_SUBDOMAIN = whole(SUBDOMAIN);
const WHOLE_KEY = whole(KEY);

/** A shared empty list, because nearly every text is valid. */
const RIGHT: Messages = [];

function whole(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`);
}

export function regexMessage(message: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${message} (${shown === "" ? "" : `e.g. ${shown}`}regex used for validation is '${pattern}')`;
}

function longerThan(text: string, max: number, unit = "characters"): Messages {
  return text.length > max ? [`must be no more than ${max} ${unit}`] : [];
}

export function dnsLabel(text: string): Messages {
  if (WHOLE_LABEL.test(text)) return text.length <= 63 ? RIGHT : longerThan(text, 63);
  const dots = WHOLE_SUBDOMAIN.test(text);
  return [...longerThan(text, 63), dots ? "must not contain dots" : regexMessage(LABEL_MESSAGE, LABEL, "my-name", "123-abc")];
}

export function dnsSubdomain(text: string): Messages {
  if (WHOLE_SUBDOMAIN.test(text)) return text.length <= 253 ? RIGHT : longerThan(text, 253);
  return [...longerThan(text, 253), regexMessage(SUBDOMAIN_MESSAGE, SUBDOMAIN, "example.com")];
}

/** The same name where the rule is declared with the type: it counts bytes. */
export function longName(text: string): Messages {
  return dnsSubdomain(text).map((message) => message.replace("253 characters", "253 bytes"));
}

const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035_MESSAGE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";

/** An older form of label: it begins with a letter. */
export function dns1035Label(text: string): Messages {
  return [
    ...longerThan(text, 63),
    ...(whole(LABEL_1035).test(text) ? [] : [regexMessage(LABEL_1035_MESSAGE, LABEL_1035, "my-name", "abc-123")]),
  ];
}

/** A search path of a resolver: underscores are common there, and a final dot is allowed. */
export function dnsSearch(text: string): Messages {
  const label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
  const pattern = `${label}(\\.${label})*`;
  const message = SUBDOMAIN_MESSAGE.replace("characters, '-'", "characters, '_', '-'");
  const bare = text.replace(/\.$/, "");
  return [...longerThan(bare, 253), ...(whole(pattern).test(bare) ? [] : [regexMessage(message, pattern, "example.com")])];
}

export function wildcardSubdomain(text: string): Messages {
  const pattern = `\\*\\.${SUBDOMAIN}`;
  const message =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
  return [...longerThan(text, 253), ...(whole(pattern).test(text) ? [] : [regexMessage(message, pattern, "*.example.com")])];
}

/** Label keys, annotation keys, finalizers, condition types. */
export function qualifiedName(text: string): Messages {
  if (text.length <= 63 && WHOLE_KEY.test(text)) return RIGHT;
  const parts = text.split("/");
  const [first = "", second = ""] = parts;
  const right = parts.length === 2 && second.length <= 63 && first.length <= 253 && WHOLE_KEY.test(second) && WHOLE_SUBDOMAIN.test(first);
  return right ? RIGHT : wrongQualifiedName(parts);
}

function wrongQualifiedName(parts: readonly string[]): Messages {
  const [first = "", second] = parts;
  const wrongName = regexMessage(KEY_MESSAGE, KEY, "MyName", "my.name", "123-abc");
  if (parts.length > 2) {
    return [`a valid label key ${wrongName} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = second ?? first;
  const messages: string[] = [];
  if (second !== undefined) {
    if (first === "") messages.push("prefix part must be non-empty");
    else messages.push(...keySubdomain(first).map((message) => `prefix part ${message}`));
  }
  if (name === "") messages.push("name part must be non-empty");
  else messages.push(...longerThan(name, 63, "bytes").map((message) => `name part ${message}`));
  if (!WHOLE_KEY.test(name)) messages.push(`name part ${wrongName}`);
  return messages;
}

/** As dnsSubdomain, with "bytes" in the sentence about length. */
function keySubdomain(text: string): Messages {
  return dnsSubdomain(text).map((message) => message.replace(/^(must be no more than \d+) characters$/, "$1 bytes"));
}

export function labelValue(text: string): Messages {
  const fits = text === "" || WHOLE_KEY.test(text);
  if (fits && text.length <= 63) return RIGHT;
  const message =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const wrong = fits ? [] : [regexMessage(message, `(${KEY})?`, "MyValue", "my_value", "12345")];
  return [...longerThan(text, 63, "bytes"), ...wrong];
}

/** Names that need only be usable in a path, such as those of Roles. */
export function pathSegment(text: string): Messages {
  if (!/^\.{1,2}$|[/%]/.test(text)) return RIGHT;
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return ["/", "%"].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`);
}

export function dataKey(text: string): Messages {
  const fits = /^[-._a-zA-Z0-9]+$/.test(text);
  if (fits && text.length <= 253 && !text.startsWith(".")) return RIGHT;
  const message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const wrong = fits ? [] : [regexMessage(message, "[-._a-zA-Z0-9]+", "key.name", "KEY_NAME", "key-name")];
  return [...longerThan(text, 253), ...wrong, ...noDots(text)];
}

function noDots(text: string): Messages {
  if (text === "." || text === "..") return [`must not be '${text}'`];
  return text.startsWith("..") ? ["must not start with '..'"] : [];
}

export function envName(text: string): Messages {
  const printable = /^[\x20-<>-\x7e]*$/.test(text);
  return printable ? RIGHT : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export function portName(text: string): Messages {
  if (text.length <= 15 && /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(text)) return RIGHT;
  return [
    ...longerThan(text, 15),
    ...(/^[-a-z0-9]+$/.test(text) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
    ...(/[a-z]/.test(text) ? [] : ["must contain at least one letter (a-z)"]),
    ...(text.includes("--") ? ["must not contain consecutive hyphens"] : []),
    ...(/^-|-$/.test(text) ? ["must not begin or end with a hyphen"] : []),
  ];
}

export function httpHeaderName(text: string): Messages {
  if (/^[-A-Za-z0-9]+$/.test(text)) return [];
  return [regexMessage("a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+", "X-Header-Name")];
}

export function portNumber(port: number): Messages {
  return port >= 1 && port <= 65_535 ? RIGHT : ["must be between 1 and 65535, inclusive"];
}
