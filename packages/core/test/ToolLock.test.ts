import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Fingerprint from "../src/Fingerprint.ts"
import * as ToolDefinition from "../src/ToolDefinition.ts"
import * as ToolLock from "../src/ToolLock.ts"
import { mutate, mutations } from "./arbitraries.ts"
import { choicesMade } from "./choices.ts"
import { changed, definition, definitions, reordered } from "./definitions.ts"
import { testCrypto } from "./testCrypto.ts"

type Definition = ToolDefinition.ToolDefinition

const find = { name: "find", description: "Find a file", inputSchema: { type: "object", required: ["b", "a"] } }
const read = { name: "read", inputSchema: { type: "object" } }

const file = { kind: "file", path: "tools.json" } as const
const stdio = { kind: "stdio", command: "node", args: ["server.js", "/tmp"] } as const
const http = { kind: "http", url: "https://a.example/mcp" } as const

const make = (definitions: ReadonlyArray<Definition>, server = "files") => ToolLock.make(server, file, definitions)

const pinOf = (lock: ToolLock.ToolLock, name = "find", server = "files"): ToolLock.LockedTool =>
  lock.servers[server]!.tools[name]!

const statuses = (report: ToolLock.Report): object =>
  Object.fromEntries(report.tools.map(({ name, status }) => [name, status]))

const check = (lock: ToolLock.ToolLock, definitions: ReadonlyArray<Definition>, server = "files") =>
  Effect.map(ToolLock.check(lock, server, definitions), statuses)

const refusal = (text: string) => Effect.flip(ToolLock.parse(text))

const effect = (name: string, body: () => Generator<Effect.Effect<any, any, any>, void, any>) =>
  it.effect(name, () => Effect.gen(body).pipe(Effect.provide(testCrypto)) as Effect.Effect<void, any>)

describe("ToolLock.stringify", () => {
  effect("writes one form, that a review can read", function*() {
    const lock = yield* ToolLock.update(yield* make([find]), "web", http, [{
      ...read,
      title: "a\u200b\u202e\u{e0041}é"
    }])
    const { digest, fingerprint } = pinOf(lock)
    const other = pinOf(lock, "read", "web")
    assert.strictEqual(
      ToolLock.stringify(lock),
      `{
  "lockfileVersion": 1,
  "servers": {
    "files": {
      "source": {
        "kind": "file",
        "path": "tools.json"
      },
      "tools": {
        "find": {
          "definition": {
            "description": "Find a file",
            "inputSchema": {
              "required": [
                "b",
                "a"
              ],
              "type": "object"
            },
            "name": "find"
          },
          "digest": "${digest}",
          "fingerprint": "${fingerprint}"
        }
      }
    },
    "web": {
      "source": {
        "kind": "http",
        "url": "https://a.example/mcp"
      },
      "tools": {
        "read": {
          "definition": {
            "inputSchema": {
              "type": "object"
            },
            "name": "read",
            "title": "a\\u200b\\u202e\\udb40\\udc41é"
          },
          "digest": "${other.digest}",
          "fingerprint": "${other.fingerprint}"
        }
      }
    }
  }
}
`
    )
    assert.strictEqual(digest, yield* ToolDefinition.digest(find))
    assert.strictEqual(fingerprint, yield* Fingerprint.ofDefinition(find))
  })

  it.effect.prop(
    "and parse are each other's inverse",
    [definitions, definitions],
    ([one, two]) =>
      Effect.gen(function*() {
        const first = yield* make(one, "__proto__")
        const lock = yield* ToolLock.update(
          yield* ToolLock.update(first, "constructor", stdio, two),
          "__proto__",
          http,
          two
        )
        const text = ToolLock.stringify(lock)
        const parsed = yield* ToolLock.parse(text)
        assert.strictEqual(ToolLock.stringify(parsed), text)
        assert.sameMembers(Object.keys(parsed.servers), ["__proto__", "constructor"])
        for (const server of Object.keys(lock.servers)) {
          const [before, after] = [lock.servers[server]!, parsed.servers[server]!]
          assert.deepStrictEqual(after.source, before.source)
          assert.sameMembers(Object.keys(after.tools), Object.keys(before.tools))
          for (const name of Object.keys(before.tools)) {
            assert.deepStrictEqual(after.tools[name]!.definition, before.tools[name]!.definition)
            assert.strictEqual(after.tools[name]!.hidden, before.tools[name]!.hidden)
          }
        }
        // Neither names nor what is in a definition can leave its line, or be overlooked.
        assert.notMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u)
      }).pipe(Effect.provide(testCrypto))
  )

  effect("keeps numbers that a double rounds, and keys that V8 misreads", function*() {
    const limits = { maximum: 18446744073709551615, minimum: -1.7976931348623157e308, multipleOf: 2 ** 80, const: 1e-7 }
    const odd = Object.fromEntries(
      ["\\", "\n", "\u0001", "", "\"", "10", "9", "constructor"].map((key) => [key, [key]])
    )
    for (const one of [{ ...find, inputSchema: limits }, { ...find, odd }]) {
      const text = ToolLock.stringify(yield* make([one]))
      const lock = yield* ToolLock.parse(text)
      assert.deepStrictEqual(pinOf(lock).definition, one)
      assert.strictEqual(ToolLock.stringify(lock), text)
    }
  })

  effect("a definition as deep as one may be", function*() {
    const inputSchema = JSON.parse("{\"not\":".repeat(254) + "{}" + "}".repeat(254)) as {}
    const text = ToolLock.stringify(yield* make([{ ...read, inputSchema }]))
    assert.strictEqual(ToolLock.stringify(yield* ToolLock.parse(text)), text)
  })
})

