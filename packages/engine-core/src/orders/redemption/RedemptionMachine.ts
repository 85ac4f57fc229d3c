/** State machine of a redemption: moves, and who makes each. */
import { Result, Schema } from "effect"
import { match, P } from "ts-pattern"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, judge, type Judgement } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Field from "../../templates/Field.ts"
import { againstLines, type CashLine, unpaid } from "../order/CashLine.ts"
import {
  Allocated,
  at,
  cashIn,
  cashWith,
  Leave,
  Match,
  MoveLines,
  Release,
  RequestCash,
  Withdraw
} from "../order/OrderFacts.ts"
import type { Redemption } from "./Redemption.ts"

export const RedemptionMachine = Machine.declare("RedemptionState", {
  doc: "A redemption, from its claim to its settlement. Once burned it can only settle.",
  states: {
    claimed: "The holder's claim is on the ledger; nobody has priced it yet.",
    priced: "The fund's oracle priced it.",
    funded: "The holder's custodian requested the burn of its units.",
    burned: "Its units are burned and its cash is owed: it can only settle.",
    settled: "Its cash is paid. This is the value date.",
    withdrawn: "The claim was withdrawn before its units were burned.",
    released: "The venue released it before its units were burned."
  },
  triggers: {
    price: { by: ["ledger"], announces: ["redemption.priced"] },
    fund: { by: ["ledger"], announces: ["redemption.funded"] },
    burn: { by: ["ledger"], announces: ["redemption.burned"] },
    settle: { by: ["redemption.settle"], announces: ["redemption.settled"] },
    exchange: {
      by: ["redemption.settle", "dealing-cycle.settle"],
      announces: ["redemption.burned", "redemption.settled"]
    },
    withdraw: {
      by: ["redemption.withdraw", "dealing-cycle.release"],
      announces: ["redemption.withdrawn"]
    },
    release: {
      by: ["redemption.release", "dealing-cycle.release"],
      announces: ["redemption.withdrawn"]
    }
  },
  initial: "claimed",
  // A projection that begins from a snapshot opens an order as its contract is.
  opensIn: ["claimed", "priced", "funded"],
  opens: { by: ["redemption.claim", "ledger"] },
  moves: {
    claimed: { price: "priced", withdraw: "withdrawn" },
    priced: { fund: "funded", exchange: "settled", withdraw: "withdrawn", release: "released" },
    funded: { burn: "burned", exchange: "settled", withdraw: "withdrawn", release: "released" },
    burned: { settle: "settled" },
    settled: {},
    withdrawn: {},
    released: {}
  },
  forward: ["price", "fund", "burn", "settle", "exchange"]
})

// Facts that do not change the state.

/** The fund allocated the order's cash; null: the allocation ended. */
const Allocate = Schema.Struct({
  on: Schema.Literal("allocate-cash"),
  allocation: Schema.NullOr(Allocated)
})
/** The holder allocated the order's units; null: the allocation ended. */
const AllocateUnits = Schema.Struct({
  on: Schema.Literal("allocate-units"),
  allocation: Schema.NullOr(Allocated)
})
/** Another burn request was made; null: the request was rejected or withdrawn. */
const RequestBurn = Schema.Struct({
  on: Schema.Literal("request-burn"),
  burnRequestCid: Schema.NullOr(Field.contractId)
})
/** The remainder of a partial fill joined the dealing cycle of its cut-off, opened after its claim. */
const Join = Schema.Struct({
  on: Schema.Literal("join"),
  claimCid: Field.contractId,
  cycleId: Schema.String
})

// Facts of the table's triggers.

const Price = Schema.Struct({
  on: Schema.Literal("price"),
  pricedCid: Field.contractId,
  pointCid: Field.contractId,
  price: Decimal.schema,
  index: Field.optional(Decimal.schema),
  units: Decimal.schema,
  baseUnits: Field.optional(Decimal.schema),
  proceeds: Decimal.schema,
  fee: Decimal.schema,
  ...at
})
const Fund = Schema.Struct({ on: Schema.Literal("fund"), burnRequestCid: Field.contractId, ...at })
const Burn = Schema.Struct({ on: Schema.Literal("burn"), ...at })
const settled = { valueDate: Date.schema, ...at } as const
const Settle = Schema.Struct({ on: Schema.Literal("settle"), ...settled })
/** Burned and paid in one transaction; the figures are those of the part that was filled. */
const Exchange = Schema.Struct({
  on: Schema.Literal("exchange"),
  units: Decimal.schema,
  proceeds: Decimal.schema,
  fee: Decimal.schema,
  ...settled
})

export const Fact = Schema.Union([
  RequestCash,
  Allocate,
  AllocateUnits,
  RequestBurn,
  Join,
  Leave,
  Match,
  MoveLines,
  Price,
  Fund,
  Burn,
  Settle,
  Exchange,
  Release,
  Withdraw
])
export type Fact = typeof Fact.Type

/** Commands of the venue. It neither prices nor burns: the oracle and the registrar do. */
export type Command =
  | { readonly on: "withdraw" | "release" }
  | { readonly on: "settle" | "exchange"; readonly cash: ReadonlyArray<CashLine> }

/**
 * Guard: decides by the order's own record whether the venue may send the command to the ledger. The
 * fact is recorded once the ledger has committed it.
 */
