/**
 * Reports of holders and instruments, read at rest and in passing and compared with what the ledger showed:
 * every month in a zone, the register, the portfolio, and what a person's years took from its lots.
 */
import { type Caller, type Read, Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant, Zone } from "@bursar/engine-core/kernel"
import { Effect, Option, Schema, Stream } from "effect"
import { distributionLines, paid } from "#core/distributions/distribution/DistributionLine.ts"
import { HolderId } from "#core/holders/holder/HolderId.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { InstrumentId } from "#core/instruments/instrument/Instrument.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import {
  HolderStatement as HolderStatementSchema,
  type HolderStatement,
  type StatementInstrument
} from "#core/overviews/holder-statement/HolderStatement.ts"
import * as HolderStatementQueries from "#core/overviews/holder-statement/HolderStatementQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as RegisterQueries from "#core/overviews/register/RegisterQueries.ts"
import * as TaxQueries from "#core/overviews/tax-statement/TaxQueries.ts"
import type { Disposal, TransferOut } from "#core/overviews/tax-statement/TaxStatement.ts"
import { holds, same } from "../books.ts"
import * as DistributionAudit from "./distribution-audit.ts"
import * as Faults from "../faults.ts"
import { add, atoms, type Atoms, cent } from "./figures.ts"
import { isRebasing } from "./rebasing.ts"
import * as StatementBooks from "./statement-books.ts"
import * as StoredBooks from "./stored-books.ts"
import { type Fund, type Holder, note, type Town } from "./town.ts"

const zones = [
  Zone.of("UTC"),
  Zone.of("America/New_York"),
  Zone.of("America/Sao_Paulo"),
  Zone.of("Asia/Kolkata"),
  Zone.of("Australia/Lord_Howe"),
  Zone.of("Pacific/Kiritimati")
] as const

/** Years that a town lives in. */
const years = ["2026", "2027", "2028"]

/** Holders that have or had units whose reports are compared at a time. */
const holdersMax = 5

const auditor: Caller.Caller = {
  ...{ sub: "aida", name: null, email: null, roles: ["auditor"], holderId: null, party: null }
}

const question = { caller: auditor, point: {} } as const
const magnitude = (figure: Decimal.Decimal): Atoms =>
  atoms(Decimal.formatPlain(Decimal.abs(figure)))
const signed = (figure: Decimal.Decimal): Atoms =>
  Decimal.isNegative(figure) ? -magnitude(figure) : magnitude(figure)

const one = <P, V>(read: Read.One<P, V>, params: P) =>
  Effect.flatMap(Queries, (queries) =>
    Effect.map(queries.one(read, { ...question, params }), ({ value }) => value)
  )

/** Every line of a register is what its party holds, shown at the latest index, and none is missing. */
const registerOf = Effect.fnUntraced(function* (town: Town, fund: Fund) {
  const queries = yield* Queries
  const { instrumentId } = fund
  const params = { instrumentId: Schema.decodeSync(InstrumentId)(instrumentId) }
  const { record, rows } = yield* queries.streamed(RegisterQueries.register, {
    ...question,
    params
  })
  const lines = yield* Stream.runCollect(rows ?? Stream.die("a register has lines"))
  const held = new Map<string, Atoms>()
  for (const { party, units } of lines) held.set(party, magnitude(units))
  const owners = town.observer
    .owners(instrumentId)
    .filter((party) => town.observer.units(instrumentId, party) > 0n)
  same([...held.keys()].toSorted(), owners.toSorted(), `the parties of ${instrumentId}`)
  for (const [party, units] of held) {
    same(units, StatementBooks.positionOf(town, fund, party).units, `the line of ${party}`)
  }
  const sum = [...held.values()].reduce((all, units) => all + units, 0n)
  same(magnitude(record.head.totalUnits), sum, `the head of the register of ${instrumentId}`)
  same(record.head.difference, Decimal.zero, `the register of ${instrumentId} less its supply`)
  note(town, "registers compared")
})

const figure = (value: Decimal.Decimal | null): Atoms | null =>
  value === null ? null : magnitude(value)