describe("ToolLock.parse", () => {
  effect("refuses what is no JSON, with the place", function*() {
    for (const text of ["", "{corrupt", "<<<<<<< HEAD\n{}", "\ufeff{}", "{\"lockfileVersion\":1,}", "[".repeat(300)]) {
      assert.include(yield* refusal(text), { _tag: "InvalidToolLock", reason: "syntax" })
    }
    assert.strictEqual(
      (yield* refusal("{corrupt")).message,
      "The tool lockfile cannot be used: expected a key in double quotes at character 1. " +
        "Restore it, or review the tools and make it anew."
    )
    assert.include(yield* refusal("{\"a\":18446744073709551615,}"), { reason: "syntax" })
    assert.include(yield* refusal("[1e999]"), { reason: "malformed" })
    assert.include(yield* refusal(" ".repeat(ToolLock.limits.maxInputLength + 1)), { reason: "syntax" })
  })

  effect("refuses another version before it looks at the rest", function*() {
    for (const version of [0, 2, "1", null]) {
      const error = yield* refusal(JSON.stringify({ lockfileVersion: version, tools: [] }))
      assert.include(error, { reason: "version", pointer: "/lockfileVersion" })
    }
  })

  effect("refuses every field that is missing, not known, or something else", function*() {
    const lock = JSON.parse(ToolLock.stringify(yield* make([find])))
    const at = "/servers/files/tools/find"
    type Change = (lock: any, tool: any) => void
    const faults: ReadonlyArray<readonly [pointer: string, change: Change]> = [
      ["/lockfileVersion", (lock) => delete lock.lockfileVersion],
      ["/servers", (lock) => delete lock.servers],
      ["/servers", (lock) => lock.servers = []],
      ["/other", (lock) => lock.other = 1],
      ["/servers/files", (lock) => lock.servers.files = null],
      ["/servers/files/tools", (lock) => delete lock.servers.files.tools],
      ["/servers/files/more", (lock) => lock.servers.files.more = 1],
      ["/servers/files/source/kind", (lock) => lock.servers.files.source = "file"],
      ["/servers/files/source/kind", (lock) => lock.servers.files.source.kind = "ftp"],
      ["/servers/files/source/path", (lock) => lock.servers.files.source.path = 1],
      ["/servers/files/source/url", (lock) => lock.servers.files.source.url = "x"],
      ["/servers/files/source/args", (lock) => lock.servers.files.source = { ...stdio, args: "x" }],
      ["/servers/files/source/args/1", (lock) => lock.servers.files.source = { ...stdio, args: ["x", 1] }],
      ["/servers/files/source/url", (lock) => lock.servers.files.source = { ...http, url: null }],
      [at, (lock) => lock.servers.files.tools.find = []],
      [`${at}/digest`, (_, tool) => delete tool.digest],
      [`${at}/digest`, (_, tool) => tool.digest = 1],
      [`${at}/fingerprint`, (_, tool) => delete tool.fingerprint],
      [`${at}/more`, (_, tool) => tool.more = 1],
      [`${at}/hidden`, (_, tool) => tool.hidden = false],
      [`${at}/definition`, (_, tool) => tool.definition = 1],
      [`${at}/definition/name`, (_, tool) => tool.definition.name = "read"],
      [`${at}/definition/title`, (_, tool) => tool.definition.title = 1]
    ]
    for (const [pointer, change] of faults) {
      const copy = JSON.parse(JSON.stringify(lock))
      change(copy, copy.servers.files.tools.find)
      assert.include(yield* refusal(JSON.stringify(copy)), { reason: "malformed", pointer })
    }
    for (const value of [1, null, [], "x"]) {
      assert.include(yield* refusal(JSON.stringify(value)), { reason: "malformed", pointer: "" })
    }
    assert.isObject(yield* ToolLock.parse(JSON.stringify(lock)))
  })

  effect("refuses a definition that is not the one of its digests", function*() {
    const text = ToolLock.stringify(yield* make([find]))
    const { digest, fingerprint } = pinOf(yield* make([{ ...find, description: "evil" }]))
    const own = pinOf(yield* make([find]))
    const at = "/servers/files/tools/find"
    assert.include(yield* refusal(text.replace("Find a file", "evil")), { reason: "digest", pointer: `${at}/digest` })
    assert.include(yield* refusal(text.replace(own.digest, digest)), { reason: "digest", pointer: `${at}/digest` })
    const error = yield* refusal(text.replace(own.fingerprint, fingerprint))
    assert.include(error, { reason: "digest", pointer: `${at}/fingerprint` })
  })

  effect("refuses two members of one key", function*() {
    const text = ToolLock.stringify(yield* make([find]))
    for (
      const [key, twice] of [["\"files\"", "\"files\": 1, \"files\""], ["\"type\"", "\"t\\u0079pe\": \"a\", \"type\""]]
    ) {
      assert.include(yield* refusal(text.replace(key!, twice!)), { reason: "duplicate-key" })
    }
    // A text that looks like a key is none.
    const odd = ToolLock.stringify(yield* make([{ ...find, description: "\":\\\\\": {\"a\":1,\"a\":1} \"" }]))
    assert.strictEqual(ToolLock.stringify(yield* ToolLock.parse(odd)), odd)
  })

  effect("reads the text in another layout", function*() {
    const text = ToolLock.stringify(yield* make([find, read]))
    const others = [
      text.replaceAll("\n", "\r\n"),
      text.replaceAll("\": ", "\"\t: "),
      JSON.stringify(JSON.parse(text)),
      `\n${text}  `
    ]
    for (const other of others) {
      assert.strictEqual(ToolLock.stringify(yield* ToolLock.parse(other)), text)
    }
  })

  it.effect.prop(
    "lets nothing in that was not pinned, whatever is done to the text",
    [mutations],
    ([damage]) =>
      Effect.gen(function*() {
        const text = ToolLock.stringify(yield* make([find, read, { ...find, name: "__proto__" }]))
        const parsed = yield* Effect.result(ToolLock.parse(mutate(text, damage)))
        if (Result.isFailure(parsed)) return assert.strictEqual(parsed.failure._tag, "InvalidToolLock")
        for (const { tools } of Object.values(parsed.success.servers)) {
          for (const [name, { definition, digest, fingerprint }] of Object.entries(tools)) {
            assert.strictEqual(definition.name, name)
            assert.strictEqual(digest, yield* ToolDefinition.digest(definition))
            assert.strictEqual(fingerprint, yield* Fingerprint.ofDefinition(definition))
          }
        }
      }).pipe(Effect.provide(testCrypto)),
    { arbitrary: { runs: 2000 } }
  )
})