export const decide = (self: Redemption, command: Command) =>
  Machine.admit(RedemptionMachine, self, command.on).pipe(
    Result.flatMap(() => judge(objections(self, command))),
    Result.map(() => command)
  )

/** Conditions of a command on the order's own record, one row a condition. */
export const objections = (self: Redemption, command: Command): ReadonlyArray<Judgement> =>
  match(command)
    .with({ on: P.union("withdraw", "release") }, () => [burnRequested(self)])
    .with({ on: "settle" }, ({ cash }) => againstSettling(self, cash))
    .with({ on: "exchange" }, ({ cash }) => againstExchange(self, cash))
    .exhaustive()

/** A burn request stops the venue: only the holder's custodian or the registrar can end one. */
const burnRequested = (self: Redemption): Judgement =>
  condition("burn-requested", self.burnRequestCid === null, { party: self.custodian ?? self.party })

/** Checks of paying a burned order: bank lines prove a wire payment, on the ledger the fund allocates. */
const againstSettling = (
  self: Redemption,
  cash: ReadonlyArray<CashLine>
): ReadonlyArray<Judgement> =>
  self.payment === "ledger"
    ? [linesOnLedger(cash), unallocated(self)]
    : [...againstLines(self.cash, cash), unpaid(self.cash, cash)]

const againstExchange = (
  self: Redemption,
  cash: ReadonlyArray<CashLine>
): ReadonlyArray<Judgement> => [
  condition("paid-on-ledger", self.payment === "ledger", {
    recovery: "Have its units burned first: its cash goes by wire."
  }),
  condition("units-allocated", self.unitsAllocation !== null, { party: self.party }),
  // Units must not be burned twice: by request, and again with the payment.
  burnRequested(self),
  linesOnLedger(cash),
  unallocated(self)
]

const linesOnLedger = (cash: ReadonlyArray<CashLine>): Judgement =>
  condition("cash-on-ledger", cash.length === 0)

const unallocated = (self: Redemption): Judgement =>
  condition("cash-allocated", self.allocation !== null, {
    party: self.fund,
    recovery: "Have the fund allocate the order's cash."
  })

/** Fold: the redemption after `fact`. */
export const evolve = (self: Redemption, fact: Fact): Redemption =>
  match(fact)
    .with({ on: "request-cash" }, ({ intentCid }) => ({ ...self, intentCid }))
    .with({ on: "allocate-cash" }, ({ allocation }) => ({ ...self, allocation }))
    .with({ on: "allocate-units" }, ({ allocation }) => ({ ...self, unitsAllocation: allocation }))
    .with({ on: "request-burn" }, ({ burnRequestCid }) => ({ ...self, burnRequestCid }))
    .with({ on: "join" }, ({ claimCid, cycleId }) => ({ ...self, claimCid, cycleId }))
    .with({ on: "leave" }, ({ formerCycle }) => ({ ...self, cycleId: null, formerCycle }))
    .with({ on: "match" }, ({ lines }) => ({
      ...self,
      cash: cashWith(self.cash, lines)
    }))
    .with({ on: "move-lines" }, ({ lines }) => ({ ...self, cash: cashIn(self.cash, lines) }))
    .with({ on: "price" }, ({ on, at: pricedAt, ...priced }) => ({
      ...moved(self, on),
      ...priced,
      pricedAt,
      cash: { ...self.cash, expected: priced.proceeds },
      claimCid: null
    }))
    .with({ on: "fund" }, ({ on, burnRequestCid, at: fundedAt }) => ({
      ...moved(self, on),
      burnRequestCid,
      fundedAt
    }))
    .with({ on: "burn" }, ({ on, at: burnedAt }) => ({
      ...moved(self, on),
      burnRequestCid: null,
      burnedAt
    }))
    .with({ on: "settle" }, ({ on, at: settledAt, valueDate }) => ({
      ...moved(self, on),
      ...paid(self),
      ...ended("settled", settledAt),
      settledAt,
      valueDate
    }))
    .with({ on: "exchange" }, ({ on, at: settledAt, valueDate, units, proceeds, fee }) => ({
      ...moved(self, on),
      units,
      proceeds,
      fee,
      cash: { ...self.cash, expected: proceeds, matched: proceeds },
      ...ended("settled", settledAt),
      burnedAt: settledAt,
      settledAt,
      valueDate
    }))
    .with({ on: P.union("release", "withdraw") }, (fact) => ({
      ...moved(self, fact.on),
      ...ended(fact.on === "release" ? "released" : "withdrawn", fact.at)
    }))
    .exhaustive()

const moved = (self: Redemption, on: Machine.TriggerOf<typeof RedemptionMachine>): Redemption => ({
  ...self,
  state: Machine.follow(RedemptionMachine, self.state, on)
})

/** Paid on the ledger, the allocation matches all of the cash; by wire the bank lines match it in parts. */
const paid = ({ cash, payment }: Redemption) =>
  payment === "ledger" ? { cash: { ...cash, matched: cash.expected ?? cash.matched } } : {}

const ended = (endedAs: "settled" | "released" | "withdrawn", at: Instant.Instant) => ({
  endedAs,
  endedAt: at,
  claimCid: null,
  pricedCid: null,
  intentCid: null,
  allocation: null,
  unitsAllocation: null,
  burnRequestCid: null
})
