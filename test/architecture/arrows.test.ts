/** The arrows between packages and ranks hold, and their checks refuse an import against them. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { adapterFolders } from "../../packages/engine-core/scripts/packages.ts"
import { order, roomOf } from "../../packages/engine-core/scripts/rooms.ts"
import {
  adapterBreaches,
  borderBreaches,
  rankOf,
  roomBreaches,
  upwardBreaches,
  walletBreaches
} from "./arrows.ts"
import { fileOf, importsOf, isThere, placeOf, type Source, sources } from "./sources.ts"

const source = (path: string, text: string): Source => ({ path, text, imports: importsOf(text) })
const core = "packages/engine-core/src"
const adapters = "packages/storage-adapters/src"

describe("the arrows", () => {
  it("no package imports what it may not know", () => {
    expect(sources.flatMap(borderBreaches)).toEqual([])
  })

  it("no value import points to a higher rank", () => {
    expect(sources.flatMap(upwardBreaches)).toEqual([])
  })

  it("every file of the core lies in a room, and every room holds a file", () => {
    const found = sources
      .map(({ path }) => placeOf(path))
      .filter(({ home }) => home === "engine-core")
      .map(({ inside }) => roomOf(inside))
    expect([...new Set(found)].toSorted()).toEqual(order.toSorted())
  })

  it("no value import goes to a room above its own", () => {
    expect(sources.flatMap(roomBreaches)).toEqual([])
  })

  it("a suffix says one thing: Operations define writes, Queries answer routes, FromLedger reads the ledger", () => {
    const means: ReadonlyArray<readonly [suffix: string, marks: RegExp]> = [
      ["Operations", /\bOperation\.define|extends Context\.Service/u],
      ["Queries", /\bRead\.(list|one)\(|export const queries\b|extends Context\.Service/u],
      ["FromLedger", /\bexport const (?:fromLedger|of)\b|\bexport interface FromLedger\b/u]
    ]
    const strangers = sources.flatMap(({ path, text }) =>
      means
        .filter(([suffix, marks]) => path.endsWith(`${suffix}.ts`) && !marks.test(text))
        .map(([suffix]) => `${path} is called ${suffix}`)
    )
    expect(strangers).toEqual([])
  })

  it("a file of operations exports operations, their lists, and what the catalogue hands them", () => {
    // Contributions of rooms above: ties that keep a holder open, effects of a pause, and lines
    // that an order voids.
    const allowed =
      /^export (?:const \w+ = (?:Operation|Timely)\.define|const (?:operations|timely)\b|const (?:closing|pausing|forcing)\b|interface HolderTies\b)/u
    const others = sources
      .filter(({ path }) => /\w+Operations\.ts$/u.test(path) && !path.endsWith("/Operations.ts"))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^export (?!type )[^\n]*/gmu)]
          .filter(([line]) => !allowed.test(line))
          .map(([line]) => `${path}: ${line}`)
      )
    expect(others).toEqual([])
  })

  it("the outside parties' programs know only the door, and no package knows them but to play a venue", () => {
    expect(sources.flatMap(walletBreaches)).toEqual([])
  })

  it("every folder of the adapters is run by a venue or tested with, and no part that runs needs one that tests", () => {
    const found = sources
      .map(({ path }) => placeOf(path))
      .filter(({ home }) => home === "storage-adapters")
      .map(({ inside }) => inside.split("/")[0] ?? "")
    expect([...new Set(found)].toSorted()).toEqual(
      [...adapterFolders.runs, ...adapterFolders.tests].toSorted()
    )
    expect(sources.flatMap(adapterBreaches)).toEqual([])
  })

  it("every import inside the project names a file there is", () => {
    const missing = sources.flatMap(({ imports, path }) =>
      imports
        .filter(({ specifier }) => specifier.startsWith(".") || specifier.startsWith("@bursar/"))
        .map(({ specifier }) => fileOf(path, specifier) ?? specifier)
        .filter((file) => !isThere(file))
        .map((file) => `${path} imports ${file}`)
    )
    expect(missing).toEqual([])
  })

  it("the core takes from effect only what effect marks stable", () => {
    const index = readFileSync(
      fileURLToPath(import.meta.resolve("effect")).replace(/\.js$/u, ".d.ts"),
      "utf8"
    )
    const unstable = new Set(
      index
        .matchAll(/@stability unstable[^/]*\*\/\s*export \* as (?<name>\w+)/gu)
        .map(({ groups }) => groups?.["name"] ?? "")
    )
    expect(unstable.size).toBeGreaterThan(0)
    const taken = sources
      .filter(({ path }) => path.startsWith(core))
      .flatMap(({ imports, path }) =>
        imports
          .filter(({ specifier }) => specifier === "effect")
          .flatMap(({ names }) => names.filter((name) => unstable.has(name)))
          .map((name) => `${path} imports ${name}`)
      )
    expect(taken).toEqual([])
  })
})

