/** What wrangler.jsonc binds, as `wrangler types` would write it. */
import type { Refund } from "./workflow.ts"

declare global {
  namespace Cloudflare {
    interface Env {
      readonly REFUNDS: Workflow<Refund>
      readonly COUNTERSIGN: DurableObjectNamespace
      readonly ACCESS_TEAM: string
      readonly ACCESS_AUDIENCE: string
      readonly APPROVAL_SECRET: string
      readonly PAYMENTS_URL: string
    }
  }
}
