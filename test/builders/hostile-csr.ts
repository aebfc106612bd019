/** Certificate requests as an attacker writes them: correctly signed, with parts that no agent sends. With DER of its own, so that a mistake in ours is seen. */
import { generateKeyPairSync, sign } from "node:crypto";

export type RequestParts = {
  readonly commonName?: string;
  /** Extensions that the certificate should have. */
  readonly extensions?: readonly Buffer[];
  /** Instead of the public key that the request is signed with. */
  readonly keyInfo?: Buffer;
};

export function csrPem(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
}

export function requestWith(parts: RequestParts): string {
  return csrPem(requestBytes(parts));
}

export function requestBytes({ commonName = "east", extensions = [], keyInfo }: RequestParts): Buffer {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = sequence(element(0x31, sequence(oid("550403"), element(0x0c, Buffer.from(commonName)))));
  const attribute = sequence(oid("2a864886f70d01090e"), element(0x31, sequence(...extensions)));
  const attributes = element(0xa0, extensions.length === 0 ? Buffer.alloc(0) : attribute);
  const info = sequence(integer(Buffer.of(0)), subject, keyInfo ?? publicKey.export({ type: "spki", format: "der" }), attributes);
  const signature = sign("sha256", info, { key: privateKey, dsaEncoding: "der" });
  return sequence(info, sequence(oid("2a8648ce3d040302")), bitString(signature));
}

/** The extension subjectAltName. */
export function otherNames(dnsName: string, uri: string): Buffer {
  const names = sequence(element(0x82, Buffer.from(dnsName)), element(0x86, Buffer.from(uri)));
  return sequence(oid("551d11"), element(0x04, names));
}

/** The extension basicConstraints with CA:TRUE. */
export const AUTHORITY = sequence(oid("551d13"), element(0x01, Buffer.of(0xff)), element(0x04, sequence(element(0x01, Buffer.of(0xff)))));

/** As bytes: a FIPS provider creates no such keys. */
export const RSA_1024 = sequence(
  sequence(oid("2a864886f70d010101"), Buffer.of(5, 0)),
  bitString(sequence(integer(Buffer.concat([Buffer.of(0), Buffer.alloc(128, 0xc5)])), integer(Buffer.of(1, 0, 1)))),
);

export const P_224 = sequence(
  sequence(oid("2a8648ce3d0201"), oid("2b81040021")),
  bitString(Buffer.concat([Buffer.of(4), Buffer.alloc(56, 7)])),
);

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...children: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(children));
}

function oid(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, "hex"));
}

function integer(bytes: Buffer): Buffer {
  return element(0x02, bytes);
}

function bitString(content: Buffer): Buffer {
  return element(0x03, Buffer.concat([Buffer.of(0), content]));
}