describe("ToolLock.update", () => {
  effect("keeps what the server does not list, and the other servers", function*() {
    const before = yield* ToolLock.update(yield* make([find, read]), "web", http, [find])
    const after = yield* ToolLock.update(before, "files", stdio, [{ ...read, title: "Read" }])
    const { source, tools } = after.servers["files"]!
    assert.deepStrictEqual(source, stdio)
    assert.deepStrictEqual(tools["find"], { ...pinOf(before), hidden: true })
    assert.strictEqual(tools["read"]!.definition.title, "Read")
    assert.isUndefined(tools["read"]!.hidden)
    assert.deepStrictEqual(after.servers["web"], before.servers["web"])
    assert.strictEqual(after.lockfileVersion, 1)
    // The one before is as it was.
    assert.isUndefined(pinOf(before).hidden)
    const back = yield* ToolLock.update(after, "files", stdio, [find, read])
    assert.deepStrictEqual(pinOf(back), pinOf(before))
  })

  effect("writes nothing of a URL that may be secret", function*() {
    const urls = [
      ["https://user:pass@a.example:8080/mcp?key=1#x", "https://a.example:8080/mcp"],
      ["https://a.example/a@b?c@d", "https://a.example/a@b"],
      ["https://token@a.example", "https://a.example"],
      ["http://u:p@ss@[::1]/x", "http://[::1]/x"],
      ["https://a.example/mcp", "https://a.example/mcp"]
    ]
    for (const [url, written] of urls) {
      const lock = yield* ToolLock.make("web", { kind: "http", url: url! }, [])
      assert.deepStrictEqual(lock.servers["web"]!.source, { kind: "http", url: written! })
    }
  })

  effect("refuses two tools of one name, and what is no definition", function*() {
    assert.include(yield* Effect.flip(make([find, { ...find, title: "2" }])), {
      _tag: "InvalidToolDefinition",
      toolName: "find"
    })
    assert.include(yield* Effect.flip(make([{ ...find, title: 1 } as any])), { pointer: "/tools/0/title" })
    let deep = {}
    for (let level = 0; level < 100_000; level++) deep = { not: deep }
    assert.match((yield* Effect.flip(make([{ ...find, inputSchema: deep }]))).message, /maxDepth/)
  })
})

