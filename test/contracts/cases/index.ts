/** Every contract. */
import type { Contract } from "../contract.ts";
import { access } from "./access.ts";
import { celRules } from "./cel-rules.ts";
import { concurrency } from "./concurrency.ts";
import { conversions } from "./conversions.ts";
import { conversionWebhooks } from "./conversion-webhooks.ts";
import { conversionCounts } from "./conversion-counts.ts";
import { controllers } from "./controllers.ts";
import { bodiesPathsQueries } from "./bodies-paths-queries.ts";
import { crud } from "./crud.ts";
import { customResources } from "./custom-resources.ts";
import { deletion } from "./deletion.ts";
import { discovery } from "./discovery.ts";
import { dryRun } from "./dry-run.ts";
import { fieldValidation } from "./field-validation.ts";
import { jsonPatch } from "./json-patch.ts";
import { kinds } from "./kinds.ts";
import { lists } from "./lists.ts";
import { mergePatch } from "./merge-patch.ts";
import { names } from "./names.ts";
import { namespaces } from "./namespaces.ts";
import { nodePortsOfServices } from "./node-ports.ts";
import { policies } from "./policies.ts";
import { builtinSchemas, publishedSchemas } from "./published-schemas.ts";
import { quota } from "./quota.ts";
import { optionalFieldRefusals } from "./optional-field-refusals.ts";
import { refusals } from "./refusals.ts";
import { metadataAndBindings } from "./metadata-and-bindings.ts";
import { serverSideApply } from "./server-side-apply.ts";
import { strategicPatch } from "./strategic-patch.ts";
import { subresources } from "./subresources.ts";
import { tables } from "./tables.ts";
import { watch } from "./watch.ts";
import { webhookMetadata } from "./webhook-metadata.ts";
import { webhooks } from "./webhooks.ts";
import { workloadWebhook } from "./workload-webhook.ts";

export const contracts: readonly Contract[] = [
  ...crud,
  ...kinds,
  ...refusals,
  ...optionalFieldRefusals,
  ...nodePortsOfServices,
  ...concurrency,
  ...lists,
  ...tables,
  ...watch,
  ...jsonPatch,
  ...mergePatch,
  ...strategicPatch,
  ...serverSideApply,
  ...dryRun,
  ...fieldValidation,
  ...subresources,
  ...deletion,
  ...names,
  ...namespaces,
  ...discovery,
  ...publishedSchemas,
  ...builtinSchemas,
  ...customResources,
  ...celRules,
  ...access,
  ...webhooks,
  ...workloadWebhook,
  ...webhookMetadata,
  ...policies,
  ...quota,
  ...controllers,
  ...conversions,
  ...conversionWebhooks,
  ...conversionCounts,
  ...bodiesPathsQueries,
  ...metadataAndBindings,
];
