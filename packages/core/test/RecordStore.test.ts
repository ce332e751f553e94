import { describe } from "@effect/vitest"
import * as RecordStore from "../src/RecordStore.ts"
import { storeContract } from "../src/testing.ts"

describe("layerMemory", () => {
  storeContract(() => RecordStore.layerMemory)
})