describe("ToolLock.check", () => {
  it.effect.prop("tells no drift of what was locked, in any order", [definitions], ([all]) =>
    Effect.gen(function*() {
      const lock = yield* ToolLock.parse(ToolLock.stringify(yield* make(all)))
      const report = yield* ToolLock.check(lock, "files", all.map(reordered).reverse())
      assert.isFalse(ToolLock.hasDrift(report))
      assert.deepStrictEqual(report.tools.map(({ name }) => name), all.map(({ name }) => name).toSorted())
    }).pipe(Effect.provide(testCrypto)))

  it.effect.prop("tells the tool that changed, and where", [Arbitrary.all([definition, choicesMade])], (
    [[one, made]]
  ) =>
    Effect.gen(function*() {
      const other = changed(one, made)
      const checked = yield* Effect.result(ToolLock.check(yield* make([one]), "files", [other]))
      if (Result.isFailure(checked)) {
        // The change made something else of a known field.
        assert.strictEqual(checked.failure._tag, "InvalidToolDefinition")
        return assert.isTrue(Result.isFailure(ToolDefinition.fromJson(other)))
      }
      const [{ changes, status }] = checked.success.tools as [ToolLock.ToolReport]
      assert.isTrue(ToolLock.hasDrift(checked.success))
      assert.strictEqual(status, "changed")
      assert.isAbove(changes.length, 0)
    }).pipe(Effect.provide(testCrypto)))

  effect("tells what was added and removed, sorted by name", function*() {
    const lock = yield* make([find, read])
    const report = yield* ToolLock.check(lock, "files", [{ ...read, name: "write", title: "W" }, find, {
      ...read,
      name: "a"
    }])
    assert.deepStrictEqual(report.tools.map(({ name, status }) => [name, status]), [
      ["a", "added"],
      ["find", "same"],
      ["read", "removed"],
      ["write", "added"]
    ])
    assert.isTrue(ToolLock.hasDrift(report))
    const [added, same, removed] = report.tools
    assert.deepStrictEqual(added!.changes.map(({ pointer }) => pointer), ["/inputSchema", "/name"])
    assert.deepStrictEqual([same!.changes, removed!.changes], [[], []])
    assert.deepStrictEqual(Schema.decodeUnknownSync(ToolLock.Report)(JSON.parse(JSON.stringify(report))), report)
  })

  effect("knows own names only", function*() {
    const odd = ["__proto__", "constructor", "hasOwnProperty"].map((name) => ({ ...read, name }))
    const lock = yield* make([])
    assert.deepStrictEqual(
      (yield* ToolLock.check(lock, "files", odd)).tools.map(({ status }) => status),
      ["added", "added", "added"]
    )
    const parsed = yield* ToolLock.parse(ToolLock.stringify(lock))
    for (const name of ["__proto__", "constructor"]) {
      assert.isUndefined(parsed.servers[name])
      assert.isUndefined(parsed.servers["files"]!.tools[name])
    }
    for (const server of ["__proto__", "constructor", "other"]) {
      assert.deepStrictEqual(yield* check(lock, [read], server), { read: "added" })
    }
    // A lock that was written by hand has a prototype.
    const plain: ToolLock.ToolLock = { lockfileVersion: 1, servers: { files: { source: file, tools: {} } } }
    assert.deepStrictEqual(yield* check(plain, [{ ...read, name: "toString" }]), { toString: "added" })
    assert.deepStrictEqual(yield* check(plain, [read], "toString"), { read: "added" })
  })

  effect("of a tool that was hidden: same, changed, and nothing while it is", function*() {
    const hidden = yield* ToolLock.update(yield* make([find, read]), "files", file, [read])
    assert.deepStrictEqual(yield* check(hidden, [read]), { read: "same" })
    assert.deepStrictEqual(yield* check(hidden, [read, find]), { find: "same", read: "same" })
    assert.deepStrictEqual(yield* check(hidden, [read, { ...find, description: "evil" }]), {
      find: "changed",
      read: "same"
    })
    assert.deepStrictEqual(yield* check(hidden, []), { read: "removed" })
  })

  effect("says whose definition a tool of another name has, and whom it looks like", function*() {
    const lock = yield* make([find, read])
    const added = (name: string, listed: ReadonlyArray<Definition> = [read]) =>
      Effect.map(
        ToolLock.check(lock, "files", [{ ...find, name }, ...listed]),
        ({ tools }) => tools.find((tool) => tool.name === name)!
      )
    assert.strictEqual((yield* added("find_file")).renamedFrom, "find")
    // It is still there, so this one is a copy.
    assert.isUndefined((yield* added("find_file", [find, read])).renamedFrom)
    assert.deepStrictEqual((yield* added("search")).changes.find(({ pointer }) => pointer === "/name")?.warnings, [])
    for (const name of ["Find", "fi_nd", "ｆind", "find\u200b", "f-i n.d"]) {
      const { changes } = yield* added(name)
      assert.include(changes.find(({ pointer }) => pointer === "/name")!.warnings, "lookalike-name", name)
    }
  })

  effect("is drift where only the digest says so", function*() {
    const lock = yield* make([find])
    const tools = { find: { ...pinOf(lock), digest: "other" } }
    const tampered = { lockfileVersion: 1, servers: { files: { source: file, tools } } } as const
    assert.deepStrictEqual(yield* check(tampered, [find]), { find: "changed" })
  })

  effect("refuses two tools of one name", function*() {
    const error = yield* Effect.flip(ToolLock.check(yield* make([find]), "files", [find, find]))
    assert.include(error, { _tag: "InvalidToolDefinition", toolName: "find", pointer: "/tools/1/name" })
  })

  effect("takes thousands of tools, all of them new", function*() {
    const many = (prefix: string) =>
      Array.from({ length: 5000 }, (_, at) => ({ ...find, name: prefix + at, title: prefix + at }))
    const report = yield* ToolLock.check(yield* make(many("a")), "files", many("b"))
    assert.strictEqual(report.tools.length, 10_000)
  })
})
