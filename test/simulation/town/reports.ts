/**
 * Reports of holders and instruments, read at rest and compared with what the ledger showed: every
 * month's units in a zone, the register, the portfolio, and what a person's years took from its lots.
 */
import { type Caller, type Read, Reads, Records } from "@bursar/engine-core"
import { Decimal, Month, Zone } from "@bursar/engine-core/kernel"
import { Effect, Schema, Stream } from "effect"
import { distributionLines, paid } from "#core/distributions/distribution/DistributionLine.ts"
import { HolderId } from "#core/holders/holder/Holder.ts"
import { InstrumentId, instruments } from "#core/instruments/instrument/Instrument.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import type { HolderStatement } from "#core/overviews/holder-statement/HolderStatement.ts"
import * as HolderStatementReads from "#core/overviews/holder-statement/HolderStatementReads.ts"
import * as PortfolioReads from "#core/overviews/portfolio/PortfolioReads.ts"
import * as RegisterReads from "#core/overviews/register/RegisterReads.ts"
import * as TaxReads from "#core/overviews/tax-statement/TaxReads.ts"
import type { Disposal } from "#core/overviews/tax-statement/TaxStatement.ts"
import { holds, same } from "../books.ts"
import * as Faults from "../faults.ts"
import { add, atoms, type Atoms } from "./figures.ts"
import { type Holder, note, type Town } from "./town.ts"

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

const asked = { caller: auditor, point: {} } as const
const told = (figure: Decimal.Decimal): Atoms => atoms(Decimal.formatPlain(Decimal.abs(figure)))
const signed = (figure: Decimal.Decimal): Atoms =>
  Decimal.isNegative(figure) ? -told(figure) : told(figure)

const one = <P, V>(read: Read.One<P, V>, params: P) =>
  Effect.flatMap(Reads, (reads) =>
    Effect.map(reads.one(read, { ...asked, params }), ({ value }) => value)
  )

/** Funds whose units are shown as the ledger keeps them. */
const plainFunds = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const ids = town.funds.map(({ instrumentId }) => instrumentId)
  const found = yield* records.many(instruments, ids)
  return new Set(
    found.flatMap(({ instrumentId, manifest }) =>
      manifest?.valuation === "rebasing" ? [] : [instrumentId as string]
    )
  )
})

const registers = Effect.fnUntraced(function* (town: Town, funds: ReadonlySet<string>) {
  const reads = yield* Reads
  for (const instrumentId of funds) {
    const params = { instrumentId: Schema.decodeSync(InstrumentId)(instrumentId) }
    const { record, rows } = yield* reads.streamed(RegisterReads.register, { ...asked, params })
    const lines = yield* Stream.runCollect(rows ?? Stream.die("a register has lines"))
    const held = new Map<string, Atoms>()
    for (const { party, units } of lines) add(held, party as string, told(units))
    for (const [party, units] of held) {
      same(units, town.observer.units(instrumentId, party), `the line of ${party}`)
    }
    const sum = [...held.values()].reduce((all, units) => all + units, 0n)
    same(sum, town.observer.supply(instrumentId), `the register of ${instrumentId} as a report`)
    same(told(record.head.totalUnits), sum, `the head of the register of ${instrumentId}`)
  }
})

/** Every month opens and closes at the units that the ledger showed by then. */
const monthsOf = (
  town: Town,
  of: {
    readonly party: string
    readonly zone: Zone.Zone
    readonly funds: ReadonlySet<string>
    readonly rows: ReadonlyArray<HolderStatement>
  }
) => {
  const { funds, party, rows, zone } = of
  for (const { instruments, month } of rows) {
    const shown = new Map(instruments.map((one) => [one.instrumentId, one]))
    for (const instrumentId of funds) {
      const what = `${party} ${month} ${instrumentId} in ${zone}`
      const before = (at: Month.Month) =>
        town.observer.unitsBefore(instrumentId, party, Zone.startOfMonth(zone, at))
      const { closing, movements, opening } = shown.get(instrumentId) ?? {
        ...{ opening: Decimal.zero, closing: Decimal.zero, movements: [] }
      }
      same(told(opening), before(month), `the opening of ${what}`)
      same(told(closing), before(Month.next(month)), `the closing of ${what}`)
      const moved = movements.reduce((sum, { units }) => sum + signed(units), told(opening))
      same(moved, told(closing), `the movements of ${what}`)
      note(town, "months compared")
    }
  }
}

