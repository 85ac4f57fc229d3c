/**
 * Files with several statements of an account: recorded in order, all or none; what is there already is
 * not recorded again; on both storages.
 */
import { Records, Workers } from "@bursar/engine-core"
import { Date, Instant } from "@bursar/engine-core/kernel"
import { Blobs, Bulk, Feed, WorkQueue } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { reader } from "#adapters/statements/Statements.ts"
import { queue as runs } from "#core/findings/RunQueue.ts"
import { steps } from "#core/reconciliation/statement-retention/StatementRetentionSteps.ts"
import * as EntryLookups from "#core/statements/external-statement/EntryLookups.ts"
import {
  type ExternalStatement,
  externalStatements,
  fileIdOf,
  isInForce,
  ownerOf,
  placeInDayOf
} from "#core/statements/external-statement/ExternalStatement.ts"
import { statementsMax } from "#core/statements/external-statement/IntakeSteps.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import * as Calls from "../engine/calls.ts"
import { isLong } from "../long-run.ts"
import * as Accounts from "./accounts.ts"
import * as Bank from "./bank-files.ts"
import * as Intakes from "./intakes.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"
import { join } from "./venue.ts"

const storages = [
  ["memory", Memory.layer, it.effect],
  ["PostgreSQL", TestDatabase.layer as typeof Memory.layer, it.live]
] as const

const source = Intakes.source({
  externalSourceId: "bank" as never,
  kind: "cash",
  adapter: "camt.053",
  account: "account-1",
  accountIs: null,
  // No day is due, so that none is missing between the days of a test.
  calendar: []
})

const venue = (storage: typeof Memory.layer = Memory.layer) =>
  Effect.provide(Intakes.engine({ storage, sources: [source], queries: reader }))

const account = Accounts.plants(
  { externalAccountId: "account-1" as never, instrumentId: "fund-a" as never, currency: "USD" },
  Bank.number
)

const openedAt = Effect.gen(function* () {
  yield* Story.recorded(yield* Story.cast)
  yield* account
  yield* TestClock.setTime(Date.epochDay(Date.of("2026-07-02")) * 86_400_000 + 36_000_000)
})
const openedNow = Effect.gen(function* () {
  const cast = { registrar: yield* join("registrar"), oracle: yield* join("oracle") } as Story.Cast
  yield* Story.recorded(cast)
  yield* account
})

const hand = (
  statements: ReadonlyArray<Bank.BankStatement>,
  options: {
    readonly name?: string
    readonly corrects?: string
    readonly key?: string
    readonly feed?: true
  } = {}
) =>
  Intakes.receive(new TextEncoder().encode(Bank.camt(statements, options)), {
    mediaType: "application/xml",
    named: { externalSourceId: "bank", corrects: options.corrects ?? null },
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.feed === undefined ? {} : { caller: Calls.person("felix", "feed") })
  })

const allStatements = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(externalStatements, { limit: 1_000 })
  return rows.map(({ record }) => record)
})

const nameOf = (self: ExternalStatement) => `${self.businessDate}/${placeInDayOf(self)}`

/** Statements in force as `date/place`, oldest first. */
const inForce = Effect.map(allStatements, (all) => all.filter(isInForce).map(nameOf))

const received = Effect.gen(function* () {
  const feed = yield* Feed
  const { events } = yield* feed.read({ order: "asc", limit: 1_000 })
  return events.flatMap((event) => (event.type === "statement.received" ? [event.resourceId] : []))
})

/** Rows of owners that no statement has, once everything that is due was swept. */
const leftOver = (owners: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sweeper = yield* Workers.runnerOf("stages")
    yield* Effect.repeat(sweeper.runOnce, { while: (count) => count > 0 })
    const work = yield* WorkQueue
    const bulk = yield* Bulk
    const counts = yield* Effect.forEach(owners, bulk.count)
    const { leased, waiting } = yield* work.depth(StageSteps.queue)
    return { waiting, leased, rows: counts.filter(Option.isSome).length }
  })

const entry = (amount: number, date: string, reference: string | null = null): Bank.Booked => ({
  amount,
  date,
  reference
})

