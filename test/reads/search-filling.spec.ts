/** Search of records of before: refused until their terms are there, never a part of them; entries of files. */
import { Queries, Records } from "@bursar/engine-core"
import { Atomically, Documents, Feed, type TermRow, Terms } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as SearchIndexing from "#core/records/SearchIndexing.ts"
import * as SearchQueries from "#core/overviews/search/SearchQueries.ts"
import { entryTerms, termsOf } from "#core/statements/external-statement/EntryTerms.ts"
import { searchFilling } from "#core/statements/external-statement/SearchRunner.ts"
import { discardPruned } from "#core/statements/external-statement/StageSteps.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Bank from "../operations/bank.ts"
import * as Fund from "../operations/fund.ts"

const caller = Calls.person("olga", "operator")

const hrefs = (q: string, limit = 100) =>
  Effect.flatMap(Queries, (queries) =>
    Effect.map(
      queries.page(SearchQueries.list, { caller, params: { q }, point: {}, page: { limit } }),
      ({ value }) => value.map(({ resource }) => resource.href)
    )
  )

/** A store of a release before the search while `isOld` says so: it writes no terms. */
const storeOfBefore = (born: ReadonlyArray<string> = []) => {
  const state = { isOld: true }
  const marks = [...born]
  const storage = Layer.effectContext(
    Effect.map(Layer.build(Layer.fresh(Memory.layer)), (all) => {
      const sound = Context.get(all, Terms)
      return Context.add(all, Terms, {
        ...sound,
        put: (rows) => (state.isOld ? Effect.void : sound.put(rows)),
        delete: (places) => (state.isOld ? Effect.void : sound.delete(places)),
        marks: Effect.sync(() => [...marks]),
        mark: (mark) => Effect.sync(() => void marks.push(mark))
      })
    })
  )
  return { marks, state, storage }
}

/** One turn of the task that fills the search. */
const turn = searchFilling.run({ state: "", fence: Effect.void, next: () => Effect.void })

describe("records of before", () => {
  it.effect("are refused as not ready until their terms are there, and then found", () => {
    const { state, storage } = storeOfBefore()
    return Effect.gen(function* () {
      yield* Fund.opened({ display: { displayName: "Alte Eiche" } })
      yield* Calls.write(
        "holder.register",
        {},
        { holderId: "early", party: "early::1220ab", legalName: "Early Bird" }
      )
      yield* Bank.states({
        id: "stmt-early",
        entries: [{ direction: "credit", amount: "1", reference: "INVOICE 17" }]
      })
      state.isOld = false
      const refusal = (yield* Effect.flip(hrefs("early"))) as { readonly slug?: string }
      assert.strictEqual(refusal.slug, "not-ready")
      yield* turn
      assert.deepStrictEqual(yield* hrefs("early"), ["/v1/holders/early"])
      assert.deepStrictEqual(yield* hrefs("eiche"), ["/v1/instruments/fund-a"])
      assert.deepStrictEqual(yield* hrefs("invoice 1"), ["/v1/external-statements/stmt-early"])
      yield* turn
      assert.deepStrictEqual(yield* hrefs("early"), ["/v1/holders/early"])
    }).pipe(Effect.provide(world({ storage })))
  })
})

describe("a store that was made with the search", () => {
  it.effect(
    "has the records of a kind that is searched later once it is filled, not before",
    () => {
      const { marks, state, storage } = storeOfBefore(["*:1"])
      state.isOld = false
      return Effect.gen(function* () {
        yield* turn
        yield* hrefs("early")
        // The program of before searched no holders: it wrote no terms of theirs, and no mark.
        assert.isTrue(marks.includes("holder:1"))
        marks.splice(marks.indexOf("holder:1"), 1)
        state.isOld = true
        yield* Calls.write(
          "holder.register",
          {},
          { holderId: "early", party: "early::1220ab", legalName: "Early Bird" }
        )
        state.isOld = false
        // Another opening of the store: what is filled stays so for as long as one is open.
        const parts = {
          ...{ atomically: yield* Atomically, documents: yield* Documents, feed: yield* Feed },
          ...{ terms: yield* Terms, kinds: (yield* Records).search.kinds, parts: [] }
        }
        const later = SearchIndexing.make(parts)
        yield* later.claim
        assert.strictEqual(yield* Calls.slug(later.checkFilled(["holder"])), "not-ready")
        assert.deepStrictEqual(yield* later.unfilled, ["holder"])
        yield* later.fill("holder")
        yield* later.checkFilled(["holder"])
        assert.deepStrictEqual(yield* hrefs("early"), ["/v1/holders/early"])
      }).pipe(Effect.provide(world({ storage })))
    }
  )
})

const entry = (bankReference: string | null, reference: string | null) => ({
  bookingDate: "2026-07-30",
  valueDate: null,
  amount: "1.00",
  currency: "USD",
  direction: "credit",
  bankReference,
  reference,
  counterparty: null
})

describe("references of booked entries", () => {
  it.effect("are terms of their statement, with the numbers of accounts in them masked", () =>
    Effect.gen(function* () {
      const iban = "DE89 3704 0044 0532 0130 00"
      const long = "x".repeat(150)
      const lines = [
        { kind: "cash", line: 1, ...entry("B-1", `Pay ${iban} now`) },
        { kind: "cash", line: 2, ...entry("B-1", long) },
        { kind: "custody", line: 3, account: iban, asset: "B-2", quantity: "1" }
      ]
      const rows: ReadonlyArray<TermRow> = termsOf("est-1", lines as never)
      assert.deepStrictEqual(
        rows.map(({ collection, rank, recordId, shown }) => [collection, rank, recordId, shown]),
        [
          [entryTerms, "whole", "est-1", rows[0]?.shown],
          [entryTerms, "whole", "est-1", "B-1"],
          [entryTerms, "whole", "est-1", long]
        ]
      )
      assert.isFalse(rows.some(({ text }) => text.replaceAll(" ", "").includes("0532")))
      assert.isTrue(rows[0]?.text.startsWith("pay "))
    })
  )

  it.effect("are found once their statement is recorded, and no longer once it is pruned", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* Bank.states({
        id: "stmt-late",
        entries: [{ direction: "credit", amount: "1", reference: "Late 1" }]
      })
      const { search } = yield* Records
      const entriesOf = (id: string) =>
        termsOf(id, [{ kind: "cash", line: 1, ...entry("QX-77", null) }] as never)
      yield* search.put([...entriesOf("stmt-late"), ...entriesOf("never-recorded")])
      assert.deepStrictEqual(yield* hrefs("qx-7"), ["/v1/external-statements/stmt-late"])
      const records = yield* Records
      const statement = yield* records.get(externalStatements, "stmt-late")
      yield* discardPruned({ ...statement, prunedAt: statement.asOf })
      assert.deepStrictEqual(yield* hrefs("qx-7"), [])
      const left = yield* search.page({
        ranges: [{ rank: "whole", collection: entryTerms }],
        prefix: "qx",
        limit: 9
      })
      assert.deepStrictEqual(
        left.map(({ recordId }) => recordId),
        ["never-recorded"]
      )
    }).pipe(Effect.provide(world()))
  )
})
