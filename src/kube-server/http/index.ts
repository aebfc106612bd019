export { serveHttp } from "./serve-http.ts";
export {
  certificateFor,
  createServerAuthority,
  issueServingCertificate,
  reuseServingCertificate,
  type ServingCertificate,
  type ServingRequest,
} from "./serving-certificate.ts";