/** 2 January in two statements, 3 January in one. */
const first: Bank.BankStatement = {
  ...{ date: "2020-01-02", sequence: 10, opening: 100 },
  booked: [entry(50, "2020-01-02", "A"), entry(5, "2020-01-02")]
}
const second: Bank.BankStatement = {
  ...{ date: "2020-01-02", sequence: 11, opening: 155 },
  booked: [entry(5, "2020-01-02")]
}
const third: Bank.BankStatement = {
  ...{ date: "2020-01-03", sequence: 12, opening: 160 },
  booked: [entry(-60, "2020-01-03", "B")]
}
const fourth: Bank.BankStatement = {
  ...{ date: "2020-01-04", sequence: 13, opening: 100 },
  booked: [entry(1, "2020-01-04", "C")]
}

for (const [name, storage, timed] of storages) {
  const opened = name === "memory" ? openedAt : openedNow
  const provided = venue(storage)

  describe(`a file with several statements, on ${name}`, () => {
    timed("is recorded whole, in order, with one run, and its newest statement answers", () =>
      Effect.gen(function* () {
        yield* opened
        const answer = yield* hand([third, second, first], { key: "k" })
        const all = yield* allStatements
        assert.deepEqual(all.map(nameOf), ["2020-01-02/1", "2020-01-02/2", "2020-01-03/1"])
        assert.deepEqual(
          all.map(({ sequence }) => sequence),
          ["10", "11", "12"]
        )
        const ids = all.map(({ externalStatementId }): string => externalStatementId)
        assert.strictEqual(answer.location, `/v1/external-statements/${ids[2]}`)
        const statements = all.map(({ businessDate, externalStatementId }) => ({
          ...{ externalStatementId, businessDate, recorded: true }
        }))
        assert.deepInclude(answer.value, {
          ...{ externalStatementId: ids[2] ?? "", sequence: "12", placeInDay: 1, statements }
        })
        assert.deepEqual(yield* received, ids)
        const lines = yield* Effect.forEach(all, (each) =>
          Stream.runCollect(StatementLookups.linesOf(each))
        )
        assert.deepEqual(
          lines.map((statement) => statement.map(({ line }) => line)),
          [[1, 2], [1], [1]]
        )
        const work = yield* WorkQueue
        assert.strictEqual((yield* work.depth(runs)).waiting, 1)
        assert.deepEqual(yield* leftOver([]), { waiting: 0, leased: 0, rows: 0 })
        // The same call, the same bytes under no key, and a feed are answered the same.
        const file = [third, second, first]
        assert.deepEqual({ ...(yield* hand(file, { key: "k" })), replayed: false }, answer)
        assert.deepEqual({ ...(yield* hand(file)), replayed: false }, answer)
        const receipt = yield* hand(file, { feed: true })
        assert.deepEqual(receipt.value, {
          externalStatementId: ids[2] ?? "",
          contentHash: all[0]?.contentHash,
          businessDate: "2020-01-03",
          statements
        })
        assert.strictEqual((yield* allStatements).length, 3)
        const raw = yield* Effect.forEach(all, (each) =>
          Stream.runCollect(
            StageSteps.bytesOf({ stageId: fileIdOf(each), size: each.rawBytes })
          ).pipe(Effect.map((parts) => Buffer.concat([...parts]).toString("utf8")))
        )
        assert.deepEqual([...new Set(raw)], [Bank.camt(file)])
      }).pipe(provided)
    )

    timed("is recorded whole or not at all, and leaves nothing", () =>
      Effect.gen(function* () {
        yield* opened
        const { id } = yield* hand([third])
        const cases: ReadonlyArray<readonly [ReadonlyArray<Bank.BankStatement>, string, string]> = [
          [[first, { ...second, opening: 1 }], "rule-refused statement-of-date", "/Stmt/1"],
          [[first, { ...second, sequence: 10 }], "rule-refused statement-of-date", "/Stmt/1"],
          [[first, { ...second, sequence: null }], "rule-refused statement-of-date", "/Stmt/1"],
          [[fourth, { ...third, booked: [] }], "rule-refused statement-of-date", "/Stmt/1"],
          [[fourth, { ...fourth, date: "2199-01-01" }], "rule-refused as-of-ahead", "/Stmt/1"]
        ]
        for (const [statements, why, pointer] of cases) {
          const refusal = yield* Effect.flip(hand(statements))
          const { details, slug } = refusal as unknown as {
            readonly slug: string
            readonly details: {
              readonly check: string
              readonly errors: ReadonlyArray<{ readonly pointer: string }>
            }
          }
          assert.strictEqual(`${slug} ${details.check}`, why)
          assert.strictEqual(details.errors[0]?.pointer, `/body/Document/BkToCstmrStmt${pointer}`)
        }
        const all = yield* allStatements
        assert.deepEqual(
          all.map(({ externalStatementId }): string => externalStatementId),
          [id]
        )
        assert.deepEqual(yield* received, [id])
        assert.deepEqual(yield* leftOver(all.map(ownerOf)), { waiting: 0, leased: 0, rows: 1 })
      }).pipe(provided)
    )

    timed("records what is new beside what is in force already, and lists both", () =>
      Effect.gen(function* () {
        yield* opened
        yield* hand([first, second])
        const { replayed, value } = yield* hand([second, third], { key: "k" })
        assert.isFalse(replayed)
        assert.deepEqual(yield* inForce, ["2020-01-02/1", "2020-01-02/2", "2020-01-03/1"])
        const listed = value["statements"] as ReadonlyArray<Record<string, unknown>>
        assert.deepEqual(
          listed.map(({ businessDate, recorded }) => [businessDate, recorded]),
          [
            ["2020-01-02", false],
            ["2020-01-03", true]
          ]
        )
        assert.deepEqual((yield* hand([second, third])).value, value)
        assert.strictEqual((yield* received).length, 3)
        // Other bytes with nothing new are refused, as one statement is.
        for (const file of [[third], [first, second, third]]) {
          const { why } = yield* Intakes.refused(hand(file, { name: "again" }))
          assert.strictEqual(why, "rule-refused statement-of-date")
        }
        // A known date with other lines is neither known nor new.
        const changed = { ...third, booked: [entry(-60, "2020-01-03", "Z")] }
        const { why } = yield* Intakes.refused(hand([changed, fourth]))
        assert.strictEqual(why, "rule-refused statement-of-date")
        assert.deepEqual(yield* leftOver([]), { waiting: 0, leased: 0, rows: 0 })
      }).pipe(provided)
    )

    timed("corrects the one statement that is named, at its place in the day", () =>
      Effect.gen(function* () {
        yield* opened
        yield* hand([first, second, third])
        const [one, two] = yield* allStatements
        if (one === undefined || two === undefined) throw new Error("no statements")
        const better = { ...second, booked: [entry(6, "2020-01-02"), entry(-1, "2020-01-02")] }
        const none = yield* Intakes.refused(
          hand([{ ...better, sequence: 99 }, first, fourth], {
            corrects: two.externalStatementId
          })
        )
        assert.strictEqual(none.why, "rule-refused statement-of-date")
        const { id, value } = yield* hand([first, better], { corrects: two.externalStatementId })
        assert.deepInclude(value, { corrects: two.externalStatementId, placeInDay: 2 })
        const all = yield* allStatements
        assert.deepEqual(all.filter(isInForce).map(nameOf), [
          "2020-01-02/1",
          "2020-01-02/2",
          "2020-01-03/1"
        ])
        const superseded = all.filter((each) => !isInForce(each))
        assert.deepEqual(
          superseded.map(({ externalStatementId, supersededBy }) => [
            externalStatementId,
            supersededBy
          ]),
          [[two.externalStatementId, id as never]]
        )
        // A replaced statement cannot be corrected again; the first of the day can be, alone.
        const forked = yield* Intakes.refused(
          hand([second, fourth], { corrects: two.externalStatementId })
        )
        assert.strictEqual(forked.why, "rule-refused statement-of-date")
        const again = yield* hand([{ ...first, closing: 154 }], {
          corrects: one.externalStatementId
        })
        assert.deepInclude(again.value, { placeInDay: 1 })
      }).pipe(provided)
    )

    // Each statement opens a stage on the disk, which takes a database seconds.
    const atLimit = name === "memory" || isLong ? timed : timed.skip
    atLimit("has no more statements than one transaction takes", () =>
      Effect.gen(function* () {
        yield* opened
        const days = Array.from(
          { length: statementsMax + 1 },
          (_, index): Bank.BankStatement => ({
            date: Date.addDays(Date.of("2020-01-01"), index),
            ...{ sequence: index, opening: 0, booked: [] }
          })
        )
        const { why } = yield* Intakes.refused(hand(days))
        assert.strictEqual(why, "body-too-large")
        assert.deepEqual(yield* inForce, [])
        const { value } = yield* hand(days.slice(1))
        assert.strictEqual((value["statements"] as Array<unknown>).length, statementsMax)
        // The next file has all but the first of them again, and one more.
        const last = { ...(days.at(-1) as Bank.BankStatement), sequence: statementsMax + 1 }
        const next = { ...last, date: Date.addDays(Date.of(last.date), 1) }
        const more = yield* hand([...days.slice(2), next])
        const recorded = (more.value["statements"] as ReadonlyArray<Record<string, unknown>>).map(
          (each) => each["recorded"]
        )
        assert.deepEqual([...new Set(recorded.slice(0, -1)), recorded.at(-1)], [false, true])
        assert.strictEqual((yield* inForce).length, statementsMax + 1)
        assert.deepEqual(yield* leftOver([]), { waiting: 0, leased: 0, rows: 0 })
      }).pipe(provided)
    )
  })
}