/** Law: the disposals of the years of a person that is one holder are the parts that left its lots, at the same cost. */
const lotsOf = Effect.fnUntraced(function* (
  town: Town,
  of: { readonly party: string; readonly disposals: ReadonlyArray<Disposal> }
) {
  const records = yield* Records
  const taken = new Map<string, Atoms>()
  const costs = new Map<string, Atoms>()
  for (const { cost, instrumentId, lotId, units } of of.disposals) {
    add(taken, `${instrumentId} ${lotId}`, told(units))
    if (cost !== null) add(costs, `${instrumentId} ${lotId}`, told(cost))
    note(town, "disposals compared")
  }
  const funds = new Set(town.funds.map(({ instrumentId }) => instrumentId))
  const kept = yield* Stream.runCollect(records.stream(lots, {}))
  for (const { record } of kept) {
    // Cash is held by the same parties, and is no instrument of the venue.
    if (record.party !== of.party || !funds.has(record.instrumentId)) continue
    const { cost, costLeft, instrumentId, lotId, remaining, units } = record
    const key = `${instrumentId} ${lotId}`
    same(taken.get(key) ?? 0n, told(units) - told(remaining), `what left the lot ${key}`)
    taken.delete(key)
    if (cost === null || costLeft === null) continue
    same(costs.get(key) ?? 0n, told(cost) - told(costLeft), `the cost of what left the lot ${key}`)
  }
  same([...taken.keys()], [], `lots of ${of.party} that there are not`)
})

const personsOf = Effect.fnUntraced(function* (
  town: Town,
  of: { readonly holderId: string; readonly party: string; readonly zone: Zone.Zone }
) {
  const records = yield* Records
  const holderId = Schema.decodeSync(HolderId)(of.holderId)
  const disposals: Array<Disposal> = []
  const payments: Array<string> = []
  let chain: ReadonlyArray<string> = []
  for (const year of years) {
    const tax = yield* one(TaxReads.taxStatement, { holderId, year, zone: of.zone })
    chain = tax.holderIds
    disposals.push(...tax.disposals)
    payments.push(
      ...tax.currencies.flatMap(({ rows }) =>
        rows.flatMap((row) => row.payments.map(({ lineId, net }) => `${lineId} ${told(net)}`))
      )
    )
  }
  holds(chain.includes(of.holderId), `${of.holderId} is not in its own statement`)
  const lines = yield* Stream.runCollect(
    records.stream(distributionLines, { where: { holderId: chain, state: [...paid] } })
  )
  same(
    payments.toSorted(),
    lines.map(({ record }) => `${record.lineId} ${told(record.net)}`).toSorted(),
    `what was paid to ${chain.join(" ")}`
  )
  note(town, "payments compared", payments.length)
  if (chain.length === 1) yield* lotsOf(town, { party: of.party, disposals })
})

export const make = (seed: number) => {
  /** A die of its own, so that the walk is the same without it. */
  const die = Faults.dice(seed ^ 0x3a7)

  const anyOf = <A>(of: ReadonlyArray<A>, count: number): ReadonlyArray<A> => {
    const left = [...of]
    const found: Array<A> = []
    while (found.length < count && left.length > 0) {
      found.push(...left.splice(die.roll(left.length), 1))
    }
    return found
  }

  /** Some holders that have or had units, and one or two of all. */
  const holdersOf = (town: Town): ReadonlyArray<Holder> => {
    const owners = new Set(
      town.funds.flatMap(({ instrumentId }) => town.observer.owners(instrumentId))
    )
    const had = town.holders.filter(({ party }) => owners.has(party))
    return [...new Set([...anyOf(had, holdersMax), ...anyOf(town.holders, 2)])]
  }

  /** Compares the reports of some holders and of all funds; everything is at rest. */
  const audit = Effect.fnUntraced(function* (town: Town) {
    const reads = yield* Reads
    const funds = yield* plainFunds(town)
    yield* registers(town, funds)
    for (const holder of holdersOf(town)) {
      const zone = die.pick(zones)
      const { party } = holder
      const holderId = Schema.decodeSync(HolderId)(holder.holderId)
      const read = HolderStatementReads.list
      const params = { holderId, zone }
      const page = yield* reads.page(read, { ...asked, params, page: { limit: 1_000 } })
      monthsOf(town, { party, zone, funds, rows: page.value })
      for (const { instrumentId, units } of yield* one(PortfolioReads.portfolio, { holderId })) {
        if (!funds.has(instrumentId)) continue
        same(told(units), town.observer.units(instrumentId, party), `what ${party} holds`)
      }
      yield* personsOf(town, { holderId, party, zone })
    }
  })
  return { audit }
}
