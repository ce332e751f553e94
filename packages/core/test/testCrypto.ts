import * as Digest from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import type { Crypto } from "../src/Crypto.ts"
import * as EffectCrypto from "../src/EffectCrypto.ts"

/** The `Crypto` that every runtime has, without a platform package. */
export const testCrypto: Layer.Layer<Crypto> = Layer.provide(
  EffectCrypto.layer,
  Layer.provideMerge(Layer.mergeAll(Digest.layerWebCrypto, Mac.layerWebCrypto), SecureRandom.layerWebCrypto)
)