describe("statements of one file past their period", () => {
  it.effect("stay with the newest of them, which every run compares, and go with their day", () =>
    Effect.gen(function* () {
      yield* openedAt
      const empty = (bankStatement: Bank.BankStatement): Bank.BankStatement => ({
        ...bankStatement,
        booked: []
      })
      yield* hand([empty(first), { ...empty(second), opening: 100 }])
      yield* TestClock.setTime(Date.epochDay(Date.of("2037-01-01")) * 86_400_000)
      const records = yield* Records
      const now = yield* Instant.now
      for (const step of steps) yield* records.transactAlone(step.run({ now, after: null }))
      const pruned = Effect.map(allStatements, (all) =>
        all.flatMap((each) => (each.prunedAt === undefined ? [] : [nameOf(each)]))
      )
      assert.deepEqual(yield* pruned, [])
      // The file of the next day has what is there again, with bytes of its own.
      yield* hand([
        { ...empty(second), opening: 100 },
        { ...empty(third), opening: 100 }
      ])
      yield* TestClock.adjust("4000 days")
      const later = yield* Instant.now
      for (const step of steps) yield* records.transactAlone(step.run({ now: later, after: null }))
      yield* TestClock.adjust("61 minutes")
      assert.deepEqual((yield* leftOver([])).waiting, 0)
      assert.deepEqual(yield* pruned, ["2020-01-02/1", "2020-01-02/2"])
      const all = yield* allStatements
      const bulk = yield* Bulk
      const counts = yield* Effect.forEach(all, (each) => bulk.count(ownerOf(each)))
      assert.deepEqual(counts.map(Option.isSome), [false, false, true])
      const blobs = yield* Blobs
      const bytes = yield* Effect.forEach(all, (each) =>
        blobs.chunk({ file: StageSteps.fileOf(fileIdOf(each)), chunk: 0 })
      )
      assert.deepEqual(bytes.map(Option.isSome), [false, false, true])
    }).pipe(venue())
  )
})

