/**
 * Security test 12: no expression of the packages can be made to take long, whatever it reads.
 *
 * Seen red in a copy: with an id's pattern of RecordId.ts made of four repetitions in a row, by
 * recheck; without the length in `read` of Cursor.ts, by the characters read of the cursor.
 * test/long/growth-and-timing.long.ts measures how the work grows with a text.
 */
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import * as Cursor from "#core/reads/Cursor.ts"
import { installed } from "../witness.ts"

const tools = createRequire(new URL("../../tools/package.json", import.meta.url))
const packages = fileURLToPath(new URL("../../../packages", import.meta.url))

interface Found {
  readonly file: string
  readonly source: string
  readonly flags: string
}

/**
 * Members that this test uses of the TypeScript compiler in test/tools; the workspace's own
 * compiler does not export them.
 */
interface Compiler {
  readonly ScriptTarget: { readonly Latest: number }
  readonly SyntaxKind: { readonly RegularExpressionLiteral: number; readonly NewExpression: number }
  readonly createSourceFile: (name: string, text: string, target: number) => Tree
}
interface Tree {
  readonly kind: number
  readonly text: string
  readonly getText: (tree?: Tree) => string
  readonly forEachChild: (visit: (node: Tree) => void) => void
}

const sources = (): ReadonlyArray<string> =>
  readdirSync(packages, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/node_modules|\/dist\//.test(file))

const literals = (): ReadonlyArray<Found> => {
  const compiler = tools("typescript") as Compiler
  const { RegularExpressionLiteral } = compiler.SyntaxKind
  return sources().flatMap((file) => {
    const tree = compiler.createSourceFile(
      file,
      readFileSync(file, "utf8"),
      compiler.ScriptTarget.Latest
    )
    const found: Array<Found> = []
    const look = (node: Tree): void => {
      if (node.kind === RegularExpressionLiteral) {
        const text = node.getText(tree)
        const end = text.lastIndexOf("/")
        found.push({ file, source: text.slice(1, end), flags: text.slice(end + 1) })
      }
      node.forEachChild(look)
    }
    look(tree)
    return found
  })
}

interface Verdict {
  readonly status: "safe" | "vulnerable" | "unknown"
  readonly error?: unknown
}

const judge = (source: string, flags: string): Verdict =>
  (
    tools("recheck") as { readonly checkSync: (...args: ReadonlyArray<unknown>) => Verdict }
  ).checkSync(source, flags, { timeout: 20_000 })

describe.skipIf(!installed)("every expression of the packages, by recheck", () => {
  it("is safe, and the judge knows one that is not", () => {
    expect(judge("^(a|a)*$", "").status).toBe("vulnerable")
    const all = literals()
    expect(all.length).toBeGreaterThan(50)
    const once = new Map(all.map((one) => [`/${one.source}/${one.flags}`, one]))
    const unsafe = [...once].flatMap(([text, { file, source, flags }]) => {
      const { error, status } = judge(source, flags)
      return status === "safe"
        ? []
        : [`${file.slice(packages.length)}: ${text} is ${status} ${JSON.stringify(error ?? "")}`]
    })
    expect(unsafe).toEqual([])
  })
})

describe("the work of reading", () => {
  const crypto = Effect.runSync(Effect.provide(Effect.service(Crypto), NodeCrypto.layer))
  const cursors = Cursor.make(crypto, [{ id: 0, secret: new Uint8Array(32) }])
  const bound = { list: "holders.list", binding: "x".repeat(1000), count: 1 }

  it("a cursor of more than 1,536 characters is none: no character of it is read", () => {
    const read: Array<string | symbol> = []
    const text = (length: number) =>
      new Proxy(new String("A".repeat(length)), {
        get: (target, member) => {
          read.push(member)
          const value: unknown = Reflect.get(target, member)
          return typeof value === "function" ? value.bind(target) : value
        }
      }) as unknown as string
    expect(Result.isFailure(cursors.read({ ...bound, text: text(1_540) }))).toBe(true)
    expect(read).toEqual(["length"])
    cursors.read({ ...bound, text: text(1_536) })
    expect(read).toContain(Symbol.iterator)
  })
})
