/**
 * Books of a par fund's distributions, kept by hand in plain integers from the ledger's transactions
 * and a journal of what people did at the engine: none of the engine's arithmetic is in them.
 */
import { Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { createHash } from "node:crypto"

/** An act of people at the engine. */
export type Done =
  | { readonly act: "freeze" | "lift"; readonly party: string }
  | { readonly act: "pause" | "resume" }
  /** In units of 10^-10. */
  | { readonly act: "rate"; readonly party: string; readonly rate: bigint }

/** The same, and the ledger's end when they did it. */
export type Act = Done & { readonly offset: number }

/** Facts that no transaction states: the terms of the fund, and which parties are holders. */
export interface Terms {
  readonly payout: "cash" | "units"
  /** Holder ids by party. */
  readonly holders: ReadonlyMap<string, string>
}

/** A line, its amounts in units of 10^-10. */
export interface Line {
  readonly lineId: string
  party: string
  predecessor: string | null
  readonly units: bigint
  readonly entitlement: bigint
  readonly carryIn: bigint
  readonly carriedFrom: string | null
  readonly gross: bigint
  readonly rate: bigint
  readonly rateSource: "default" | "point" | "attribute"
  readonly withheld: bigint
  readonly net: bigint
  readonly carryOut: bigint
  readonly payoutUnits: bigint | null
  state: "planned" | "due" | "suspended" | "delivered" | "rolled" | "carried"
  reason: string | null
  paidOn: string | null
  deliveredUid: string | null
  rolledUid: string | null
}

export interface Month {
  readonly distributionId: string
  readonly month: string
  state: "executed" | "held" | "payable" | "paid"
  isSealed: boolean
  readonly lines: ReadonlyArray<Line>
  readonly residual: bigint
  readonly linesHash: string
  /** Net of the lines that were suspended when it was sealed. */
  suspended: bigint
}

interface Point {
  readonly cid: string
  readonly date: number
  readonly income: bigint
  readonly rate: bigint | null
}

/** Units that came to a party, or with a minus left it. */
interface Change {
  readonly at: number
  readonly transaction: string
  readonly party: string
  readonly units: bigint
}

type Payload = Readonly<Record<string, unknown>>

const day = 86_400_000
const unit = 10n ** 10n
const cent = 10n ** 8n

/** Ten places, as the ledger writes every figure. */
const atomsOf = (figure: unknown): bigint => {
  const [whole = "0", places = ""] = String(figure).split(".")
  return BigInt(`${whole}${places.padEnd(10, "0")}`)
}
const millisOf = (date: string): number => Instant.toEpochMillis(Instant.of(`${date}T00:00:00Z`))
const dateOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

const floorOf = (value: bigint, by: bigint): bigint => {
  const part = value / by
  return value % by < 0n ? part - 1n : part
}

/** Least plain text of an amount. */
const plain = (atoms: bigint): string => {
  const text = String(atoms < 0n ? -atoms : atoms).padStart(11, "0")
  const places = text.slice(-10).replace(/0+$/, "")
  return `${atoms < 0n ? "-" : ""}${text.slice(0, -10)}${places === "" ? "" : `.${places}`}`
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The last day of a month, and the day after it. */
const endOf = (month: string): number => {
  const [year = 0, number = 0] = month.split("-").map(Number)
  return Date.UTC(year, number, 1)
}

export class Books {
  /** Changes of units in the order of the ledger, by its running time. */
  readonly changes: Array<Change> = []
  readonly points: Array<Point> = []
  readonly months: Array<Month> = []
  /** The successor by recovery of a party's units. */
  readonly successors = new Map<string, string>()
  /** When the units of a party were recovered, by the ledger. */
  private readonly succeededAt = new Map<string, number>()
  /** Deliveries on the ledger before the engine's instruction arrived there. */
  readonly breaches: Array<string> = []
  readonly rates = new Map<string, bigint>()
  readonly frozen = new Set<string>()
  isPaused = false
  /** A distribution was sealed, and no run has looked at it yet. */
  isRunDue = false
  /** Ledger time, which never decreases. */
  now = 0
  private readonly contracts = new Map<string, Payload>()
  readonly terms: Terms

  constructor(terms: Terms) {
    this.terms = terms
  }

  // ---- what happens

  /** One transaction of the ledger, in its order. */
  read({ effectiveAt, events, updateId }: Ledger.Transaction): void {
    this.rest()
    this.now = Math.max(this.now, Instant.toEpochMillis(effectiveAt))
    for (const event of events) {
      const { entity } = event.template
      if (event._tag === "Created") {
        const payload = event.payload as Payload
        this.contracts.set(event.contractId, payload)
        if (entity === "Holding") this.turn(payload, { sign: 1n, updateId })
        if (entity === "OraclePoint") this.publish(event.contractId, payload)
        continue
      }
      const payload = this.contracts.get(event.contractId) ?? {}
      if (entity === "Holding" && event.consuming) this.turn(payload, { sign: -1n, updateId })
      this.exercise(`${entity}.${event.choice}`, payload, event.arg as Payload, updateId)
    }
  }

  /** One act of people. */
  note(act: Act): void {
    this.rest()
    switch (act.act) {
      case "rate":
        this.rates.set(act.party, act.rate)
        return
      case "freeze":
        this.frozen.add(act.party)
        return this.judge()
      case "lift":
        this.frozen.delete(act.party)
        return this.judge()
      case "pause":
        this.isPaused = true
        return this.hold()
      case "resume":
        this.isPaused = false
        return this.run()
    }
  }

  /** The engine runs the writes that follow from the last transaction. */
  rest(): void {
    if (!this.isRunDue) return
    this.isRunDue = false
    if (this.isPaused) this.hold()
    else this.run()
  }

  private turn(
    payload: Payload,
    update: { readonly sign: bigint; readonly updateId: string }
  ): void {
    if ((payload["instrument"] as Payload)["id"] !== "fund-a") return
    const party = String(payload["owner"])
    const units = update.sign * atomsOf(payload["amount"])
    this.changes.push({ at: this.now, transaction: update.updateId, party, units })
  }

  private publish(cid: string, payload: Payload): void {
    const valued = Instant.toEpochMillis(Instant.of(String(payload["valuationTime"])))
    const rate = payload["withholdingRate"] ?? null
    this.points.push({
      cid,
      date: Math.floor(valued / day) * day,
      income: atomsOf(payload["value"]),
      rate: rate === null ? null : atomsOf(rate)
    })
  }

  private exercise(what: string, payload: Payload, argument: Payload, updateId: string): void {
    const lineId = String(payload["lineId"])
    switch (what) {
      case "IssuerPowersAgreement.ForceMove": {
        const consent = this.contracts.get(String(argument["consentCid"]))
        const to = (argument["cause"] as Payload)["successor"] ?? null
        if (to !== null) this.succeed(String(consent?.["holder"]), String(to))
        return
      }
      case "DistributionSlot.Execute":
        this.months.push(
          this.executed(String(argument["distributionId"]), String(argument["month"]))
        )
        return
      case "Distribution.AddLines":
        for (const added of argument["lines"] as ReadonlyArray<Payload>) {
          const month = this.months.at(-1)
          const line = month?.lines[Number(added["number"]) - 1]
          if (line === undefined) throw new Error("a line that no holder is owed")
          line.state = line.reason === null ? "due" : "carried"
        }
        return this.judge()
      case "Distribution.Seal": {
        const month = this.months.at(-1)
        if (month === undefined) throw new Error("nothing is executed")
        month.isSealed = true
        month.suspended = sum(month.lines, (line) => (line.state === "suspended" ? line.net : 0n))
        this.isRunDue = true
        return
      }
      case "DistributionLine.Deliver": {
        const line = this.line(lineId)
        const evidence = (argument["evidence"] ?? null) as Payload | null
        const month = this.months.find(({ lines }) => lines.includes(line))
        if (line.state === "suspended" || month?.state === "held") {
          this.breaches.push(`The line was ${line.state}, and its distribution ${month?.state}.`)
        }
        line.state = "delivered"
        line.reason = null
        line.deliveredUid = updateId
        line.paidOn = evidence === null ? dateOf(this.now) : String(evidence["paidOn"])
        return
      }
      case "DeliveredLine.Roll": {
        const line = this.line(lineId)
        line.state = "rolled"
        line.rolledUid = updateId
        for (const month of this.months) if (month.state === "payable") payIfDone(month)
      }
    }
  }

  private line(lineId: string): Line {
    const found = this.months.flatMap(({ lines }) => lines).find((line) => line.lineId === lineId)
    if (found === undefined) throw new Error(`no line ${lineId}`)
    return found
  }

  // ---- what follows

  private succeed(from: string, to: string): void {
    this.successors.set(from, to)
    this.succeededAt.set(from, this.now)
    for (const { lines } of this.months) {
      for (const line of lines.filter(isOwed)) {
        if (line.party !== from) continue
        line.party = to
        line.predecessor = this.terms.holders.get(from) ?? null
      }
    }
    this.judge()
  }

  /** Lines wait while their holder is frozen, and those of a party that is none. */
  private judge(): void {
    for (const month of this.months) {
      for (const line of month.lines.filter(isOwed)) {
        const before = line.state
        line.reason = this.causeOf(line.party)
        line.state = line.reason === null ? "due" : "suspended"
        const isCured = before === "suspended" && line.state === "due"
        if (isCured && this.isPaused && month.state === "payable") month.state = "held"
      }
    }
  }

  private causeOf(party: string): string | null {
    if (!this.terms.holders.has(party)) return "no-holder"
    return this.frozen.has(party) ? "restriction" : null
  }

  private hold(): void {
    for (const month of this.months) {
      const isOpen = month.state === "executed" || month.state === "payable"
      if (isOpen && month.lines.some(({ state }) => state === "due")) month.state = "held"
    }
  }

  private run(): void {
    for (const month of this.months) {
      if (!month.isSealed || month.state === "paid") continue
      month.state = "payable"
      payIfDone(month)
    }
  }

  // ---- what a month comes to

  private payeeOf(party: string): string {
    const next = this.successors.get(party)
    return next === undefined ? party : this.payeeOf(next)
  }

  /** The holder whose units a payee recovered since the record date before: its days are in the line. */
  private predecessorIn(payee: string, before: string | null, month: string): string | null {
    const begin = before === null ? millisOf(`${month}-01`) : endOf(before)
    const from = [...this.successors].find(
      ([party, to]) => to === payee && (this.succeededAt.get(party) ?? 0) >= begin
    )
    return from === undefined ? null : (this.terms.holders.get(from[0]) ?? null)
  }

  /** Units of a payee, with those of the parties it succeeded, just before an instant. */
  unitsAt(payee: string, end: number): bigint {
    return sum(this.changes, ({ at, party, units }) =>
      at < end && this.payeeOf(party) === payee ? units : 0n
    )
  }

  /** Month by month: what is dated in it, and since when its days count. */
  periodOf(month: string) {
    const before = this.months.at(-1)
    const from = before === undefined ? millisOf("2026-06-30") : endOf(before.month)
    const until = endOf(month)
    const dated = this.points.toSorted((a, b) => a.date - b.date)
    const within = dated.filter(({ date }) => date >= from && date < until)
    const reaching = [...dated.filter(({ date }) => date < from).slice(-1), ...within]
    const rates = within.flatMap(({ rate }) => (rate === null ? [] : [rate]))
    const rate = rates.at(-1) ?? null
    return { from, until, reaching, rate, ratesDiffer: new Set(rates).size > 1 }
  }

  /** A month is a period if a point is dated in it. */
  isPeriod(month: string): boolean {
    return this.points.some(({ date }) => dateOf(date).startsWith(month))
  }

  /** Rows of the calendar from June 2026 on: each month, its state and its distribution. */
  calendar(through: string): ReadonlyArray<readonly [string, string, string | null]> {
    const last = this.months.at(-1)?.month ?? ""
    const rows: Array<readonly [string, string, string | null]> = []
    let open = 0
    for (let at = Date.UTC(2026, 5, 1); dateOf(at).slice(0, 7) <= through; ) {
      const month = dateOf(at).slice(0, 7)
      at = endOf(month)
      const executed = this.months.find((one) => one.month === month)
      if (executed !== undefined) {
        const isPaid = executed.lines.some(({ gross }) => gross > 0n)
        rows.push([month, isPaid ? "executed" : "nil", executed.distributionId])
      } else if (month > last && this.now < at + 60_000) rows.push([month, "accruing", null])
      else if (month > last && this.isPeriod(month)) {
        rows.push([month, open++ > 0 || this.isPaused ? "blocked" : "due", null])
      }
    }
    return rows
  }

  private executed(distributionId: string, month: string): Month {
    const { from, rate, reaching, until } = this.periodOf(month)
    const before = this.months.at(-1)
    const payees = [...new Set([...this.changes.map(({ party }) => this.payeeOf(party))])].toSorted(
      (a, b) => this.compare(a, b)
    )
    let cut = 0n
    let rests = 0n
    const lines: Array<Line> = []
    for (const payee of payees) {
      // Atoms of units times atoms of income: twenty places.
      const exact = sum(reaching, ({ date, income }, index) => {
        const to = reaching[index + 1]?.date ?? until
        return this.unitsAt(payee, date + day) * income * BigInt((to - Math.max(date, from)) / day)
      })
      const entitlement = floorOf(exact, unit)
      cut += exact - entitlement * unit
      const carried = (before?.lines ?? []).filter(
        ({ carryOut, party }) => this.payeeOf(party) === payee && carryOut !== 0n
      )
      const carryIn = sum(carried, ({ carryOut }) => carryOut)
      if (entitlement === 0n && carryIn === 0n) continue
      const due = entitlement + carryIn
      const whole = floorOf(due, cent) * cent
      const isUnrolled = this.months.some((earlier) =>
        earlier.lines.some(
          (line) =>
            this.payeeOf(line.party) === payee && (isOwed(line) || line.state === "delivered")
        )
      )
      const gross = isUnrolled || whole < 0n ? 0n : whole
      const own = this.rates.get(payee)
      const lineRate = own ?? rate ?? (15n * unit) / 100n
      // Half up at cents.
      const withheld = floorOf(gross * lineRate + (cent * unit) / 2n, cent * unit) * cent
      const net = gross - withheld
      const units = this.unitsAt(payee, until)
      const isKept = units !== 0n || (gross === 0n && due >= cent)
      const carryOut = isKept ? due - gross : 0n
      rests += due - gross - carryOut
      lines.push({
        lineId: `${distributionId}.${lines.length + 1}`,
        party: payee,
        predecessor: this.predecessorIn(payee, before?.month ?? null, month),
        units,
        entitlement,
        carryIn,
        carriedFrom: carried.length === 0 ? null : (before?.month ?? null),
        gross,
        rate: lineRate,
        rateSource: own !== undefined ? "attribute" : rate === null ? "default" : "point",
        withheld,
        net,
        carryOut,
        payoutUnits: this.terms.payout === "units" ? net : null,
        state: "planned",
        reason: isUnrolled ? "unrolled" : gross === 0n ? "below-smallest" : null,
        paidOn: null,
        deliveredUid: null,
        rolledUid: null
      })
    }
    const rows = lines.map((line) => [
      this.terms.holders.get(line.party) ?? line.party,
      ...[line.units, line.gross, 0n, line.withheld, line.net, line.carryOut].map(plain)
    ])
    return {
      distributionId,
      month,
      state: "executed",
      isSealed: false,
      lines,
      residual: rests + floorOf(cut, unit),
      linesHash: sha256(`bursar-lines-v1\n${sha256(JSON.stringify(rows))}`),
      suspended: 0n
    }
  }

  /** Holders by id, then parties that are none. */
  private compare(a: string, b: string): number {
    const [x, y] = [this.terms.holders.get(a), this.terms.holders.get(b)]
    if ((x === undefined) !== (y === undefined)) return x === undefined ? 1 : -1
    return (x ?? a) < (y ?? b) ? -1 : 1
  }
}

const payIfDone = (month: Month): void => {
  if (month.lines.every(({ state }) => state !== "due" && state !== "delivered")) {
    month.state = "paid"
  }
}

const isOwed = ({ state }: Line): boolean => state === "due" || state === "suspended"

export const sum = <A>(
  items: ReadonlyArray<A>,
  part: (member: A, index: number) => bigint
): bigint => items.reduce((all, member, index) => all + part(member, index), 0n)
