/**
 * The auditor keeps its own naive books of the requests, and compares them with the engine's
 * answers.
 */

/** Whole units of the smallest kind: cents, millionths of a unit, ten-thousandths of a price. */
export type Cents = bigint
export type Micros = bigint

export interface Line {
  readonly statementId: string
  readonly line: number
  readonly cents: Cents
  /** Amount of the line, as the bank stated it. */
  readonly stated: Cents
}

/** The request that opened an operation. */
export type Asked =
  | {
      readonly kind: "claim"
      readonly subscriptionId: string
      readonly holderId: string
      readonly cents: Cents
    }
  | { readonly kind: "withdraw" | "release"; readonly subscriptionId: string }
  | {
      readonly kind: "deliver" | "settle"
      readonly subscriptionId: string
      readonly lines: ReadonlyArray<Line>
    }
  | { readonly kind: "record"; readonly instrumentId: string; readonly maker: string }

export interface ToldOperation {
  readonly operationId: string
  readonly state: string
  readonly signedBy: ReadonlyArray<string>
}

/** The engine's own records at one moment, as plain figures. */
export interface Told {
  readonly operations: ReadonlyArray<ToldOperation>
  /** Units by holder. */
  readonly register: ReadonlyMap<string, Micros>
  readonly orders: ReadonlyMap<
    string,
    { readonly state: string; readonly matched: Cents; readonly units: Micros | null }
  >
  readonly instruments: ReadonlySet<string>
}

/** The ledger's contracts once everything is at rest. */
export interface Ledger {
  readonly held: ReadonlyMap<string, Micros>
  readonly claims: number
  readonly lots: number
  readonly delivered: number
}

const sum = (some: ReadonlyArray<bigint>): bigint => some.reduce((total, one) => total + one, 0n)
const rank: Readonly<Record<string, number>> = { queued: 0, running: 1, succeeded: 2, failed: 2 }

/** Units for an amount at a price, what is left of the last millionth given back. */
export const buys = (cents: Cents, price: bigint): Micros => (cents * 10n ** 8n) / price

export class Auditor {
  readonly writeById = new Map<string, Asked>()
  private readonly states = new Map<string, string>()
  /** Units that attestors wrote on the ledger for each order. */
  private readonly attested = new Map<string, Micros>()
  private done = new Set<string>()

  opened(operationId: string, what: Asked) {
    const before = this.writeById.get(operationId)
    if (before === undefined) this.writeById.set(operationId, what)
    else same(before, what, `operation ${operationId} is of two requests`)
  }

  /** An attestor's command committed. */
  priced(subscriptionId: string, units: Micros) {
    holds(!this.attested.has(subscriptionId), `${subscriptionId} was priced twice`)
    this.attested.set(subscriptionId, units)
  }

  unpriced(subscriptionId: string): boolean {
    return !this.attested.has(subscriptionId)
  }

  private succeeded(kind: Asked["kind"]): ReadonlyArray<Asked> {
    return [...this.done].flatMap((id) => {
      const what = this.writeById.get(id)
      return what?.kind === kind ? [what] : []
    })
  }

  private commandsOf(kind: "withdraw" | "release" | "deliver" | "settle", subscriptionId: string) {
    return this.succeeded(kind).filter(
      (one) => "subscriptionId" in one && one.subscriptionId === subscriptionId
    )
  }

  /** The states of an order that its own requests allow. */
  private expectedStates(subscriptionId: string): ReadonlyArray<string> {
    if (this.commandsOf("settle", subscriptionId).length > 0) return ["closed"]
    if (this.commandsOf("deliver", subscriptionId).length > 0) return ["delivered"]
    if (this.commandsOf("release", subscriptionId).length > 0) return ["released"]
    if (this.commandsOf("withdraw", subscriptionId).length > 0) return ["withdrawn"]
    // An attestation may be on the ledger and not projected yet.
    return this.attested.has(subscriptionId) ? ["claimed", "priced"] : ["claimed"]
  }

