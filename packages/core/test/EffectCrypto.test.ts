import { describe } from "@effect/vitest"
import { cryptoCases } from "./cryptoCases.ts"
import { testCrypto } from "./testCrypto.ts"

describe("EffectCrypto", () => cryptoCases(testCrypto))
