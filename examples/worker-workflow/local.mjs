/**
 * For `wrangler dev` alone: a payment service that takes everything, and at the same address the keys of an Access of your own. Prints a
 * token of Ada's, who is signed in for a day.
 */
import { generateKeyPairSync, sign } from "node:crypto"
import { createServer } from "node:http"

const team = "http://127.0.0.1:8799"
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const keys = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "local" }] }

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url")
const exp = Math.trunc(Date.now() / 1000) + 86_400
const signed = `${part({ alg: "RS256", kid: "local" })}.${
  part({ iss: team, aud: ["local"], exp, email: "ada@example.com" })
}`
console.log(`${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`)

createServer(({ url }, response) => {
  response.end(url === "/cdn-cgi/access/certs" ? JSON.stringify(keys) : undefined)
}).listen(8799, "127.0.0.1")