// ---- law: how a bank cuts its days into files makes no difference

const day = fc.record({
  /** Cents of nothing: amounts of each statement of the day. */
  statements: fc.array(
    fc.record({
      booked: fc.array(
        fc.record({
          amount: fc.constantFrom(-5, 5, 7),
          reference: fc.constantFrom(null, null, "R"),
          // The day before may be booked, so that the next statement repeats an entry.
          isLate: fc.boolean()
        }),
        { maxLength: 3 }
      ),
      /** Amount by which the stated closing balance is too large. */
      off: fc.constantFrom(0, 0, 0, 2)
    }),
    { minLength: 1, maxLength: 3 }
  ),
  /** Opening balance of the day less the closing balance of the day before. */
  gap: fc.constantFrom(0, 0, 0, 3)
})

const cases = fc.record({
  days: fc.array(day, { minLength: 1, maxLength: 4 }),
  /** Files: how many statements a file goes back over those that were sent, and how many it adds. */
  files: fc.array(fc.record({ back: fc.nat({ max: 3 }), on: fc.nat({ max: 4 }) }), {
    minLength: 1,
    maxLength: 6
  })
})

type Days = ReadonlyArray<typeof day extends fc.Arbitrary<infer D> ? D : never>

const statementsOf = (days: Days): ReadonlyArray<Bank.BankStatement> => {
  let balance = 100
  let sequence = 0
  return days.flatMap(({ gap, statements }, index) => {
    const date = Date.addDays(Date.of("2020-01-02"), index)
    balance += gap
    return statements.map(({ booked, off }): Bank.BankStatement => {
      const stated: Bank.BankStatement = {
        ...{ date, sequence: (sequence += 1), opening: balance },
        booked: booked.map(({ amount, isLate, reference }) =>
          entry(amount, isLate ? Date.addDays(date, -1) : date, reference)
        )
      }
      balance = Bank.closingOf(stated) + off
      return { ...stated, closing: balance }
    })
  })
}

