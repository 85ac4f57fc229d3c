/** Books of distributions kept by hand, from what the ledger shows alone: months, their lines, and what became of each. */
import type { Offset } from "@bursar/engine-core/kernel"
import { holds, same } from "../books.ts"
import { add, type Atoms, atoms, signedAtoms as signed } from "./figures.ts"
import { inside, type Exercise, type LedgerObserver, type Payload } from "./ledger-observer.ts"
import * as LotBooks from "./lot-books.ts"

export type LineState = "owed" | "delivered" | "rolled" | "void" | "carried"

/** A line as it was added, and what became of it. */
export interface BookedLine {
  readonly lineId: string
  /** The party that its figures were computed for. */
  readonly party: string
  readonly units: Atoms
  readonly entitlement: Atoms
  readonly carryIn: Atoms
  readonly gross: Atoms
  readonly equalisation: Atoms
  readonly rate: Atoms
  readonly withheld: Atoms
  readonly net: Atoms
  readonly carryOut: Atoms
  readonly payoutUnits: Atoms | null
  readonly carried: string | null
  readonly addedAt: Offset.Offset
  state: LineState
  /** The party that is to be paid, as the venue says on the ledger; of a delivered line who was paid. */
  payee: string
  waits: boolean
  /** Rolled, void, or carried from the start: another line of its payee may be paid. */
  endedAt: Offset.Offset | null
}

export interface BookedMonth {
  readonly distributionId: string
  readonly instrumentId: string
  readonly month: string
  readonly recordDate: string
  readonly payableFrom: string
  readonly pointCids: ReadonlyArray<string>
  readonly rate: Atoms
  readonly payout: string
  /** Price at which units are paid out; null where none are. */
  readonly payoutPrice: Atoms | null
  readonly lines: Array<BookedLine>
  isSealed: boolean
  isOpen: boolean
}

/** Contract and figure of the point that income is counted from, and of the one that a month closes with. */
export interface Prices {
  readonly exPoint: string
  readonly ex: Atoms
  /** Contract of the point that a month closes with. */
  readonly cumPoint: string
  readonly cum: Atoms
}

/** Units of an instrument that a recovery took to a successor, so that none were left. */
interface Recovery {
  /** Null: with these units the party had none left of any instrument, and is succeeded altogether. */
  readonly instrumentId: string | null
  readonly from: string
  readonly to: string
  readonly offset: Offset.Offset
}

