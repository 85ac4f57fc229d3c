/** Laws of the plan of a batch: what is folded, what is compared with the log, and where the head moves. */
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as LedgerBatch from "#core/projection/LedgerBatch.ts"

const start = { offset: 0, ledgerTime: null, horizonOffset: 0 }

const transaction = (
  offset: number,
  changes: Partial<Ledger.Transaction> = {}
): Ledger.Transaction => ({
  _tag: "Transaction",
  offset: offset as Offset.Offset,
  updateId: `update-${offset}`,
  commandId: Option.none(),
  workflowId: Option.none(),
  effectiveAt: Instant.fromNanos(0n),
  recordTime: Instant.fromNanos(0n),
  synchronizerId: "synchronizer",
  events: [],
  ...changes
})

const foreign = (offset: number, what: Ledger.Foreign["what"]): Ledger.Foreign => ({
  _tag: "Foreign",
  offset: offset as Offset.Offset,
  what,
  raw: null
})

const instant = fc
  .bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  .map((nanos) => Instant.fromNanos(nanos))

const update = (offset: number): fc.Arbitrary<Ledger.Update> =>
  fc.oneof(
    { weight: 5, arbitrary: instant.map((effectiveAt) => transaction(offset, { effectiveAt })) },
    {
      weight: 1,
      arbitrary: fc.constant<Ledger.Checkpoint>({
        _tag: "Checkpoint",
        offset: offset as Offset.Offset,
        recordTime: Option.none()
      })
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(foreign(offset, "Topology"), foreign(offset, "Unknown"))
    }
  )

const record = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.constant(null)))
const template = { packageName: "package", module: "Module", entity: "Entity" }
const event: fc.Arbitrary<Ledger.Event> = fc.oneof(
  fc.record({ payload: record, createdAt: instant, blob: fc.option(fc.string()) }).map(
    ({ payload, createdAt, blob }): Ledger.Created => ({
      _tag: "Created",
      nodeId: 0,
      contractId: "00",
      template,
      packageId: "p",
      payload,
      views: [{ iface: template, value: payload }],
      signatories: [],
      observers: [],
      witnesses: [],
      createdAt,
      blob: Option.fromNullOr(blob),
      inAcs: true
    })
  ),
  fc.tuple(record, record).map(
    ([arg, result]): Ledger.Exercised => ({
      _tag: "Exercised",
      nodeId: 1,
      lastDescendant: 1,
      contractId: "00",
      template,
      iface: Option.some(template),
      choice: "Choice",
      arg,
      result,
      actors: [],
      consuming: true,
      witnesses: [],
      inAcs: true
    })
  )
)

/** Updates of a ledger, at increasing offsets. */
const stream = fc
  .uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 30 })
  .chain((offsets) => fc.tuple(...offsets.toSorted((a, b) => a - b).map(update)))

const rowsOf = ({ planned }: LedgerBatch.LedgerBatch) => planned.map(({ row }) => row)

describe("the plan of a batch", () => {
  it("folds each transaction once, chained by offsets, and moves the head to the last update", () => {
    fc.assert(
      fc.property(stream, (updates) => {
        const batch = LedgerBatch.plan(start, updates)
        const transactions = updates.filter(({ _tag }) => _tag === "Transaction")
        expect(batch.planned.map((planned) => planned.update)).toEqual(transactions)
        expect(batch.repeats).toEqual([])
        expect(batch.ignored).toEqual(updates.filter(({ _tag }) => _tag === "Foreign"))
        expect(batch.offset).toBe(updates.at(-1)?.offset)
        for (const row of rowsOf(batch)) {
          const before = updates.filter(({ offset }) => offset < row.offset).at(-1)
          expect(row.prevOffset).toBe(before?.offset ?? 0)
        }
      })
    )
  })

  it("keeps ledger time as the running maximum of effective times", () => {
    fc.assert(
      fc.property(stream, fc.option(instant), (updates, earlier) => {
        const ledgerTime = earlier === null ? null : Instant.sortable(earlier)
        const batch = LedgerBatch.plan({ ...start, ledgerTime }, updates)
        let latest = ledgerTime ?? ""
        for (const { row, update } of batch.planned) {
          const effectiveAt = Instant.sortable(update.effectiveAt)
          latest = effectiveAt > latest ? effectiveAt : latest
          expect(row.effectiveAt).toBe(effectiveAt)
          expect(row.ledgerTime).toBe(latest)
        }
        expect(batch.ledgerTime ?? "").toBe(latest)
      })
    )
  })

  it("is the same rows however the updates are cut into batches", () => {
    fc.assert(
      fc.property(stream, fc.nat(30), (updates, cut) => {
        const whole = LedgerBatch.plan(start, updates)
        const first = LedgerBatch.plan(start, updates.slice(0, cut))
        const second = LedgerBatch.plan({ ...start, ...first }, updates.slice(cut))
        expect([...rowsOf(first), ...rowsOf(second)]).toEqual(rowsOf(whole))
        expect(second.offset).toBe(whole.offset)
        expect(second.ledgerTime).toBe(whole.ledgerTime)
      })
    )
  })

  it("folds nothing that the head has passed, and hands its transactions over for comparison", () => {
    fc.assert(
      fc.property(stream, fc.nat(10_000), (updates, horizonOffset) => {
        const { offset, ledgerTime } = LedgerBatch.plan(start, updates)
        const again = LedgerBatch.plan({ offset, ledgerTime, horizonOffset }, updates)
        expect(again).toEqual({
          planned: [],
          ignored: [],
          repeats: updates.filter(
            (update) => update._tag === "Transaction" && update.offset > horizonOffset
          ),
          offset,
          ledgerTime
        })
      })
    )
  })

  it("drops a transaction that comes twice in one batch, and hands over one that comes late", () => {
    const [first, second, third] = [transaction(1), transaction(2), transaction(3)]
    const batch = LedgerBatch.plan(start, [first, third, first, third, second])
    expect(batch.planned.map((planned) => planned.update)).toEqual([first, third])
    expect(batch.repeats).toEqual([second])
  })

  it("throws where a contract moves to another synchronizer, unless the head has passed it", () => {
    const moved = foreign(2, "Reassignment")
    expect(() => LedgerBatch.plan(start, [transaction(1), moved])).toThrow("offset 2 moves")
    expect(LedgerBatch.plan({ ...start, offset: 2 }, [moved]).ignored).toEqual([])
  })
})

