/**
 * The certificate authority of a cluster and the certificate of its server, in the data folder.
 *
 * A key is written before its certificate. A process that is killed in between leaves a key alone, and the certificate is created for it at
 * the next start. A certificate without its key is damage.
 */
import { andThen, err, map, mapErr, ok, reveal, sensitive, type Clock, type Result, type Sensitive } from "#base";
import {
  createServerAuthority,
  issueServingCertificate,
  reuseServingCertificate,
  type ServingCertificate,
  type ServingRequest,
} from "#kube-server";
import { loadCertificateAuthority, type CertificateAuthority, type KeyPairPem, type PkiError } from "#pki";
import { IDENTITY_FILES, identityFile, type IdentityFile } from "./identity-file.ts";

type PairFiles = { readonly certificate: IdentityFile; readonly key: IdentityFile; readonly remedy: string };

function authorityFiles(folder: string): PairFiles {
  return {
    certificate: identityFile(folder, IDENTITY_FILES.authorityCertificate),
    key: identityFile(folder, IDENTITY_FILES.authorityKey),
    remedy:
      "restore ca.crt and ca.key from a copy, or delete both to create a new certificate authority; kubeconfigs that were issued before then stop working",
  };
}

function servingFiles(folder: string): PairFiles {
  return {
    certificate: identityFile(folder, IDENTITY_FILES.servingCertificate),
    key: identityFile(folder, IDENTITY_FILES.servingKey),
    remedy: "delete apiserver.crt and apiserver.key, and both are created at the next start; kubeconfigs stay valid",
  };
}

type StoredPair = { readonly certificate: string | undefined; readonly key: Sensitive<string> | undefined };

export function openAuthority(folder: string, clock: Clock): Result<CertificateAuthority, string> {
  const files = authorityFiles(folder);
  return andThen(readPair(files), ({ certificate, key }) => {
    if (certificate === undefined || key === undefined) {
      return andThen(describe(createServerAuthority(clock, key), files), (made) => map(writePair(files, made, key), () => made));
    }
    return andThen(describe(loadCertificateAuthority({ certificate, key }), files), (loaded) => {
      if (loaded.notAfter.getTime() > clock.now()) return ok(loaded);
      return err(`${files.certificate.path}: the certificate authority expired on ${loaded.notAfter.toISOString()}; ${files.remedy}`);
    });
  });
}

/** The stored certificate, or a new one for the same key when another address is wanted or it soon expires. */
export function openServingCertificate(folder: string, request: Omit<ServingRequest, "key">): Result<ServingCertificate, string> {
  const files = servingFiles(folder);
  return andThen(readPair(files), ({ certificate, key }) => {
    const stored = certificate === undefined || key === undefined ? ok(undefined) : reuseServingCertificate({ certificate, key }, request);
    return andThen(describe(stored, files), (reused) => {
      if (reused !== undefined) return ok(reused);
      const issued = describe(issueServingCertificate({ ...request, ...(key === undefined ? {} : { key }) }), files);
      return andThen(issued, (made) => map(writePair(files, made.server, key), () => made));
    });
  });
}

function readPair({ certificate, key, remedy }: PairFiles): Result<StoredPair, string> {
  return andThen(key.read(), (keyText) =>
    andThen(certificate.read(), (certificateText) => {
      if (certificateText !== undefined && keyText === undefined) return err(`${key.path} is missing; ${remedy}`);
      return ok({ certificate: certificateText, key: keyText === undefined ? undefined : sensitive(keyText) });
    }),
  );
}

/** `existing`: the key that is stored already. */
function writePair(files: PairFiles, made: KeyPairPem, existing: Sensitive<string> | undefined): Result<void, string> {
  const written = existing === undefined ? files.key.write(reveal(made.key)) : ok(undefined);
  return andThen(written, () => files.certificate.write(made.certificate));
}

function describe<T>(result: Result<T, PkiError>, { certificate, key, remedy }: PairFiles): Result<T, string> {
  return mapErr(result, ({ kind, message }) => {
    switch (kind) {
      case "invalid-certificate":
        return `${certificate.path}: ${message}; ${remedy}`;
      case "invalid-key":
        return `${key.path}: ${message}; ${remedy}`;
      case "mismatch":
        return `${key.path}: ${message} in ${certificate.path}; ${remedy}`;
      case "invalid-csr":
      case "invalid-request":
        return message;
    }
  });
}