export interface DistributionBooks {
  readonly months: ReadonlyMap<string, BookedMonth>
  readonly monthsOf: (instrumentId: string) => ReadonlyArray<BookedMonth>
  readonly line: (lineId: string) => BookedLine | undefined
  /** The party that a party's lines of an instrument go to, by the recoveries until an offset. */
  readonly headOf: (instrumentId: string, party: string, through?: Offset.Offset) => string
  /** Carries that each instrument's last recomputed month left, by the party of the line. */
  readonly carries: Map<string, ReadonlyMap<string, Atoms>>
  readonly recomputed: Set<BookedMonth>
  /** Prices of each recomputed month of an accumulating fund. */
  readonly prices: Map<BookedMonth, Prices>
  readonly lots: LotBooks.LotBooks
  /** Units of each instrument that no order made: those that accounts were opened with, and paid ones. */
  readonly minted: ReadonlyMap<string, Atoms>
  /** Units that were minted in the name of each distribution. */
  readonly paid: ReadonlyMap<string, Atoms>
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")
const figure = (line: Payload, name: string): Atoms => signed(text(line[name]))

/** Figures that the ledger sums up to when a month is sealed. */
const totalled = [
  "entitlement",
  "carryIn",
  "gross",
  "equalisation",
  "withheld",
  "net",
  "carryOut"
] as const

/** Opens books of the venue's instruments that hear everything the ledger shows from now on. */
export const make = (
  observer: LedgerObserver,
  instrumentIds: ReadonlyArray<string>
): DistributionBooks => {
  const months = new Map<string, BookedMonth>()
  const lines = new Map<string, BookedLine>()
  const minted = new Map<string, Atoms>()
  const paid = new Map<string, Atoms>()
  const recoveries: Array<Recovery> = []
  /** Recoveries of the transaction that is being read. */
  const recovering: Array<Recovery & { readonly instrumentId: string }> = []
  const monthOf = (payload: Payload | undefined): BookedMonth => {
    const found = months.get(text(payload?.["distributionId"]))
    if (found === undefined) throw new Error(`audit: ${text(payload?.["distributionId"])} is none`)
    return found
  }
  const lineOf = (payload: Payload | undefined): BookedLine => {
    const found = lines.get(text(payload?.["lineId"]))
    if (found === undefined) throw new Error(`audit: ${text(payload?.["lineId"])} was never added`)
    return found
  }

  const executes = ({ arg, contract }: Exercise) => {
    const instrumentId = inside(contract?.payload["instrument"], "id")
    const month = text(arg["month"])
    for (const earlier of months.values()) {
      if (earlier.instrumentId !== instrumentId) continue
      holds(earlier.month < month, `${instrumentId} ${month} was executed after ${earlier.month}`)
      holds(earlier.isSealed, `${instrumentId} ${month} was executed before the one before`)
    }
    const distributionId = text(arg["distributionId"])
    holds(!months.has(distributionId), `${distributionId} was executed twice`)
    months.set(distributionId, {
      distributionId,
      instrumentId,
      month,
      recordDate: text(arg["recordDate"]),
      payableFrom: text(arg["payableFrom"]),
      pointCids: arg["pointCids"] as ReadonlyArray<string>,
      rate: atoms(text(arg["rate"])),
      payout: text(arg["payout"]),
      payoutPrice: arg["payoutPrice"] === null ? null : atoms(text(arg["payoutPrice"])),
      lines: [],
      isSealed: false,
      isOpen: false
    })
  }

  const adds = ({ arg, contract, offset }: Exercise) => {
    const month = monthOf(contract?.payload)
    for (const line of arg["lines"] as ReadonlyArray<Payload>) {
      const lineId = `${month.distributionId}.${month.lines.length + 1}`
      const carried = line["carried"] === null ? null : text(line["carried"])
      const party = text(line["holder"])
      const booked: BookedLine = {
        lineId,
        party,
        units: figure(line, "units"),
        entitlement: figure(line, "entitlement"),
        carryIn: figure(line, "carryIn"),
        gross: figure(line, "gross"),
        equalisation: figure(line, "equalisation"),
        rate: figure(line, "rate"),
        withheld: figure(line, "withheld"),
        net: figure(line, "net"),
        carryOut: figure(line, "carryOut"),
        payoutUnits: line["payoutUnits"] === null ? null : figure(line, "payoutUnits"),
        carried,
        addedAt: offset,
        state: carried === null ? "owed" : "carried",
        payee: party,
        waits: line["waits"] === true,
        endedAt: carried === null ? null : offset
      }
      same(Number(line["number"]), month.lines.length + 1, `the number of ${lineId}`)
      month.lines.push(booked)
      lines.set(lineId, booked)
    }
  }

  const seals = ({ arg, contract }: Exercise) => {
    const month = monthOf(contract?.payload)
    same(Number(arg["lineCount"]), month.lines.length, `the lines of ${month.distributionId}`)
    for (const name of totalled) {
      const sum = month.lines.reduce((all, line) => all + line[name], 0n)
      const total = signed(inside(arg["totals"], name))
      same(total, sum, `the ${name} of ${month.distributionId}`)
    }
    month.isSealed = true
  }

  const turns = (isOpen: boolean) => (exercise: Exercise) => {
    monthOf(exercise.contract?.payload).isOpen = isOpen
  }

  const directs = ({ arg, contract }: Exercise) => {
    const line = lineOf(contract?.payload)
    same(line.state, "owed", `${line.lineId} was directed`)
    line.payee = text(arg["holder"])
    line.waits = arg["waits"] === true
  }

  const delivers = ({ arg, contract }: Exercise) => {
    const line = lineOf(contract?.payload)
    const month = monthOf(contract?.payload)
    same(line.state, "owed", `${line.lineId} was delivered`)
    holds(!line.waits, `${line.lineId} was delivered and waits`)
    holds(month.isSealed && month.isOpen, `${line.lineId} was delivered while it was closed`)
    same(line.payee, text(contract?.payload["holder"]), `who was paid ${line.lineId}`)
    same(figure(contract?.payload ?? {}, "net"), line.net, `what was paid of ${line.lineId}`)
    const isCash = month.payout === "cash" && line.net > 0n
    same(arg["evidence"] !== null, isCash, `the evidence of ${line.lineId}`)
    line.state = "delivered"
  }

  const ends = (state: "rolled" | "void") => (exercise: Exercise) => {
    const line = lineOf(exercise.contract?.payload)
    same(line.state, state === "rolled" ? "delivered" : "owed", `${line.lineId} became ${state}`)
    line.state = state
    line.endedAt = exercise.offset
  }

  const recovers = ({ arg, offset }: Exercise) => {
    if (inside(arg["cause"], "kind") !== "recovery") return
    const consent = observer.activeContract(text(arg["consentCid"]))
    const instrumentId = inside(
      observer.activeContract((arg["holdingCids"] as ReadonlyArray<string>)[0] ?? "")?.payload[
        "instrument"
      ],
      "id"
    )
    const from = text(consent?.payload["holder"])
    const to = inside(arg["cause"], "successor")
    recovering.push({ instrumentId, from, to, offset })
  }

  const recovered = () => {
    for (const each of recovering.splice(0)) {
      if (observer.units(each.instrumentId, each.from) > 0n) continue
      recoveries.push(each)
      if (instrumentIds.some((id) => observer.units(id, each.from) > 0n)) continue
      recoveries.push({ ...each, instrumentId: null })
    }
  }

  const receives = ({ arg, contract }: Exercise) => {
    const kind = inside(arg["reference"], "kind")
    if (kind !== "opening" && kind !== "distribution") return
    const amount = atoms(text(arg["amount"]))
    add(minted, text(contract?.payload["instrumentId"]), amount)
    if (kind === "distribution") add(paid, inside(arg["reference"], "id"), amount)
  }

  const hears: Readonly<Record<string, (exercise: Exercise) => void>> = {
    "DistributionSlot.Execute": executes,
    "Distribution.AddLines": adds,
    "Distribution.Seal": seals,
    "Distribution.Open": turns(true),
    "Distribution.Close": turns(false),
    "DistributionLine.Direct": directs,
    "DistributionLine.Deliver": delivers,
    "DistributionLine.Void": ends("void"),
    "DeliveredLine.Roll": ends("rolled"),
    "IssuerPowersAgreement.ForceMove": recovers,
    "Credential.Receive": receives
  }
  observer.hears((exercise) => hears[`${exercise.entity}.${exercise.choice}`]?.(exercise))
  observer.hearsEnds(recovered)
  const lots = LotBooks.make(observer, {
    assets: instrumentIds,
    payoutPriceOf: (distributionId) => months.get(distributionId)?.payoutPrice ?? null
  })

  const headOf = (instrumentId: string, party: string, through?: Offset.Offset): string => {
    const ofParty = recoveries.filter(
      ({ from, offset }) => from === party && (through === undefined || offset <= through)
    )
    const next =
      ofParty.findLast((each) => each.instrumentId === instrumentId) ??
      ofParty.findLast((each) => each.instrumentId === null)
    return next === undefined ? party : headOf(instrumentId, next.to, through)
  }

  return {
    months,
    monthsOf: (instrumentId) =>
      [...months.values()].filter((month) => month.instrumentId === instrumentId),
    line: (lineId) => lines.get(lineId),
    headOf,
    carries: new Map(),
    recomputed: new Set(),
    prices: new Map(),
    lots,
    minted,
    paid
  }
}