describe("a repeat", () => {
  it("is the transaction that the log holds, or it is out of order", () => {
    const repeat = transaction(4)
    const head = { offset: 9, ledgerTime: null }
    LedgerBatch.assertLogged(repeat, { head, logged: { updateId: "update-4" } })
    for (const logged of [undefined, { updateId: "update-5" }]) {
      expect(() => LedgerBatch.assertLogged(repeat, { head, logged })).toThrow(
        "offset 4 after 9: out of order"
      )
    }
  })
})

describe("the row of a transaction", () => {
  it("keeps command and workflow where the ledger names them, else null", () => {
    const named = transaction(1, { commandId: Option.some("c:0"), workflowId: Option.some("w") })
    const [one, other] = rowsOf(LedgerBatch.plan(start, [named, transaction(2)]))
    expect(one).toMatchObject({ commandId: "c:0", workflowId: "w" })
    expect(other).toMatchObject({ commandId: null, workflowId: null })
  })

  it("keeps the transaction as JSON: instants to the nanosecond, options by Effect's encoding", () => {
    const effectiveAt = Instant.of("2026-07-31T16:00:00.123456789Z")
    const raw = LedgerBatch.rawOf(transaction(1, { effectiveAt, commandId: Option.some("c:0") }))
    expect(JSON.parse(raw)).toEqual({
      _tag: "Transaction",
      offset: 1,
      updateId: "update-1",
      commandId: { _id: "Option", _tag: "Some", value: "c:0" },
      workflowId: { _id: "Option", _tag: "None" },
      effectiveAt: "2026-07-31T16:00:00.123456789Z",
      recordTime: "1970-01-01T00:00:00.000000Z",
      synchronizerId: "synchronizer",
      events: []
    })
  })

  it("formats every instant of its events, and keeps all their other members", () => {
    const replaced = (_: string, value: unknown) =>
      typeof value === "bigint" ? Instant.format(value as Instant.Instant) : value
    fc.assert(
      fc.property(instant, fc.array(event, { maxLength: 5 }), (recordTime, events) => {
        const update = transaction(1, { recordTime, commandId: Option.some("c:0"), events })
        expect(LedgerBatch.rawOf(update)).toBe(JSON.stringify(update, replaced))
      })
    )
  })

  it("distinguishes any two instants in its JSON", () => {
    fc.assert(
      fc.property(instant, (effectiveAt) => {
        const raw = JSON.parse(LedgerBatch.rawOf(transaction(1, { effectiveAt })))
        expect(Instant.of(raw.effectiveAt)).toBe(effectiveAt)
      })
    )
  })
})

describe("updates divided into transactions", () => {
  const sized = fc
    .array(fc.nat({ max: 7 }))
    .map((sizes) =>
      sizes.map((size, n) =>
        transaction(n + 1, { events: Array.from({ length: size }, () => ({}) as Ledger.Event) })
      )
    )
  const eventsOf = (batch: ReadonlyArray<Ledger.Transaction>): number =>
    batch.reduce((sum, { events }) => sum + events.length, 0)

  it("are all there, in their order, and no batch but one of a single update is too large", () => {
    fc.assert(
      fc.property(sized, fc.integer({ min: 1, max: 12 }), (updates, max) => {
        const batches = LedgerBatch.divided(updates, { max, eventsOf: LedgerBatch.eventsOf })
        expect(batches.flat()).toEqual(updates)
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0)
          expect(batch.length === 1 || eventsOf(batch) <= max).toBe(true)
        }
      })
    )
  })

  it("fill each batch: the first update of the next one would have been too much", () => {
    fc.assert(
      fc.property(sized, fc.integer({ min: 1, max: 12 }), (updates, max) => {
        const batches = LedgerBatch.divided(updates, { max, eventsOf: LedgerBatch.eventsOf })
        for (const [n, batch] of batches.entries()) {
          const next = batches[n + 1]?.[0]
          if (next !== undefined) {
            expect(eventsOf(batch) + next.events.length).toBeGreaterThan(max)
          }
        }
      })
    )
  })
})
