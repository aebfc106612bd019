/** Values for `${config.*}`: the same in a LatticeServiceConfig and in an environment's defaults. Keys may be dotted: `redis.host`. */
import { mapOf, type KeyRule } from "../collections.ts";
import { anyText } from "../fields.ts";
import { celPattern, matcher } from "../rules.ts";

const CONFIG_KEY = "^[A-Za-z_][-A-Za-z0-9_]*([.][A-Za-z0-9_][-A-Za-z0-9_]*)*$";

const isConfigKey = matcher(CONFIG_KEY);

const configKeys: KeyRule = {
  cel: `key != '__proto__' && size(key) <= 253 && key.matches(${celPattern(CONFIG_KEY)})`,
  message: "each key must be names of letters, digits, '-' and '_', joined by '.', such as redis.host",
  holds: (key) => key !== "__proto__" && key.length <= 253 && isConfigKey(key),
};

export const configValues = (description: string) =>
  mapOf(description, anyText("Value; numbers in quotes.", 32_768), { max: 512, keys: configKeys });
