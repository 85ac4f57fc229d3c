/** A town: its people, what they have asked for, what they were told, and the engine that is at work. */
import { Catalogue, Engine, Follower, Workers } from "@bursar/engine-core"
import { Instant, type Party } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { type Context, Effect, Exit, Layer, Scope } from "effect"
import * as Killable from "../../engine/killable.ts"
import type * as Faults from "../faults.ts"
import type { Bank } from "./bank-accounts.ts"
import type { DistributionBooks } from "./distribution-books.ts"
import type { LedgerObserver } from "./ledger-observer.ts"
import type { Atoms, chain } from "./figures.ts"
import type { Asks, Model, When } from "./model.ts"
import type { Source } from "./world.ts"

export type Services = Engine.Services

/** An outside party with its own right. */
export interface Wallet {
  readonly name: string
  readonly party: Party.Party
}

export interface Holder extends Wallet {
  readonly holderId: string
  /** State of the holder by the events that the auditor has read. */
  stateByEvents: "pending" | "closed" | "succeeded"
  /** The holder it was named successor of, and since when it may be used, in milliseconds. */
  readonly predecessor: string | null
  successor: { readonly holderId: string; readonly party: string; usableFrom: number | null } | null
}

/** Terms of a fund that distributes monthly; its zone is UTC. */
export interface Distributing {
  /** A rebasing fund pays nothing: its lines report what its units have gained. */
  readonly payout: "cash" | "units" | "none"
  readonly recordDay: number
  readonly paymentLagDays: number
}

export interface Fund {
  readonly instrumentId: string
  readonly valuation: "accumulating" | "par" | "rebasing"
  /** Whether orders deal at the first point from their cut-off on, or at the last one before their claim. */
  readonly pricing: "forward" | "historic"
  readonly marketed: boolean
  /** Terms by which it distributes monthly; null: it does not. */
  readonly distribution: Distributing | null
  /**
   * The smallest part of a unit that may be ordered, in atoms of the ledger, and whether what bought no
   * units goes back.
   */
  readonly atom: Atoms
  readonly residual: "refund" | "fund"
  /** Ten-thousandths. */
  readonly fees: { readonly subscription: bigint; readonly redemption: bigint }
  readonly registrar: Wallet
  readonly fund: Wallet
  readonly oracle: Wallet
  readonly attestor: Wallet
  readonly bank: Wallet
}

/**
 * An order that was asked for; cash in cents, units and prices in atoms of the ledger. Units of a
 * rebasing instrument are ordered as they are shown, at a price of 1.
 */
export interface Order {
  readonly id: string
  readonly kind: "subscription" | "redemption"
  readonly payment: "wire" | "ledger"
  readonly holder: Holder
  readonly fund: Fund
  readonly amount: bigint | null
  readonly ordered: Atoms | null
  /** Cut-off by the claim's answer, in nanoseconds; null until the claim is answered. */
  cutOffAt: bigint | null
  cycleId: string | null
  /** Units and cash of the order at the price that was signed. */
  priced: {
    readonly units: Atoms
    /** Units that the ledger mints or burns for them: of a rebasing instrument base units. */
    readonly moved: Atoms
    readonly cash: bigint
    readonly refund: bigint
    /** The figure of the point: of a rebasing instrument the index. */
    readonly price: Atoms
  } | null
  /** The redemption of which a gate left this over. */
  readonly remainderOf: string | null
}

/** Refund that a closed order paid by wire owes, and the part of it that the bank has paid. */
export interface Debt {
  readonly order: Order
  paid: bigint
}

export interface Cycle {
  readonly cycleId: string
  readonly fund: Fund
}

/** Result of an operation, as its record stores it. */
export type Outcome = Readonly<Record<string, unknown>>

/** An act, with the effects that the books record when it ends. */
export interface Act {
  readonly kind: string
  readonly asks: ReadonlyArray<Asks>
  /** Effects in the books when the act succeeds; `when` has the steps between which it did. */
  readonly succeeds?: (when: When, result: Outcome) => void
  /** Effects in the books once the act is certain to fail. */
  readonly fails?: () => void
  /** Effects that may be in force from the step of the request on. */
  readonly begins?: () => void
  /** The last signature is there: from now on it may happen. */
  readonly approved?: () => void
}

export interface Pending {
  readonly operationId: string
  readonly act: Act
  readonly since: number
  readonly sinceAt: number
  readonly level: number
  /** Signers; the maker first. */
  readonly people: ReadonlyArray<string>
}

export interface Awaiting {
  readonly actionKey: string
  readonly maker: string
  readonly needed: number
  readonly act: Act
  readonly signers: Array<string>
}