/** A month as a statement shows it, in the words of the books. */
const saidOf = ({ closing, movements, opening, price, value }: StatementInstrument) => {
  const moved = movements.filter(({ kind }) => kind !== "rebase")
  const rebased = movements.filter(({ kind }) => kind === "rebase")
  return {
    opening: magnitude(opening),
    closing: magnitude(closing),
    moves: StatementBooks.byInstant(
      moved.map(({ balanceAfter, ledgerTime, units }) => ({
        at: ledgerTime,
        units: signed(units),
        after: magnitude(balanceAfter)
      }))
    ),
    rebased: rebased.reduce((sum, { units }) => sum + signed(units), 0n),
    price: figure(price),
    value: figure(value)
  } satisfies StatementBooks.BookedMonth
}

/** Every month of every fund is what the ledger showed: opening, movements, the index's part, closing and worth. */
const monthsOf = (
  town: Town,
  report: {
    readonly party: string
    readonly zone: Zone.Zone
    readonly rows: ReadonlyArray<HolderStatement>
  }
) => {
  const { party, rows, zone } = report
  for (const { instruments, month } of rows) {
    const shown = new Map(instruments.map((each) => [each.instrumentId, each]))
    for (const fund of town.funds) {
      const { instrumentId } = fund
      const what = `${party} ${month} ${instrumentId} in ${zone}`
      const booked = StatementBooks.monthOf(town, fund, { party, month, zone })
      const said = shown.get(instrumentId)
      if (said === undefined) {
        const { closing, moves, opening } = booked
        same([opening, closing, moves.length], [0n, 0n, 0], `${what}, which is not shown`)
        continue
      }
      const { movements, opening, closing } = said
      const sum = movements.reduce((all, { units }) => all + signed(units), magnitude(opening))
      same(sum, magnitude(closing), `opening and movements of ${what}`)
      same(saidOf(said), booked, what)
      note(town, "months compared")
      if (!isRebasing(fund)) continue
      note(town, "rebasing months compared")
      if (booked.rebased !== 0n) note(town, "rebase movements compared")
    }
  }
}

/** A portfolio has a row for each fund that the party has units of, at its worth now. */
const portfolioOf = Effect.fnUntraced(function* (
  town: Town,
  holder: { readonly holderId: HolderId; readonly party: string; readonly costs: Costs | null }
) {
  const { costs, holderId, party } = holder
  const now = yield* Instant.now
  const rows = yield* one(PortfolioQueries.portfolio, { holderId })
  const held = town.funds.filter(
    ({ instrumentId }) => town.observer.units(instrumentId, party) > 0n
  )
  const rowOf = new Map(rows.map((row) => [row.instrumentId as string, row]))
  const shown = rows
    .filter(({ units }) => !Decimal.isZero(units))
    .map(({ instrumentId }) => instrumentId)
  same(
    shown.filter((instrumentId) => !held.some((fund) => fund.instrumentId === instrumentId)),
    [],
    `what the portfolio of ${party} shows`
  )
  for (const fund of held) {
    const { instrumentId } = fund
    const row = rowOf.get(instrumentId)
    holds(row !== undefined, `the portfolio of ${party} lacks ${instrumentId}`)
    if (row === undefined) continue
    const { accrued, cost, price, units, value } = row
    same(
      { units: magnitude(units), price: figure(price), value: figure(value) },
      StatementBooks.positionOf(town, fund, party),
      `what ${party} holds of ${instrumentId}`
    )
    const head = town.distributions?.headOf(instrumentId, party) ?? party
    // Units that reach a succeeded holder are its successor's.
    if (head === party) {
      const earned = DistributionAudit.accruedTo(town, { fund, party, now })
      same(
        accrued === null ? null : signed(accrued),
        earned,
        `what ${party} earned of ${instrumentId}`
      )
    }
    if (costs !== null) {
      const left = costs(`${fund.registrar.party}/${instrumentId}/${party}`)
      same(figure(cost), left, `what ${party} paid for its ${instrumentId}`)
    }
    note(town, isRebasing(fund) ? "rebasing positions compared" : "positions compared")
  }
})

/** Cost of a party's open lots by the books; null where that of one is unknown. */
type Costs = (key: string) => Atoms | null

const costsOf = (town: Town) =>
  Effect.map(
    StoredBooks.keptLots(town),
    (books): Costs =>
      (key) =>
        (books.get(key) ?? []).reduce<Atoms | null>((sum, { cost, left }) => {
          if (left === 0n) return sum
          return sum === null || cost === null ? null : sum + cost
        }, 0n)
  )

