/** Lines of a statement in pages: the lines of the record, each once, and no more rows read than needed. */
import { Queries, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Bulk } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as StatementQueries from "#core/overviews/external-statement/StatementQueries.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Accounts from "../operations/accounts.ts"
import * as Bank from "../operations/bank.ts"
import * as Fund from "../operations/fund.ts"
import * as Intakes from "../operations/intakes.ts"
import * as Story from "../operations/story.ts"

type Params = Parameters<typeof StatementQueries.lines.where>[0]
type Filter = Omit<Params, "externalStatementId">
type Line = Readonly<Record<string, unknown>>

const caller = Calls.person("ida", "auditor")
const { lines } = StatementQueries

/** All lines of a statement as its own read shows them. */
const shownBy = Effect.fnUntraced(function* (externalStatementId: string) {
  const queries = yield* Queries
  const { rows } = yield* queries.streamed(StatementQueries.get, {
    caller,
    params: { externalStatementId: externalStatementId as never },
    point: {}
  })
  return (rows === null ? [] : yield* Stream.runCollect(rows)) as ReadonlyArray<Line>
})

/** Lines of all pages of this size; an act runs after the first page. */
const paged = Effect.fnUntraced(function* <E, R>(
  params: Params,
  limit: number,
  meanwhile: Effect.Effect<unknown, E, R>
) {
  const queries = yield* Queries
  const found: Array<Line> = []
  for (let after: string | undefined; ; ) {
    const page = { limit, ...(after === undefined ? {} : { after }) }
    const { next, value } = yield* queries.page(lines, { caller, params, point: {}, page })
    assert.isAtMost(value.length, limit)
    found.push(...(value as ReadonlyArray<Line>))
    if (next === null) return found
    assert.strictEqual(value.length, limit)
    if (after === undefined) yield* meanwhile
    after = next
  }
})

const passes = (line: Line, { direction, match, reference }: Filter): boolean =>
  (direction === undefined || line["direction"] === direction) &&
  (match === undefined || match.includes(line["match"] as never)) &&
  (reference === undefined ||
    line["reference"] === reference ||
    line["bankReference"] === reference)

const reference = fc.option(fc.constantFrom("A", "B", "C"), { nil: null })
const entry = fc.record({
  amount: fc.constant("100"),
  direction: fc.constantFrom("credit" as const, "debit" as const),
  reference,
  bankReference: reference,
  counterparty: fc.option(
    fc.record({ name: fc.constantFrom("Ann", "Bob"), account: fc.constant(null) }),
    { nil: null }
  )
})
const absent = { nil: undefined }
const filter: fc.Arbitrary<Filter> = fc
  .record({
    match: fc.option(
      fc.uniqueArray(
        fc.constantFrom("unmatched" as const, "partial" as const, "matched" as const),
        {
          minLength: 1
        }
      ),
      absent
    ),
    direction: fc.option(fc.constantFrom("credit" as const, "debit" as const), absent),
    reference: fc.option(fc.constantFrom("A", "B", "none"), absent)
  })
  .map((members) => {
    const set = Object.entries(members).filter(([, value]) => value !== undefined)
    return Object.fromEntries(set) as Filter
  })

const bank = (externalSourceId: string) =>
  Intakes.source({ externalSourceId, kind: "cash", account: "account-1", accountIs: null })

type Entries = ReadonlyArray<Line>

/** Hands the same entries in from two sources of one account: the second statement has copies. */
const handed = Effect.fnUntraced(function* (first: Entries, second: Entries) {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
  yield* TestClock.setTime(Date.parse("2026-07-03T00:00:00Z"))
  yield* Accounts.plants({
    externalAccountId: "account-1" as never,
    instrumentId: "fund-a",
    segregated: false
  })
  const ids: Array<string> = []
  for (const [externalSourceId, entries] of [
    ["bank-1", first],
    ["bank-2", second]
  ] as const) {
    const bytes = Intakes.file({ businessDate: "2026-07-01", lines: entries })
    ids.push((yield* Intakes.receive(bytes, { named: { externalSourceId } })).id)
  }
  return ids as [string, string]
})

const takings = fc.array(
  fc.record({
    statement: fc.nat(1),
    at: fc.nat(),
    amount: fc.constantFrom("40", "60", "100")
  }),
  { maxLength: 12 }
)

/** Reserves amounts of lines that have so much left. */
const takes = Effect.fnUntraced(function* (
  ids: readonly [string, string],
  takings: ReadonlyArray<{
    readonly statement: number
    readonly at: number
    readonly amount: string
  }>,
  counts: readonly [number, number]
) {
  const taken = new Map<string, number>()
  for (const [index, { amount, at, statement }] of takings.entries()) {
    const count = counts[statement as 0 | 1]
    if (count === 0) continue
    const named = { statementId: ids[statement as 0 | 1], line: (at % count) + 1, amount }
    const name = `${named.statementId}:${named.line}`
    const sum = (taken.get(name) ?? 0) + Number(amount)
    if (sum > 100) continue
    taken.set(name, sum)
    yield* Bank.reserves({ order: { kind: "subscription", orderId: `s${index}` }, named })
  }
})

