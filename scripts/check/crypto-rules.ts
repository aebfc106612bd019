/**
 * The rules of the check `crypto`, as data. All cryptography is OpenSSL's, through node:crypto, with SHA-2 and P-256/P-384: a FIPS provider
 * underneath covers it. Cryptography written in JavaScript is never covered.
 */
export type BannedPackage = { readonly name: string; readonly why: string };
export type Exception = { readonly file: string; readonly why: string };

/** `@scope/*` is the whole scope. */
export const BANNED_PACKAGES: readonly BannedPackage[] = [
  { name: "node-forge", why: "TLS, X.509 and ciphers in JavaScript" },
  { name: "crypto-js", why: "ciphers and hashes in JavaScript" },
  { name: "sjcl", why: "ciphers in JavaScript" },
  { name: "asmcrypto.js", why: "ciphers in JavaScript" },
  { name: "aes-js", why: "AES in JavaScript" },
  { name: "elliptic", why: "elliptic curves in JavaScript, with a history of signature bugs" },
  { name: "secp256k1", why: "a curve outside P-256 and P-384" },
  { name: "tweetnacl", why: "curve 25519 in JavaScript" },
  { name: "libsodium-wrappers", why: "cryptography in WebAssembly" },
  { name: "@noble/*", why: "curves, ciphers and hashes in JavaScript" },
  { name: "@stablelib/*", why: "ciphers and hashes in JavaScript" },
  { name: "@peculiar/*", why: "X.509 and WebCrypto beside OpenSSL; pki/ has its own DER reader and writer" },
  { name: "jsrsasign", why: "RSA and X.509 in JavaScript" },
  { name: "node-rsa", why: "RSA in JavaScript" },
  { name: "openpgp", why: "OpenPGP in JavaScript" },
  { name: "bcrypt", why: "Blowfish, which no FIPS provider has" },
  { name: "bcryptjs", why: "Blowfish in JavaScript" },
  { name: "argon2", why: "a password hash that no FIPS provider has" },
  { name: "scrypt-js", why: "a password hash in JavaScript" },
  { name: "blakejs", why: "BLAKE2 in JavaScript" },
  { name: "hash.js", why: "hashes in JavaScript" },
  { name: "hash-wasm", why: "hashes in WebAssembly" },
  { name: "sha.js", why: "hashes in JavaScript" },
  { name: "js-sha256", why: "a hash in JavaScript; #base has sha256Hex" },
  { name: "js-sha3", why: "a hash in JavaScript" },
  { name: "md5", why: "a broken hash" },
  { name: "md5.js", why: "a broken hash" },
  { name: "js-md5", why: "a broken hash" },
  { name: "blueimp-md5", why: "a broken hash" },
  { name: "spark-md5", why: "a broken hash" },
  { name: "ts-md5", why: "a broken hash" },
  { name: "sha1", why: "a broken hash" },
  { name: "js-sha1", why: "a broken hash" },
  { name: "object-hash", why: "uses SHA-1 by default" },
  { name: "create-hash", why: "hashes in JavaScript" },
  { name: "create-hmac", why: "HMAC in JavaScript" },
  { name: "pbkdf2", why: "PBKDF2 in JavaScript" },
  { name: "randombytes", why: "randomness beside OpenSSL's" },
  { name: "crypto-browserify", why: "node:crypto rewritten in JavaScript" },
];

/**
 * The two broken hashes by name: as a token ("rsa-sha1", "sha1WithRSAEncryption") or inside a camel-cased one ("hmacSha1"). Not within
 * other text: base64 in test data can contain the letters.
 */
export const BROKEN_HASH = /(?:(?<![A-Za-z0-9])(?:[Mm][Dd]5|[Ss][Hh][Aa]-?1)|(?<=[a-z]{2})(?:MD5|Md5|SHA1|Sha1))(?![0-9])/g;

/** Files that may contain refused names. An entry that is no longer needed is a finding itself. */
export const CRYPTO_EXCEPTIONS: readonly Exception[] = [
  { file: "scripts/check/crypto-rules.ts", why: "is the list" },
  { file: "scripts/check/crypto.test.ts", why: "proves that the check refuses them" },
  { file: "scripts/check/gate.test.ts", why: "proves that the gate refuses them" },
  { file: "scripts/fips/probe.ts", why: "proves that the FIPS provider refuses them" },
];