/** Law: the disposals and the moves of the years of a person that is one holder are the parts that left its lots, at the same cost. */
const lotsOf = Effect.fnUntraced(function* (
  town: Town,
  disposals: {
    readonly party: string
    readonly left: ReadonlyArray<Pick<Disposal, "cost" | "instrumentId" | "lotId" | "units">>
  }
) {
  const records = yield* Records
  const taken = new Map<string, Atoms>()
  const costs = new Map<string, Atoms>()
  for (const { cost, instrumentId, lotId, units } of disposals.left) {
    add(taken, `${instrumentId} ${lotId}`, magnitude(units))
    if (cost !== null) add(costs, `${instrumentId} ${lotId}`, magnitude(cost))
    note(town, "disposals compared")
  }
  const funds = new Set(town.funds.map(({ instrumentId }) => instrumentId))
  const kept = yield* Stream.runCollect(records.stream(lots, {}))
  for (const { record } of kept) {
    // Cash is held by the same parties, and is no instrument of the venue.
    if (record.party !== disposals.party || !funds.has(record.instrumentId)) continue
    const { cost, costLeft, instrumentId, lotId, remaining, units } = record
    const key = `${instrumentId} ${lotId}`
    same(taken.get(key) ?? 0n, magnitude(units) - magnitude(remaining), `what left the lot ${key}`)
    taken.delete(key)
    if (cost === null || costLeft === null) continue
    same(
      costs.get(key) ?? 0n,
      magnitude(cost) - magnitude(costLeft),
      `the cost of what left the lot ${key}`
    )
  }
  same([...taken.keys()], [], `lots of ${disposals.party} that there are not`)
})

/** Law: the proceeds of the lots that a redemption took add up to the cash that it paid. */
const proceedsOf = (
  town: Town,
  { disposals, party }: { readonly party: string; readonly disposals: ReadonlyArray<Disposal> }
) => {
  const parts = disposals.filter(({ proceeds }) => proceeds !== null)
  for (const [id, ofOrder] of Map.groupBy(parts, ({ reference }) => reference?.id ?? "")) {
    const order = town.claimed.get(id)
    const sum = (partOf: (part: Disposal) => Decimal.Decimal | null) =>
      ofOrder.reduce((all, part) => all + magnitude(partOf(part) ?? Decimal.zero), 0n)
    // A gate deals a part of what was ordered, and pays for that.
    if (order?.priced == null || sum(({ units }) => units) !== order.priced.moved) continue
    same(order.holder.party, party, `whose ${id} was`)
    same(
      sum(({ proceeds }) => proceeds),
      order.priced.cash * cent,
      `what ${id} paid for its lots`
    )
    note(town, "proceeds compared")
  }
}

const personsOf = Effect.fnUntraced(function* (
  town: Town,
  holder: { readonly holderId: string; readonly party: string; readonly zone: Zone.Zone }
) {
  const records = yield* Records
  const holderId = Schema.decodeSync(HolderId)(holder.holderId)
  const disposals: Array<Disposal> = []
  const moves: Array<TransferOut> = []
  const payments: Array<string> = []
  let chain: ReadonlyArray<string> = []
  for (const year of years) {
    const tax = yield* one(TaxQueries.taxStatement, { holderId, year, zone: holder.zone })
    chain = tax.holderIds
    disposals.push(...tax.disposals)
    moves.push(...tax.transfersOut)
    payments.push(
      ...tax.currencies.flatMap(({ rows }) =>
        rows.flatMap((row) => row.payments.map(({ lineId, net }) => `${lineId} ${magnitude(net)}`))
      )
    )
  }
  holds(chain.includes(holder.holderId), `${holder.holderId} is not in its own statement`)
  const lines = yield* Stream.runCollect(
    records.stream(distributionLines, { where: { holderId: chain, state: [...paid] } })
  )
  same(
    payments.toSorted(),
    lines.map(({ record }) => `${record.lineId} ${magnitude(record.net)}`).toSorted(),
    `what was paid to ${chain.join(" ")}`
  )
  note(town, "payments compared", payments.length)
  if (chain.length > 1) return
  yield* lotsOf(town, { party: holder.party, left: [...disposals, ...moves] })
  proceedsOf(town, { party: holder.party, disposals })
})

