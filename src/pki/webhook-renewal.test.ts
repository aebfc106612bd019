import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { createCellAuthorities, trustBundle, type CellAuthorities } from "./cell-authorities.ts";
import { createCertificateAuthority, issueCertificate } from "./certificate.ts";
import { decideWebhookRenewal, issueWebhookCertificate, type WebhookTrustState } from "./webhook-renewal.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 1);
const NAMES = ["capi-webhook-service.capi-system.svc"];

const authorities = expectOk(createCellAuthorities("w", NOW - 10 * DAY));
const own = trustBundle(authorities);
const other = expectOk(
  createCertificateAuthority({ commonName: "o", notBefore: new Date(NOW - 300 * DAY), notAfter: new Date(NOW + 65 * DAY) }),
);
const otherLeaf = expectOk(
  issueCertificate(other, {
    commonName: "l",
    dnsNames: NAMES,
    notBefore: new Date(NOW - 300 * DAY),
    notAfter: new Date(NOW + 65 * DAY),
    usages: ["server"],
  }),
).certificate;
const leaf = (of: CellAuthorities, at: number, dnsNames = NAMES, ipAddresses: readonly string[] = []) =>
  expectOk(issueWebhookCertificate(of, { dnsNames, ipAddresses }, at)).certificate;
const both = `${own}${other.certificate}`;

const renewed: WebhookTrustState = {
  authorities,
  served: leaf(authorities, NOW - 2 * DAY),
  servedAuthority: own,
  dnsNames: NAMES,
  clients: [own, own],
  trustedSince: NOW - DAY,
  now: NOW,
};
const delivered: WebhookTrustState = {
  ...renewed,
  served: otherLeaf,
  servedAuthority: other.certificate,
  clients: [other.certificate, other.certificate],
  trustedSince: undefined,
};
const succeeded: CellAuthorities = {
  cell: "w",
  current: expectOk(createCellAuthorities("w", NOW)).current,
  previous: { ...authorities.current, retired: NOW },
};

type Row = {
  readonly name: string;
  readonly given: Partial<WebhookTrustState>;
  readonly from?: WebhookTrustState;
  readonly want: ReturnType<typeof decideWebhookRenewal>;
};

const rows: readonly Row[] = [
  { name: "a renewed certificate stays", given: {}, want: { trust: own, trusted: true, due: false, issue: false } },
  {
    name: "certificates of the manifests are replaced, once all clients trust the own authority",
    from: delivered,
    given: {},
    want: { trust: both, trusted: false, due: true, issue: false },
  },
  {
    name: "certificates of the manifests that are not due stay, with their trust",
    from: delivered,
    given: { now: NOW - 100 * DAY },
    want: { trust: undefined, trusted: true, due: false, issue: false },
  },
  {
    name: "an authority that all clients trust for less than an hour does not sign",
    from: delivered,
    given: { clients: [both, both], trustedSince: NOW - 3_540_000 },
    want: { trust: both, trusted: true, due: true, issue: false },
  },
  {
    name: "an authority that all clients trust for an hour signs",
    from: delivered,
    given: { clients: [both, both], trustedSince: NOW - 3_600_000 },
    want: { trust: both, trusted: true, due: true, issue: true },
  },
  {
    name: "one client without the authority prevents it",
    from: delivered,
    given: { clients: [both, other.certificate], trustedSince: NOW - DAY },
    want: { trust: both, trusted: false, due: true, issue: false },
  },
  {
    name: "the old authority is trusted for a day after the certificate was replaced",
    given: { served: leaf(authorities, NOW - DAY + 60_000), clients: [both, both] },
    want: { trust: both, trusted: true, due: false, issue: false },
  },
  {
    name: "the old authority is removed a day after the certificate was replaced",
    given: { served: leaf(authorities, NOW - DAY - 60_000), clients: [both, both] },
    want: { trust: own, trusted: true, due: false, issue: false },
  },
  {
    name: "a certificate is renewed at two thirds of its life",
    given: { served: leaf(authorities, NOW - 244 * DAY), trustedSince: NOW - DAY },
    want: { trust: own, trusted: true, due: true, issue: true },
  },
  {
    name: "a certificate of the retired authority is replaced, and both are trusted",
    given: { authorities: succeeded, clients: [trustBundle(succeeded)] },
    want: { trust: trustBundle(succeeded), trusted: true, due: true, issue: true },
  },
  {
    name: "a certificate for other names is replaced",
    given: { served: leaf(authorities, NOW - 2 * DAY, ["other.svc"]) },
    want: { trust: own, trusted: true, due: true, issue: true },
  },
  {
    name: "a certificate for other addresses is replaced",
    given: { served: leaf(authorities, NOW - 2 * DAY, NAMES, ["127.0.0.1"]), ipAddresses: ["127.0.0.1", "::1"] },
    want: { trust: own, trusted: true, due: true, issue: true },
  },
  {
    name: "a certificate for all names and addresses stays",
    given: { served: leaf(authorities, NOW - 2 * DAY, NAMES, ["127.0.0.1"]), ipAddresses: ["127.0.0.1"] },
    want: { trust: own, trusted: true, due: false, issue: false },
  },
  {
    name: "another certificate of the authority that is in use is issued without a wait",
    given: { served: leaf(authorities, NOW - 2 * DAY, ["other.svc"]), trustedSince: undefined },
    want: { trust: own, trusted: true, due: true, issue: true },
  },
  {
    name: "a missing certificate is issued at once",
    given: { served: undefined, trustedSince: undefined },
    want: { trust: own, trusted: true, due: true, issue: true },
  },
  {
    name: "an expired certificate is replaced at once, and an expired authority is not trusted",
    from: delivered,
    given: { now: NOW + 66 * DAY, clients: [both] },
    want: { trust: own, trusted: true, due: true, issue: true },
  },
  {
    name: "bundles that are not readable are replaced",
    given: { served: leaf(authorities, NOW), clients: ["-----BEGIN CERTIFICATE-----", ""] },
    want: { trust: own, trusted: false, due: false, issue: false },
  },
];

describe("certificates of webhooks", () => {
  test.each(rows)("$name", ({ from = renewed, given, want }) => {
    expect(decideWebhookRenewal({ ...from, ...given })).toEqual(want);
  });
});