describe("the lines of a statement in pages", () => {
  it.effect(
    "are those of its own read that pass the filters, each once, of the first page's moment",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.array(entry, { maxLength: 150, size: "max" }),
            fc.array(entry, { maxLength: 20 }),
            takings,
            fc.array(filter, { minLength: 3, maxLength: 6 }),
            fc.integer({ min: 1, max: 60 }),
            (first, second, taken, filters, limit) =>
              Calls.runCase(
                Effect.gen(function* () {
                  const ids = yield* handed(first, [...first.slice(0, 10), ...second])
                  const counts = [first.length, Math.min(10, first.length) + second.length] as const
                  yield* takes(ids, taken, counts)
                  for (const id of ids) {
                    const all = yield* shownBy(id)
                    for (const each of [{}, ...filters]) {
                      const params = { externalStatementId: id as never, ...each }
                      const expected = all.filter((line) => passes(line, each))
                      const queries = yield* Queries
                      const { value } = yield* queries.all(lines, {
                        caller,
                        params,
                        point: {},
                        page: {}
                      })
                      assert.deepEqual(
                        (yield* Stream.runCollect(value)) as ReadonlyArray<Line>,
                        expected
                      )
                      assert.deepEqual(yield* paged(params, limit, Effect.void), expected)
                    }
                  }
                  // What is taken after the first page is no part of the pages after it.
                  const [id] = ids
                  const before = yield* shownBy(id)
                  const left = before.findLast((line) => line["match"] === "unmatched")
                  if (left === undefined) return
                  const rest = { statementId: id, line: left["line"] as number, amount: "1" }
                  const meanwhile = Bank.reserves({
                    order: { kind: "subscription", orderId: "meanwhile" },
                    named: rest
                  })
                  const params = { externalStatementId: id as never, match: ["unmatched" as const] }
                  const expected = before.filter((line) => passes(line, params))
                  assert.deepEqual(yield* paged(params, 1, meanwhile), expected)
                }).pipe(
                  Effect.provide(Intakes.engine({ sources: [bank("bank-1"), bank("bank-2")] }))
                )
              )
          ),
          { numRuns: 8 }
        )
      )
  )
})

/** Rows that the store was made to read. */
let readRows = 0
const counting: Layer.Layer<Memory.Storage> = Layer.effectContext(
  Effect.map(Layer.build(Memory.layer), (context) => {
    const bulk = Context.get(context, Bulk)
    const read: typeof bulk.read = (page) =>
      Effect.tap(bulk.read(page), (rows) => Effect.sync(() => (readRows += rows.length)))
    return Context.add(context, Bulk, { ...bulk, read })
  })
)

describe("a page of a long statement", () => {
  const count = 2_600
  const entries = Array.from({ length: count }, (_, index) => ({
    amount: "100",
    bankReference: `B${index + 1}`,
    ...(index === count - 1 ? { direction: "debit" as const } : {})
  }))
  const rowsOf = (filter: Filter, limit: number) =>
    Effect.gen(function* () {
      const queries = yield* Queries
      readRows = 0
      const params = { externalStatementId: "st-1" as never, ...filter }
      const { value } = yield* queries.page(lines, { caller, params, point: {}, page: { limit } })
      return [value.map(({ line }) => line), readRows] as const
    })

  it.effect("reads its own rows, and of lines with something left the parts that have some", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* Bank.states({ id: "st-1", at: "second", entries })
      assert.deepEqual(yield* rowsOf({}, 3), [[1, 2, 3], 4])
      // Orders took all but two lines of the first part, and a part of one of the last.
      for (let line = 1; line <= 2_500; line += 1) {
        if (line === 3) continue
        const order = { kind: "subscription", orderId: `s${line}` } as const
        yield* Bank.reserves({ order, named: { statementId: "st-1", line, amount: "100" } })
      }
      const [open, read] = yield* rowsOf({ match: ["unmatched", "partial"] }, 2)
      assert.deepEqual(open, [3, 2_501])
      assert.isAtMost(read, 101)
      assert.deepEqual((yield* rowsOf({ direction: "debit" }, 2))[0], [count])
      assert.deepEqual((yield* rowsOf({ reference: "B2000" }, 2))[0], [2_000])
    }).pipe(Effect.provide(world({ storage: counting })))
  )

  it.effect("is refused once retention has deleted the lines, also by a cursor of before", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* Bank.states({ id: "st-1", at: "second", entries: entries.slice(0, 5) })
      const queries = yield* Queries
      const params = { externalStatementId: "st-1" as never }
      const page = (after?: string) =>
        queries.page(lines, {
          caller,
          params,
          point: {},
          page: { limit: 2, ...(after === undefined ? {} : { after }) }
        })
      const { next } = yield* page()
      const records = yield* Records
      const now = yield* Instant.now
      const act = { cause: { by: "clock" }, now } as const
      yield* records.transact(
        Effect.flatMap(records.get(externalStatements, "st-1"), (statement) =>
          records.append(externalStatements, statement, { on: "prune", at: now }, act)
        )
      )
      for (const after of [undefined, next ?? ""]) {
        const { details, slug } = (yield* Effect.flip(page(after))) as unknown as {
          readonly slug: string
          readonly details: { readonly detail?: string }
        }
        assert.strictEqual(slug, "not-found")
        assert.include(details.detail, "prunedAt")
      }
    }).pipe(Effect.provide(world()))
  )
})
