/**
 * Security test 12: no expression of the packages can be made to take long, whatever it reads.
 *
 * Seen red in a copy: with an id's pattern of RecordId.ts made of four repetitions in a row, by recheck
 * and by the id of 128 characters; without the length in `read` of Cursor.ts, by the cursor.
 */
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { RecordId } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect } from "effect"
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

/** What is used of the compiler that test/tools has; the workspace's own has no such interface. */
interface Compiler {
  readonly ScriptTarget: { readonly Latest: number }
  readonly SyntaxKind: { readonly RegularExpressionLiteral: number; readonly NewExpression: number }
  readonly createSourceFile: (name: string, text: string, target: number) => Tree
}
interface Tree {
  readonly kind: number
  readonly text: string
  readonly getText: (of?: Tree) => string
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

/** Texts that make a backtracking reader go back: nearly right, wrong at the very end. */
const nasty = (length: number): ReadonlyArray<string> =>
  ["a", "a-", "~.", "0", "A_", "=", "-", "%", "\0", "é", ":"].flatMap((part) => {
    const long = part.repeat(length).slice(0, length)
    return [long, `${long.slice(1)}!`, `a${long.slice(2)}:`]
  })

/** The least of several runs, in milliseconds: what the machine does beside it is not measured. */
const fastest = (run: () => void): number => {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 20; i++) {
    const start = performance.now()
    run()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

describe("a text at its longest is judged within a millisecond", () => {
  it("an id of 128 characters", () => {
    for (const text of nasty(128)) {
      expect([text, fastest(() => void RecordId.parse(text)) < 1]).toEqual([text, true])
    }
  })

  it("a cursor of 512 characters, forged or not", () => {
    const crypto = Effect.runSync(Effect.provide(Effect.service(Crypto), NodeCrypto.layer))
    const cursors = Cursor.make(crypto, [{ id: 0, secret: new Uint8Array(32) }])
    const bound = { list: "holders.list", bound: "x".repeat(1000) }
    const own = cursors.write({ ...bound, offset: 1 as never, keys: ["k".repeat(300)] })
    for (const text of [own, ...nasty(512)]) {
      const judged = fastest(() => void cursors.read({ ...bound, count: 1, text }))
      expect([text, judged < 1]).toEqual([text, true])
    }
    // What is longer is not even looked at.
    const long = "A".repeat(4_000_000)
    expect(fastest(() => void cursors.read({ ...bound, count: 1, text: long }))).toBeLessThan(1)
  })
})