/** Findings of `cash-balance` that the days have, by the bank's own figures. */
const expectedFindings = (bank: ReadonlyArray<Bank.BankStatement>): ReadonlyArray<string> =>
  bank
    .flatMap((statement, index) => {
      const { closing = 0, date, opening } = statement
      const place = bank.slice(0, index + 1).filter((other) => other.date === date).length
      const subject = `bank:${date}${place === 1 ? "" : `:${place}`}`
      const { closing: _, ...unstated } = statement
      const off = closing - Bank.closingOf(unstated)
      const gap = opening - (bank[index - 1]?.closing ?? opening)
      return [
        ...(off === 0 ? [] : [`cash-balance ${subject} open ${off}`]),
        ...(gap === 0 ? [] : [`cash-balance account-1:${date} open ${gap}`])
      ]
    })
    .toSorted()

/** Slices of the statements that the files have, until all were sent. */
const slicesOf = (
  count: number,
  files: ReadonlyArray<{ readonly back: number; readonly on: number }>
): ReadonlyArray<readonly [number, number]> => {
  const slices: Array<readonly [number, number]> = []
  let sent = 0
  for (const { back, on } of files) {
    const [from, to] = [Math.max(0, sent - back), Math.min(count, sent + on)]
    if (from < to) slices.push([from, to])
    sent = Math.max(sent, to)
  }
  return sent < count ? [...slices, [sent, count]] : slices
}

/** Statements in force, their lines, their entries and the findings after a run, without any id. */
const shown = Effect.gen(function* () {
  const scope = { instrumentIds: ["fund-a"], checks: ["cash-balance", "statement-total"] }
  yield* Reconciling.run(JSON.stringify({ scope }))
  const all = (yield* allStatements).filter(isInForce)
  const names = new Map(all.map((each) => [each.externalStatementId as string, nameOf(each)]))
  const lines = yield* Effect.forEach(all, (statement) =>
    Effect.map(Stream.runCollect(StatementLookups.linesOf(statement)), (found) =>
      found.flatMap((line) => (line.kind === "cash" ? [{ statement, entry: line }] : []))
    )
  )
  const facts = yield* EntryLookups.factsOf(lines.flat())
  return {
    statements: all.map((self) => [
      ...[nameOf(self), self.sequence, self.lineCount],
      ...[String(self.opening), String(self.closing)]
    ]),
    lines: lines
      .flat()
      .map(({ entry: cashEntry, statement }) => [
        ...[nameOf(statement), cashEntry.line, String(cashEntry.amount), cashEntry.direction],
        ...[cashEntry.bankReference, cashEntry.bookingDate]
      ]),
    entries: [...facts.values()]
      .map(({ copies }) =>
        copies.map(({ line, statementId }) => `${names.get(statementId)}:${line}`).join(" ")
      )
      .toSorted(),
    findings: (yield* Reconciling.found).toSorted()
  }
})

describe("the days of a bank", () => {
  it("are the same statements, lines, entries and findings, however files cut and repeat them", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ days, files }) => {
        const bank = statementsOf(days)
        const played = (slices: ReadonlyArray<readonly [number, number]>) =>
          Calls.runCase(
            Effect.gen(function* () {
              yield* openedAt
              let sent = 0
              for (const [from, to] of slices) {
                const answer = yield* Effect.result(hand(bank.slice(from, to)))
                // A file is refused where it adds nothing and is not the bytes of an earlier one.
                if (answer._tag === "Failure") assert.isAtMost(to, sent)
                sent = Math.max(sent, to)
              }
              return yield* shown
            }).pipe(venue())
          )
        const single = await played(bank.map((_, index) => [index, index + 1] as const))
        assert.deepEqual(single.findings, expectedFindings(bank))
        assert.deepEqual(await played(slicesOf(bank.length, files)), single)
      }),
      { seed: 20_261_128, numRuns: isLong ? 120 : 12 }
    )
  })
})
