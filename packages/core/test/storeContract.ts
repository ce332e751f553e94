export { storeContract } from "../src/internal/testing/storeContract.ts"
