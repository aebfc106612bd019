/**
 * Addresses in the arguments of an operator that is a process of this machine. A Pod has addresses of its own, and listens on all of them; processes
 * share those of the machine, so they listen on loopback, each on a free port. Pure.
 */
const ANY_LOOPBACK_PORT = "127.0.0.1:0";
const WEBHOOK_FLAG = "--webhook-address";
const ADDRESS_FLAGS: readonly string[] = ["--health-address", WEBHOOK_FLAG];
const LOOPBACK = /^(?:127(?:\.[0-9]{1,3}){3}|\[::1\]|localhost):/;

/** API servers of the machine reach the webhook at its address, because there is no network of Pods. */
export function withLoopbackAddresses(args: readonly string[]): readonly string[] {
  const replaced = args.map((argument, at) => {
    const [flag, value] = splitOnce(argument);
    if (value !== undefined && ADDRESS_FLAGS.includes(flag)) return LOOPBACK.test(value) ? argument : `${flag}=${ANY_LOOPBACK_PORT}`;
    return ADDRESS_FLAGS.includes(args[at - 1] ?? "") && !LOOPBACK.test(argument) ? ANY_LOOPBACK_PORT : argument;
  });
  const hasWebhook = args.some((argument) => splitOnce(argument)[0] === WEBHOOK_FLAG);
  return hasWebhook ? replaced : [...replaced, WEBHOOK_FLAG, ANY_LOOPBACK_PORT];
}

function splitOnce(argument: string): readonly [string, string | undefined] {
  const equals = argument.indexOf("=");
  return equals < 0 ? [argument, undefined] : [argument.slice(0, equals), argument.slice(equals + 1)];
}