export interface Town {
  readonly die: Faults.Dice
  readonly faults: SimulatedLedger.Faults.Faults
  readonly observer: LedgerObserver
  readonly model: Model
  readonly source: Source
  readonly funds: ReadonlyArray<Fund>
  readonly venue: Party.Party
  readonly bankParty: Wallet
  readonly holders: Array<Holder>
  readonly byParty: Map<string, Holder>
  readonly byId: Map<string, Holder>
  readonly seen: Map<string, number>
  readonly said: ReturnType<typeof chain>
  readonly recent: Array<string>
  readonly pending: Map<string, Pending>
  readonly awaiting: Array<Awaiting>
  /** Orders that are in the books and have not ended. */
  readonly orders: Map<string, Order>
  /** Orders that holders signed and that are not claimed. */
  readonly signed: Array<Order>
  /** Every order that was claimed, also once it has ended. */
  readonly claimed: Map<string, Order>
  /** Subscriptions that closed; redemptions that were paid on the ledger, and with what. */
  readonly closed: Map<string, Order>
  readonly sold: Map<string, { readonly order: Order; readonly cents: bigint }>
  readonly debts: Map<string, Debt>
  /** Cash that the bank issued to each party, in atoms of the ledger. */
  readonly given: Map<string, bigint>
  /** Redemptions whose units the registrar has burned on request. */
  readonly burned: Set<string>
  /** The same as the registrar itself knows it. */
  readonly burnt: Set<string>
  /** Days of funds that an oracle has published a price of. */
  readonly published: Set<string>
  /** Points that the oracles of rebasing funds have signed, corrections too. */
  indices: number
  readonly cycles: Map<string, Cycle>
  readonly bank: {
    lines: number
    /** Amount of each bank line, and the parts of it that orders took. */
    readonly stated: Map<number, bigint>
    used: Array<{ readonly line: number; readonly by: string; readonly cents: bigint }>
  }
  /** The bank's accounts of the funds, and the chances of what it does. */
  readonly banking: Bank
  /** Final states of operations, by id. */
  readonly ended: Map<string, "succeeded" | "failed">
  readonly scope: Scope.Scope
  readonly trace: boolean
  /** Whether its people mostly order: one town in two. */
  readonly deals: boolean
  /** The books of its distributions; null in two towns of three, where no month passes. */
  readonly distributions: DistributionBooks | null
  /** Standing approvals that were granted. */
  readonly approvals: Set<string>
  engine: Context.Context<Services>
  step: number
  /** The last step at which the engine had read all of the ledger and had nothing left to do. */
  level: number
  count: number
  kills: number
  /** Instant of the last death of an instance, in milliseconds. */
  diedAt: number
}

export const note = (town: Town, what: string, times = 1) =>
  town.seen.set(what, (town.seen.get(what) ?? 0) + times)

/** A line of the transcript: what two runs of a seed must have in common. */
export const tell = (town: Town, line: string) => {
  const text = `${town.step} ${line}`
  town.said.line(text)
  town.recent.push(text)
  if (town.recent.length > 40) town.recent.shift()
  if (town.trace) console.log(text)
}

const tables = () => {
  const { collections: clocked, operations: writes, fromLedger, timely } = Catalogue
  return { operations: writes, fromLedger, clocked, timely }
}

/** An instance, built over the ports; `death` is where it dies. */
export const instance = (town: Pick<Town, "scope">, death?: Killable.Death) =>
  Layer.build(
    Killable.make({ ...tables(), ...(death === undefined ? {} : { death }) }).engine
  ).pipe(Scope.provide(town.scope))

export const within = <A, E, R>(town: Town, effect: Effect.Effect<A, E, R | Services>) =>
  Effect.provideContext(effect, town.engine) as Effect.Effect<A, E, Exclude<R, Services>>

/** Runs all due work, as far as the ledger allows it. */
export const work = Effect.fnUntraced(function* (town: Town) {
  const exit = yield* Effect.exit(
    Effect.gen(function* () {
      const engine = yield* Engine.Engine
      yield* engine.settle
      const participant = yield* SimulatedLedger.Participant
      const { offset } = yield* (yield* Follower).catchUp
      return offset === (yield* participant.ledgerEnd)
    })
  )
  if (Exit.isSuccess(exit) && exit.value) town.level = town.step
  else if (Exit.isFailure(exit) && !isAway(exit)) return yield* exit
})

/**
 * Whether a run by a call would not wait for one that died: the clock stands still while a step waits,
 * so that the lease of a dead instance would never end.
 */
export const mayRun = (town: Pick<Town, "diedAt">) =>
  Effect.map(Instant.now, (now) => Number(now / 1_000_000n) - town.diedAt > leaseEnded)
const leaseEnded = 20_000

/** The ledger, or the store, is away for now: no defect. */
const isAway = (exit: Exit.Failure<unknown, unknown>): boolean =>
  exit.cause.reasons.every((reason) => reason._tag === "Fail" || reason._tag === "Interrupt")

export const turns = Effect.gen(function* () {
  yield* Effect.exit(Workers.runOnce("schedules"))
})
