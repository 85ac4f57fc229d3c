/** Lots in PostgreSQL: the same at every offset as by hand, and the oldest of a party read without the others. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { describe, expect } from "vitest"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import type * as LotRules from "#core/instruments/lot/LotRules.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import * as StoredLots from "../projection/stored-lots.ts"
import {
  begin,
  byHand,
  funds,
  histories,
  parties,
  plainKind,
  shownLot
} from "../rules/lot-histories.ts"
import * as Plans from "./plans.ts"

/** Records over a database, and its plain client. */
const over = (url: string) =>
  RecordsLayer.layer.pipe(
    Layer.provide(NodeCrypto.layerCrypto),
    Layer.provideMerge(Layer.fresh(Postgres.layer({ url: Redacted.make(url) })))
  )

const cut = { updates: [1, 3, 2], batch: 4 }
const longest = (seed: number): ReadonlyArray<LotRules.Step> =>
  fc.sample(histories, { seed, numRuns: 40 }).toSorted((a, b) => b.length - a.length)[0] ?? []

describe("lots in PostgreSQL", () => {
  it.live.each([1, 2, 3])("never differ at an offset from those kept by hand: %i", (seed) =>
    Effect.gen(function* () {
      const steps = longest(seed)
      expect(steps.length).toBeGreaterThan(20)
      yield* Effect.gen(function* () {
        const history = yield* StoredLots.foldStored(steps, cut)
        for (const [index, until] of history.entries()) {
          const lots = yield* StoredLots.storedLots(index + 1)
          expect(lots.map(shownLot).toSorted()).toEqual(byHand(until))
        }
      }).pipe(Effect.provide(over(yield* TestDatabase.url)))
    }).pipe(Effect.scoped)
  )

  it.live("never reads all lots of a party for the units that leave it", () =>
    Effect.gen(function* () {
      const [fund] = funds
      const [alice, bob] = parties
      if (fund === undefined || alice === undefined || bob === undefined) throw new Error("nobody")
      const count = 2_000
      const stepOf = (
        seq: number,
        lotMovement: Pick<LotRules.LotMovement, "from" | "to">
      ): LotRules.Step => ({
        acquisition: null,
        movement: {
          ...fund,
          ...lotMovement,
          ...{ seq, kind: plainKind(lotMovement) },
          units: Decimal.one,
          ledgerTime: begin,
          reference: null
        }
      })
      const minted = Array.from({ length: count }, (_, n) =>
        stepOf(n + 1, { from: null, to: alice })
      )
      const { url, statements } = yield* Plans.server
      const context = yield* Layer.build(over(url))
      yield* Effect.gen(function* () {
        const records = yield* Records
        yield* StoredLots.foldStored(minted, { updates: [count], batch: 1 })
        yield* Context.get(context, SqlClient.SqlClient)`analyze bursar.document`
        const fold = StoredLots.foldOf([])
        const gift = StoredLots.sharesOf([stepOf(count + 1, { from: alice, to: bob })], 2)
        const { statements: run } = yield* statements(records.transactAlone(fold(gift)))
        const looked = run.filter(({ sql }) => sql.includes("filters ->> 'entry'"))
        expect(looked).toHaveLength(1)
        for (const { plan } of looked) {
          expect(Plans.nodes(plan).map((node) => node["Index Name"])).toContain("document_entry")
          expect(Plans.rowsOf(plan)).toBeLessThan(count / 2)
        }
      }).pipe(Effect.provideContext(context))
    }).pipe(Effect.scoped)
  )
})
