/** Commands on a subscription in every state, and the refusal that takes precedence. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { describe, expect, test } from "vitest"
import {
  orderStateAt,
  type Subscription,
  subscriptions,
  evolve,
  type Fact,
  type SubscriptionMachine
} from "#core/orders/subscription/Subscription.ts"
import type * as Machine from "#core/kernel/Machine.ts"
import * as Invariant from "#core/kernel/Invariant.ts"
import { cashStands } from "#core/orders/order/Order.ts"
import { at, claimed, type Command, decide, id, line, party } from "./subscriptions.ts"

const onValueDate = Instant.of("2026-08-03T09:00:00Z")
const date = Date.of("2026-08-03")
const cid = (n: number) => `00${n.toString(16).padStart(4, "0")}`

const price: Fact = {
  on: "price",
  lotCid: cid(2),
  pointCid: cid(9),
  price: Decimal.of("1.0437"),
  basePrice: Decimal.of("1.0437"),
  index: null,
  units: Decimal.of("95812.973076"),
  baseUnits: null,
  fee: Decimal.zero,
  expected: Decimal.of("100000"),
  residual: Decimal.of("0.0000005788"),
  refund: Decimal.zero,
  attestors: [party("attestor")],
  at: onValueDate
}
const deliver: Fact = { on: "deliver", deliveredLotCid: cid(3), valueDate: date, at: onValueDate }
const exchange: Fact = { on: "exchange", refunded: Decimal.zero, valueDate: date, at: onValueDate }
const settle: Fact = { on: "settle", refunded: Decimal.zero, owedRefundCid: null, at: onValueDate }
const requestMint: Fact = { on: "request-mint", deliveredLotCid: cid(3), mintRequestCid: cid(4) }
const allocate: Fact = {
  on: "allocate",
  allocation: { cid: cid(5), amount: Decimal.of("100000"), settleBefore: onValueDate }
}
const paid: Fact = { on: "match", lines: [line(1, "100000")] }

const wire = (...facts: ReadonlyArray<Fact>) => facts.reduce(evolve, claimed())
const onLedger = (...facts: ReadonlyArray<Fact>) =>
  facts.reduce(
    evolve,
    claimed({
      payment: "ledger",
      fund: party("fund"),
      paymentAsset: { admin: party("bank"), id: "USD" },
      settleBy: Instant.of("2026-08-05T16:00:00Z")
    })
  )

const records: Record<Machine.State<typeof SubscriptionMachine>, Subscription> = {
  claimed: wire(),
  priced: wire(price),
  delivered: wire(price, deliver),
  closed: wire(price, paid, deliver, settle),
  released: wire(price, { on: "release", at: onValueDate }),
  withdrawn: wire({ on: "withdraw", at: onValueDate })
}

const full = [line(1, "100000")]
const commands = {
  withdraw: { on: "withdraw" },
  release: { on: "release" },
  deliver: { on: "deliver", cash: full, deliverBeforeCash: "never" },
  settle: { on: "settle", cash: full, refunds: [] },
  exchange: { on: "exchange", cash: [], refunds: [] }
} as const satisfies Record<string, Command>

const outcome = (self: Subscription, command: Command): string => {
  const decided = decide(self, command)
  if (Result.isSuccess(decided)) return "admitted"
  const { slug, details } = decided.failure
  return slug === "state-conflict" ? `${slug} ${details.check}` : `${details.gate} ${details.check}`
}

const wrongState = "state-conflict SubscriptionState"

describe("every state and every command", () => {
  test.each([
    [
      "claimed",
      {
        withdraw: "admitted",
        release: wrongState,
        deliver: wrongState,
        settle: wrongState,
        exchange: wrongState
      }
    ],
    [
      "priced",
      {
        withdraw: wrongState,
        release: "admitted",
        deliver: "admitted",
        settle: wrongState,
        exchange: "policy paid-on-ledger"
      }
    ],
    [
      "delivered",
      {
        withdraw: wrongState,
        release: wrongState,
        deliver: wrongState,
        settle: "admitted",
        exchange: wrongState
      }
    ],
    [
      "closed",
      {
        withdraw: wrongState,
        release: wrongState,
        deliver: wrongState,
        settle: wrongState,
        exchange: wrongState
      }
    ],
    [
      "released",
      {
        withdraw: wrongState,
        release: wrongState,
        deliver: wrongState,
        settle: wrongState,
        exchange: wrongState
      }
    ],
    [
      "withdrawn",
      {
        withdraw: wrongState,
        release: wrongState,
        deliver: wrongState,
        settle: wrongState,
        exchange: wrongState
      }
    ]
  ] as const)("%s: a command is judged differently", (state, expected) => {
    const self = records[state]
    expect(self.state).toBe(state)
    for (const [on, result] of Object.entries(expected)) {
      expect([on, outcome(self, commands[on as keyof typeof commands])]).toEqual([on, result])
    }
  })
})

describe("guards", () => {
  const deliverWith = (cash: ReadonlyArray<ReturnType<typeof line>>): Command => ({
    on: "deliver",
    cash,
    deliverBeforeCash: "never"
  })
  const half = evolve(records.priced, { on: "match", lines: [line(7, "40000")] })

  test.each<[string, Subscription, Command, string]>([
    ["units go out before the cash is in", records.priced, deliverWith([]), "cash cash-matched"],
    [
      "a cent short counts as paid",
      records.priced,
      deliverWith([line(1, "99999.99")]),
      "cash cash-matched"
    ],
    [
      "the policy's permission to deliver before cash is not heeded",
      records.priced,
      { on: "deliver", cash: [], deliverBeforeCash: "allowed" },
      "admitted"
    ],
    [
      "more cash than expected is matched",
      records.priced,
      deliverWith([line(1, "100000.01")]),
      "cash cash-over"
    ],
    [
      "more is matched where the policy lets units go first",
      records.priced,
      { on: "deliver", cash: [line(1, "100000.01")], deliverBeforeCash: "allowed" },
      "cash cash-over"
    ],
    [
      "a line counts twice in one call",
      records.priced,
      deliverWith([line(1, "50000"), line(1, "50000")]),
      "cash cash-line-repeated"
    ],
    [
      "a line counts again in a later call",
      half,
      deliverWith([line(7, "60000")]),
      "cash cash-line-repeated"
    ],
    ["what was matched before is forgotten", half, deliverWith([line(8, "60000")]), "admitted"],
    [
      "the same line number of another statement is taken for the same",
      half,
      deliverWith([{ ...line(7, "60000"), statementId: id("stmt-2") }]),
      "admitted"
    ],
    [
      "an order paid on the ledger is delivered unpaid",
      onLedger(price),
      deliverWith(full),
      "policy paid-by-wire"
    ],
    [
      "units are asked of the registrar twice",
      evolve(records.priced, requestMint),
      deliverWith(full),
      "units mint-requested"
    ],
    [
      "a rejected mint cannot be asked for again",
      [requestMint, { on: "reject-mint" } as const].reduce(evolve, records.priced),
      deliverWith(full),
      "admitted"
    ],
    [
      "an order whose units were asked for can never be let go",
      evolve(records.priced, requestMint),
      { on: "release" },
      "admitted"
    ],
    [
      "an order whose units nobody mints can never be let go",
      [requestMint, { on: "reject-mint" } as const].reduce(evolve, records.priced),
      { on: "release" },
      "admitted"
    ],
    [
      "an order closes without its cash",
      records.delivered,
      { on: "settle", cash: [], refunds: [] },
      "cash cash-matched"
    ],
    [
      "an order closes with more cash than it costs",
      records.delivered,
      { on: "settle", cash: [line(1, "200000")], refunds: [] },
      "cash cash-over"
    ],
    [
      "units go for cash that nobody allocated",
      onLedger(price),
      { on: "exchange", cash: [], refunds: [] },
      "cash cash-allocated"
    ],
    [
      "bank lines pay an order that is paid on the ledger",
      onLedger(allocate, price),
      { on: "exchange", cash: full, refunds: [] },
      "cash cash-on-ledger"
    ],
    [
      "an allocated order does not settle",
      onLedger(allocate, price),
      { on: "exchange", cash: [], refunds: [] },
      "admitted"
    ],
    [
      "cash that was taken back still counts",
      onLedger(allocate, price, { on: "allocate", allocation: null }),
      { on: "exchange", cash: [], refunds: [] },
      "cash cash-allocated"
    ]
  ])("%s", (_, self, command, expected) => {
    expect(outcome(self, command)).toBe(expected)
  })
})

describe("what a fact leaves behind", () => {
  test("pricing keeps every figure, and the claim's contract is archived", () => {
    expect(wire(price)).toMatchObject({
      state: "priced",
      units: Decimal.of("95812.973076"),
      price: Decimal.of("1.0437"),
      claimCid: null,
      lot: { lotId: "sub-1", cid: cid(2), units: Decimal.of("95812.973076") },
      attestors: [{ party: party("attestor"), at: onValueDate }]
    })
  })

  test("each attestor is listed once, with its own time", () => {
    const first: Fact = { on: "attest", claimCid: cid(6), attestors: [party("attestor")], at }
    expect(wire(first).claimCid).toBe(cid(6))
    const both = { ...price, attestors: [party("attestor"), party("other")] }
    expect(wire(first, both).attestors).toEqual([
      { party: party("attestor"), at },
      { party: party("other"), at: onValueDate }
    ])
  })

  test("a delivered order has its value date, and asks for no mint", () => {
    expect(wire(price, requestMint, deliver)).toMatchObject({
      state: "delivered",
      valueDate: date,
      mintRequestCid: null,
      deliveredLotCid: cid(3)
    })
  })

  test("an exchange delivers, pays and closes at once", () => {
    expect(onLedger(allocate, price, exchange)).toMatchObject({
      state: "closed",
      endedAs: "closed",
      valueDate: date,
      allocation: null,
      cash: { matched: Decimal.of("100000") }
    })
  })

  test("every fact makes a record that keeps the invariants", () => {
    for (const [state, self] of Object.entries(records)) {
      expect([state, Invariant.breaches(subscriptions.invariants, self)]).toEqual([state, []])
    }
  })
})

describe("the order's state as of a read", () => {
  const now = Instant.of("2026-08-04T00:00:00Z")
  test.each<[string, Subscription, string]>([
    ["claimed", records.claimed, "awaiting-price"],
    ["priced, unpaid", records.priced, "awaiting-cash"],
    ["priced, paid", evolve(records.priced, paid), "ready"],
    [
      "priced, half paid",
      evolve(records.priced, { on: "match", lines: [line(1, "1")] }),
      "awaiting-cash"
    ],
    ["allocated", onLedger(allocate, price), "ready"],
    ["unallocated", onLedger(price), "awaiting-cash"],
    ["delivered", records.delivered, "settled"],
    ["closed", records.closed, "settled"],
    ["released", records.released, "released"],
    ["withdrawn", records.withdrawn, "withdrawn"]
  ])("%s is judged differently", (_, self, expected) => {
    expect(orderStateAt(self, now)).toBe(expected)
  })

  test("an allocated order past its time to settle is shown as expired", () => {
    expect(orderStateAt(onLedger(allocate, price), Instant.of("2026-08-05T16:00:00Z"))).toBe(
      "expired"
    )
    expect(cashStands(onLedger(allocate, price))).toBe(true)
  })
})

describe("whose move it is", () => {
  test.each<[string, Subscription, ReadonlyArray<object>]>([
    [
      "claimed",
      records.claimed,
      [{ party: party("attestor"), action: "SubscriptionClaim.Attest" }]
    ],
    ["priced", records.priced, [{ role: "operator", action: "subscription.deliver" }]],
    [
      "a mint requested",
      evolve(records.priced, requestMint),
      [{ party: party("registrar"), action: "MintRequest.Accept" }]
    ],
    ["unallocated", onLedger(price), [{ party: party("holder"), action: "Holding.Allocate" }]],
    ["allocated", onLedger(allocate, price), [{ role: "operator", action: "subscription.settle" }]],
    ["delivered", records.delivered, [{ role: "operator", action: "subscription.settle" }]],
    ["closed", records.closed, []],
    ["released", records.released, []],
    ["withdrawn", records.withdrawn, []]
  ])("%s waits on somebody else", (_, self, expected) => {
    expect(subscriptions.waitingOn(self)).toMatchObject(expected)
    expect(subscriptions.waitingOn(self)).toHaveLength(expected.length)
  })
})

describe("what the feed tells", () => {
  const announcedBy = (before: Subscription, fact: Fact) =>
    subscriptions.announce(evolve(before, fact), fact).map(({ type }) => type)
  test.each<[string, Subscription, Fact, ReadonlyArray<string>]>([
    ["price", records.claimed, price, ["subscription.priced"]],
    ["withdraw", records.claimed, { on: "withdraw", at }, ["subscription.ended"]],
    ["deliver", records.priced, deliver, ["subscription.delivered"]],
    ["settle", records.delivered, settle, ["subscription.ended"]],
    ["release", records.priced, { on: "release", at }, ["subscription.ended"]],
    ["exchange", onLedger(price), exchange, ["subscription.delivered", "subscription.ended"]],
    ["a request to mint", records.priced, requestMint, []],
    ["cash", records.priced, paid, []]
  ])("%s announces something else", (_, before, fact, expected) => {
    expect(announcedBy(before, fact)).toEqual(expected)
  })
})
