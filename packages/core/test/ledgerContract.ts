export { agreesWithModel, ledgerContract, paid } from "../src/internal/testing/ledgerContract.ts"