describe("what the checks see", () => {
  it.each<[text: string, kind: "type" | "value", specifier: string, names: ReadonlyArray<string>]>([
    ['import { a, type B as C } from "./x.ts"', "value", "./x.ts", ["a", "B"]],
    ['import type { B } from "./x.ts"', "type", "./x.ts", ["B"]],
    ['import type * as B from "./x.ts"', "type", "./x.ts", []],
    ['import * as B from "./x.ts"', "value", "./x.ts", []],
    ['import {\n  a,\n  b\n} from "effect"', "value", "effect", ["a", "b"]],
    ['export { a } from "./x.ts"', "value", "./x.ts", ["a"]],
    ['export type { B } from "./x.ts"', "type", "./x.ts", ["B"]],
    ['export * from "./x.ts"', "value", "./x.ts", []],
    ['import "./x.ts"', "value", "./x.ts", []],
    ['const x = await import("node:fs")', "value", "node:fs", []]
  ])("an import is seen: %s", (text, kind, specifier, names) => {
    expect(importsOf(text)).toEqual([{ specifier, kind, names }])
  })

  it("no import is seen in a comment, nor in code that only looks like one", () => {
    expect(importsOf('/* import { a } from "./x.ts" */\n// import "./y.ts"')).toEqual([])
    expect(importsOf('export const from = "here"\nexport type T = "from"')).toEqual([])
  })

  it.each([
    ["node", 'import { readFile } from "node:fs"'],
    ["effect's http", 'import * as Http from "effect/http"'],
    ["another package", 'import { layer } from "@bursar/storage-adapters/memory"'],
    ["a package by its folder", 'import "../../../http-host/src/main.ts"'],
    ["a test tool outside testing/", 'import { it } from "vitest"']
  ])("the core may not import %s", (_what, text) => {
    expect(borderBreaches(source(`${core}/orders/X.ts`, text))).toHaveLength(1)
  })

  it("only Deployment.ts composes a deployment, of parts that are files of their own", () => {
    const text = 'import { layer } from "@bursar/storage-adapters/memory"'
    expect(borderBreaches(source("packages/http-host/src/Host.ts", text))).toHaveLength(1)
    expect(borderBreaches(source("packages/http-host/src/main.ts", text))).toHaveLength(1)
    expect(borderBreaches(source("packages/http-host/src/Deployment.ts", text))).toEqual([])
    expect(borderBreaches(source("packages/http-host/src/parts/Memory.ts", text))).toEqual([])
  })

  it("a value may not be taken from above, a type may", () => {
    const path = `${core}/templates/Transfer.ts`
    const from = '"../orders/OpenOrderLookups.ts"'
    expect(upwardBreaches(source(path, `import { x } from ${from}`))).toHaveLength(1)
    expect(upwardBreaches(source(path, `import type { X } from ${from}`))).toEqual([])
  })

  it("a room takes no value from one above it, a type it may", () => {
    const path = `${core}/instruments/instrument/Instrument.ts`
    const from = '"../../orders/OpenOrder.ts"'
    expect(roomBreaches(source(path, `import { x } from ${from}`))).toHaveLength(1)
    expect(roomBreaches(source(path, `import type { X } from ${from}`))).toEqual([])
    expect(roomBreaches(source(path, 'import "../../kernel/Decimal.ts"'))).toEqual([])
    expect(roomBreaches(source(path, 'import "../policy/Policy.ts"'))).toEqual([])
  })

  it.each([
    ["vocabulary/sets.ts", "../kernel/Date.ts"],
    ["kernel/Machine.ts", "../records/Act.ts"],
    ["ports/AuditAnchor.ts", "../feeds/Checkpoint.ts"],
    ["engine/Settings.ts", "../reconciliation/run/DailyRunRules.ts"]
  ])("%s takes no type from a room above its own: %s", (inside, specifier) => {
    const text = `import type { X } from "${specifier}"`
    expect(roomBreaches(source(`${core}/${inside}`, text))).toHaveLength(1)
  })

  it("the host's definitions know no handler", () => {
    const path = "packages/http-host/src/api/Api.ts"
    expect(upwardBreaches(source(path, 'import "../handlers/read.ts"'))).toHaveLength(1)
    expect(upwardBreaches(source(path, 'import "../wire/Body.ts"'))).toEqual([])
  })

  it("an outside party's program may not reach behind the door", () => {
    const path = `${adapters}/ledger/wallets/Wallet.ts`
    expect(walletBreaches(source(path, 'import "../simulated/Core.ts"'))).toHaveLength(1)
    expect(walletBreaches(source(path, 'import "@bursar/engine-core/ports"'))).toHaveLength(1)
    expect(walletBreaches(source(path, 'import "@bursar/engine-core/kernel"'))).toEqual([])
    const core = `${adapters}/ledger/simulated/Core.ts`
    expect(walletBreaches(source(core, 'import "../wallets/Wallet.ts"'))).toHaveLength(1)
  })

  it("the venue in one process plays the outside parties, and no part that a venue runs knows it", () => {
    const playing = `${adapters}/venue/Wallets.ts`
    expect(walletBreaches(source(playing, 'import "../ledger/wallets/Wallet.ts"'))).toEqual([])
    const run = `${adapters}/storage/memory/Memory.ts`
    expect(walletBreaches(source(run, 'import "../../venue/Venue.ts"'))).toHaveLength(1)
    const host = "packages/http-host/src/Deployment.ts"
    for (const entry of ["venue", "wallets"]) {
      const text = `import "@bursar/storage-adapters/${entry}"`
      expect(walletBreaches(source(host, text))).toHaveLength(1)
    }
  })

  it("a storage that a venue runs may not need the simulated ledger", () => {
    const text = 'import "../../ledger/simulated/Core.ts"'
    expect(adapterBreaches(source(`${adapters}/storage/memory/X.ts`, text))).toHaveLength(1)
    expect(adapterBreaches(source(`${adapters}/conformance/X.ts`, text))).toEqual([])
  })

  it.each([
    ["vocabulary/index.ts", 0],
    ["kernel/Decimal.ts", 1],
    ["orders/subscription/Subscription.ts", 2],
    ["templates/index.ts", 2],
    ["ports/storage/Feed.ts", 3],
    ["orders/subscription/SubscriptionOperations.ts", 4],
    ["orders/index.ts", 5],
    ["catalogue.ts", 5]
  ])("%s has rank %i", (inside, rank) => {
    expect(rankOf(inside)).toBe(rank)
  })
})
