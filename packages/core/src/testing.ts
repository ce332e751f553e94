/**
 * What an implementation has to do, as tests: for whoever writes a ledger or a record store on another engine. They run on
 * `@effect/vitest`, in a file of your own, under Vitest.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Layer from "effect/Layer"
import type { ApprovalLedger } from "./ApprovalLedger.ts"
import * as ledger from "./internal/testing/ledgerContract.ts"
import * as store from "./internal/testing/storeContract.ts"
import type { RecordStore } from "./RecordStore.ts"

/**
 * Registers the tests of a `RecordStore`. `make` is called for each test, and gives a layer of the same store: an engine that is running
 * stays so. Each test uses a collection of its own. Two of them take half a second of real time.
 *
 * @example
 * ```ts
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import { storeContract } from "@countersign/core/testing"
 *
 * const register = () => storeContract(() => RecordStore.layerMemory)
 * ```
 *
 * @category contracts
 * @since 0.1.0
 */
export const storeContract: (make: () => Layer.Layer<RecordStore, unknown>) => void = store.storeContract

/**
 * Registers the tests of an `ApprovalLedger`. `make` is called for each test. The tests run under `TestClock`: a ledger with a clock of
 * its own passes them as well, since none has to wait for that.
 *
 * A ledger that is `DurableLedger` over a store needs no other test than `storeContract`. Run this one with `lease: "30 days"` where the
 * store takes real time: the tests' clock leaps over days, in which the owner of a claim would renew it thousands of times.
 *
 * @example
 * ```ts
 * import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
 * import { ledgerContract } from "@countersign/core/testing"
 *
 * const register = () => ledgerContract(ApprovalLedger.layerMemory)
 * ```
 *
 * @category contracts
 * @since 0.1.0
 */
export const ledgerContract: (
  make: (options?: { readonly retention?: Duration.Input }) => Layer.Layer<ApprovalLedger, unknown>
) => void = ledger.ledgerContract