export const make = (seed: number) => {
  /** A die of its own, so that the walk is the same without it. */
  const die = Faults.dice(seed ^ 0x3a7)

  const anyOf = <A>(items: ReadonlyArray<A>, count: number): ReadonlyArray<A> => {
    const left = [...items]
    const found: Array<A> = []
    while (found.length < count && left.length > 0) {
      found.push(...left.splice(die.roll(left.length), 1))
    }
    return found
  }

  /** Holders that have or had units. */
  const ownersOf = (town: Town): ReadonlyArray<Holder> => {
    const owners = new Set(
      town.funds.flatMap(({ instrumentId }) => town.observer.owners(instrumentId))
    )
    return town.holders.filter(({ party }) => owners.has(party))
  }

  /** Some of them, and one or two of all. */
  const holdersOf = (town: Town): ReadonlyArray<Holder> => [
    ...new Set([...anyOf(ownersOf(town), holdersMax), ...anyOf(town.holders, 2)])
  ]

  /** Rows of statements that were final, by holder, zone and month. */
  const finals = new Map<string, string>()

  /** Compares a holder's statement in some zone; false: it is of another offset than the books are at. */
  const statementOf = Effect.fnUntraced(function* (
    town: Town,
    statement: { readonly holder: Holder; readonly zone: Zone.Zone }
  ) {
    const queries = yield* Queries
    const { zone } = statement
    const { party } = statement.holder
    const holderId = Schema.decodeSync(HolderId)(statement.holder.holderId)
    const params = { holderId, zone }
    const page = { limit: 1_000 }
    const { offset, value } = yield* queries.page(HolderStatementQueries.list, {
      ...question,
      params,
      page
    })
    if (offset !== town.observer.offset()) return false
    monthsOf(town, { party, zone, rows: value })
    for (const row of value) {
      if (!row.final) continue
      const key = `${holderId} ${zone} ${row.month}`
      const said = JSON.stringify(Schema.encodeSync(HolderStatementSchema)(row))
      same(said, finals.get(key) ?? said, `${key}, which was final`)
      if (finals.has(key)) note(town, "final months read again")
      finals.set(key, said)
    }
    return true
  })

  /** Compares the reports of some holders and of all funds; everything is at rest. */
  const audit = Effect.fnUntraced(function* (town: Town) {
    for (const fund of town.funds) yield* registerOf(town, fund)
    const costs = yield* costsOf(town)
    const records = yield* Records
    for (const holder of holdersOf(town)) {
      const zone = die.pick(zones)
      const { party } = holder
      const isRecorded = Option.isSome(yield* records.find(holders, holder.holderId))
      // The writes of some newcomers fail: the books know of no units of theirs, and reports of none.
      if (!isRecorded) {
        const owned = town.funds.filter(
          ({ instrumentId }) => town.observer.changesOf(instrumentId, party).length > 0
        )
        same(owned, [], `what ${party} had, which is no holder`)
        note(town, "newcomers not recorded")
        continue
      }
      const holderId = Schema.decodeSync(HolderId)(holder.holderId)
      holds(
        yield* statementOf(town, { holder, zone }),
        "the engine reads behind the ledger at rest"
      )
      yield* portfolioOf(town, { holderId, party, costs })
      yield* personsOf(town, { holderId, party, zone })
    }
  })

  /** One step in so many has some holder's reports compared while the town goes on. */
  const passingEvery = 12

  /** Compares the reports of one holder and the register of one fund, if the engine has read what the books have. */
  const inPassing = Effect.fnUntraced(function* (town: Town) {
    if (!die.once(passingEvery)) return
    // A holder that is not recorded yet has no units either.
    const owners = ownersOf(town)
    const rebasing = town.funds.find(isRebasing)
    const ofRebasing = owners.filter(
      ({ party }) =>
        rebasing !== undefined && town.observer.changesOf(rebasing.instrumentId, party).length > 0
    )
    const [holder] = anyOf(ofRebasing.length > 0 && die.once(2) ? ofRebasing : owners, 1)
    const fund = town.funds[die.roll(town.funds.length)]
    const zone = die.pick(zones)
    if (holder === undefined || fund === undefined) return
    if (!(yield* statementOf(town, { holder, zone }))) return
    note(town, "reports read in passing")
    const { party } = holder
    const holderId = Schema.decodeSync(HolderId)(holder.holderId)
    yield* portfolioOf(town, { holderId, party, costs: null })
    yield* personsOf(town, { holderId, party, zone })
    yield* registerOf(town, fund)
  })
  return { audit, inPassing }
}