  audit(report: Told) {
    this.follow(report.operations)
    const claims = this.succeeded("claim").flatMap((one) => (one.kind === "claim" ? [one] : []))
    same(
      [...report.orders.keys()].toSorted(),
      claims.map(({ subscriptionId }) => subscriptionId).toSorted(),
      "the orders are those that were claimed"
    )
    const owed = new Map<string, Micros>()
    const used = new Map<string, Cents>()
    for (const { subscriptionId, holderId, cents } of claims) {
      const order = report.orders.get(subscriptionId)
      const states = this.expectedStates(subscriptionId)
      holds(
        order !== undefined && states.includes(order.state),
        `${subscriptionId} is ${order?.state}, not ${states.join(" or ")}`
      )
      const moves = (["deliver", "settle", "withdraw", "release"] as const).map(
        (kind) => this.commandsOf(kind, subscriptionId).length
      )
      holds(
        moves.every((times) => times <= 1),
        `${subscriptionId} moved twice: ${moves}`
      )
      const [delivered = 0, settled = 0, withdrawn = 0, released = 0] = moves
      holds(settled <= delivered, `${subscriptionId} was settled undelivered`)
      holds(delivered + withdrawn + released <= 1, `${subscriptionId} ended twice: ${moves}`)
      holds(withdrawn === 0 || this.unpriced(subscriptionId), `${subscriptionId}: withdrawn priced`)
      const lines = [
        ...this.commandsOf("deliver", subscriptionId),
        ...this.commandsOf("settle", subscriptionId)
      ].flatMap((one) => ("lines" in one ? one.lines : []))
      const paid = sum(lines.map((line) => line.cents))
      same(order?.matched, paid, `${subscriptionId}: the cash that was matched`)
      holds(delivered === 0 || paid >= cents, `${subscriptionId} was delivered for ${paid}`)
      for (const { statementId, line, cents: part, stated } of lines) {
        const name = `${statementId}:${line}`
        const all = (used.get(name) ?? 0n) + part
        holds(all <= stated, `line ${name} of ${stated} paid ${all}, at last ${subscriptionId}`)
        used.set(name, all)
      }
      if (delivered === 0) continue
      const units = this.attested.get(subscriptionId)
      holds(units !== undefined, `${subscriptionId} was delivered unpriced`)
      same(order?.units, units, `${subscriptionId}: its units`)
      owed.set(holderId, (owed.get(holderId) ?? 0n) + (units ?? 0n))
    }
    same(entries(report.register), entries(owed), "the register is what was delivered")
    const recorded = this.succeeded("record").map((one) =>
      one.kind === "record" ? one.instrumentId : ""
    )
    same([...report.instruments].toSorted(), recorded.toSorted(), "the instruments recorded")
    return owed
  }

  /**
   * Judges the end of a run: every operation has ended, and the ledger has the same units as the
   * records.
   */
  close(report: Told, ledger: Ledger) {
    const owed = this.audit(report)
    for (const { operationId, state } of report.operations) {
      holds(rank[state] === 2, `operation ${operationId} has not ended: ${state}`)
    }
    same(entries(ledger.held), entries(owed), "the ledger's holdings are what was delivered")
    const states = [...report.orders].map(([id, { state }]) => {
      // At rest the projection has read every attestation.
      return state === "claimed" && this.attested.has(id) ? "unseen price" : state
    })
    const count = (state: string) => states.filter((one) => one === state).length
    same(
      [ledger.claims, ledger.lots, ledger.delivered, count("unseen price")],
      [count("claimed"), count("priced"), count("delivered"), 0],
      "claims, lots and delivered lots on the ledger"
    )
  }

  private follow(operations: ReadonlyArray<ToldOperation>) {
    for (const { operationId, state, signedBy } of operations) {
      const before = this.states.get(operationId) ?? "queued"
      const goesOn = (rank[state] ?? 0) > (rank[before] ?? 0) || state === before
      holds(goesOn, `operation ${operationId} went from ${before} to ${state}`)
      this.states.set(operationId, state)
      const what = this.writeById.get(operationId)
      holds(what !== undefined, `operation ${operationId} was never asked for`)
      if (what?.kind === "record") {
        holds(signedBy.length === 1 && !signedBy.includes(what.maker), `signed by ${signedBy}`)
      }
      if (state === "succeeded") this.done.add(operationId)
    }
    holds(operations.length === this.states.size, "an operation vanished")
  }
}

const entries = (units: ReadonlyMap<string, bigint>) =>
  [...units].filter(([, one]) => one !== 0n).toSorted(([a], [b]) => (a < b ? -1 : 1))

const holds = (condition: boolean, what: string) => {
  if (!condition) throw new Error(`audit: ${what}`)
}

const text = (value: unknown) =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one))

const same = (got: unknown, expected: unknown, what: string) =>
  holds(text(got) === text(expected), `${what}: ${text(got)}, not ${text(expected)}`)
