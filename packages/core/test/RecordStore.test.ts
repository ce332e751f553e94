import { describe } from "@effect/vitest"
import * as RecordStore from "../src/RecordStore.ts"
import { storeContract } from "./storeContract.ts"

describe("layerMemory", () => {
  storeContract(() => RecordStore.layerMemory)
})
