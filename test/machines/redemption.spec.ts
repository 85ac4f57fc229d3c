/** Commands on a redemption in every state, and the refusal that takes precedence. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { describe, expect, test } from "vitest"
import * as Invariant from "#core/kernel/Invariant.ts"
import type * as Machine from "#core/kernel/Machine.ts"
import {
  orderStateAt,
  pledgedOf,
  type Redemption,
  redemptions,
  type Command,
  decide,
  evolve,
  type Fact,
  type RedemptionMachine
} from "#core/orders/redemption/Redemption.ts"
import * as Red from "./redemptions.ts"
import { line } from "./subscriptions.ts"

const wire = (...facts: ReadonlyArray<Fact>) => facts.reduce(evolve, Red.claimed())
const onLedger = (...facts: ReadonlyArray<Fact>) => facts.reduce(evolve, Red.claimedOnLedger())

const records: Record<Machine.State<typeof RedemptionMachine>, Redemption> = {
  claimed: wire(),
  priced: wire(Red.price),
  funded: wire(Red.price, Red.fund),
  burned: wire(Red.price, Red.fund, Red.burn),
  settled: wire(
    Red.price,
    Red.fund,
    Red.burn,
    { on: "match", lines: [line(1, "1282.07")] },
    Red.settle
  ),
  withdrawn: wire({ on: "withdraw", at: Red.onValueDate }),
  released: wire(Red.price, { on: "release", at: Red.onValueDate })
}

const full = [line(1, "1282.07")]
const commands = {
  withdraw: { on: "withdraw" },
  release: { on: "release" },
  settle: { on: "settle", cash: full },
  exchange: { on: "exchange", cash: [] }
} as const satisfies Record<string, Command>

const outcome = (self: Redemption, command: Command): string => {
  const decided = decide(self, command)
  if (Result.isSuccess(decided)) return "admitted"
  const { slug, details } = decided.failure
  return slug === "state-conflict" ? `${slug} ${details.check}` : `${details.gate} ${details.check}`
}

const wrongState = "state-conflict RedemptionState"

describe("every state and every command, paid by wire", () => {
  const burnRequested = "units burn-requested"
  test.each([
    [
      "claimed",
      { withdraw: "admitted", release: wrongState, settle: wrongState, exchange: wrongState }
    ],
    [
      "priced",
      {
        withdraw: "admitted",
        release: "admitted",
        settle: wrongState,
        exchange: "policy paid-on-ledger"
      }
    ],
    [
      "funded",
      {
        withdraw: burnRequested,
        release: burnRequested,
        settle: wrongState,
        exchange: "policy paid-on-ledger"
      }
    ],
    [
      "burned",
      { withdraw: wrongState, release: wrongState, settle: "admitted", exchange: wrongState }
    ],
    [
      "settled",
      { withdraw: wrongState, release: wrongState, settle: wrongState, exchange: wrongState }
    ],
    [
      "withdrawn",
      { withdraw: wrongState, release: wrongState, settle: wrongState, exchange: wrongState }
    ],
    [
      "released",
      { withdraw: wrongState, release: wrongState, settle: wrongState, exchange: wrongState }
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
  const settleWith = (...cash: ReadonlyArray<ReturnType<typeof line>>): Command => ({
    on: "settle",
    cash
  })
  const { exchange } = commands

  test.each<[string, Redemption, Command, string]>([
    [
      "its burn was rejected: it may be withdrawn",
      wire(Red.price, Red.fund, Red.takenBack),
      commands.withdraw,
      "admitted"
    ],
    [
      "its burn was rejected: it may be released",
      wire(Red.price, Red.fund, Red.takenBack),
      commands.release,
      "admitted"
    ],
    ["nothing of it is paid", records.burned, settleWith(), "cash cash-matched"],
    [
      "a cent of it is not paid",
      records.burned,
      settleWith(line(1, "1282.06")),
      "cash cash-matched"
    ],
    ["a cent too much is paid", records.burned, settleWith(line(1, "1282.08")), "cash cash-over"],
    [
      "a line is named twice",
      records.burned,
      settleWith(line(1, "641"), line(1, "641.07")),
      "cash cash-line-repeated"
    ],
    ["two lines pay it", records.burned, settleWith(line(1, "641"), line(2, "641.07")), "admitted"],
    [
      "a line of before is named again",
      evolve(records.burned, { on: "match", lines: [line(1, "641")] }),
      settleWith(line(1, "641.07")),
      "cash cash-line-repeated"
    ],
    ["no units are allocated", onLedger(Red.price, Red.cash), exchange, "units units-allocated"],
    ["no cash is allocated", onLedger(Red.price, Red.units), exchange, "cash cash-allocated"],
    ["neither is", onLedger(Red.price), exchange, "units units-allocated"],
    ["both are", onLedger(Red.price, Red.units, Red.cash), exchange, "admitted"],
    [
      "a burn is requested beside the allocation: they would be burned twice",
      onLedger(Red.price, Red.units, Red.cash, Red.fund),
      exchange,
      "units burn-requested"
    ],
    [
      "bank lines are named for cash on the ledger",
      onLedger(Red.price, Red.units, Red.cash),
      { on: "exchange", cash: full },
      "cash cash-on-ledger"
    ],
    [
      "burned, its cash not allocated",
      onLedger(Red.price, Red.fund, Red.burn),
      settleWith(),
      "cash cash-allocated"
    ],
    [
      "burned, its cash allocated",
      onLedger(Red.price, Red.fund, Red.burn, Red.cash),
      settleWith(),
      "admitted"
    ],
    [
      "burned, bank lines named for cash on the ledger",
      onLedger(Red.price, Red.fund, Red.burn, Red.cash),
      settleWith(...full),
      "cash cash-on-ledger"
    ]
  ])("%s: judged differently", (_, self, command, expected) => {
    expect(outcome(self, command)).toBe(expected)
  })
})

describe("what stands between it and its value date", () => {
  const before = Instant.of("2026-08-03T10:00:00Z")
  test.each<[string, Redemption, Instant.Instant, string]>([
    ["unpriced", onLedger(), before, "awaiting-price"],
    ["unpriced and late", onLedger(), Red.settleBy, "awaiting-price"],
    ["priced, by wire", wire(Red.price), before, "awaiting-units"],
    ["priced, no units", onLedger(Red.price, Red.cash), before, "awaiting-units"],
    ["priced, no cash", onLedger(Red.price, Red.units), before, "awaiting-payment"],
    ["priced, both", onLedger(Red.price, Red.units, Red.cash), before, "ready"],
    ["priced, both, late", onLedger(Red.price, Red.units, Red.cash), Red.settleBy, "expired"],
    ["funded, by wire", wire(Red.price, Red.fund), before, "awaiting-registrar"],
    ["funded, no units", onLedger(Red.price, Red.fund), before, "awaiting-registrar"],
    [
      "funded, its burn taken back",
      onLedger(Red.price, Red.fund, Red.takenBack, Red.units, Red.cash),
      before,
      "ready"
    ],
    ["burned, unpaid", wire(Red.price, Red.fund, Red.burn), before, "awaiting-payment"],
    ["burned, late", onLedger(Red.price, Red.fund, Red.burn), Red.settleBy, "awaiting-payment"],
    ["burned, paid", onLedger(Red.price, Red.fund, Red.burn, Red.cash), Red.settleBy, "ready"],
    ["settled", records.settled, before, "settled"],
    ["withdrawn", records.withdrawn, before, "withdrawn"],
    ["released", records.released, before, "released"]
  ])("%s: shown as something else", (_, self, now, expected) => {
    expect(orderStateAt(self, now)).toBe(expected)
  })
})

describe("whose move it is", () => {
  const ledger = (...facts: ReadonlyArray<Fact>) => onLedger(Red.price, ...facts)
  const inCycle = (...facts: ReadonlyArray<Fact>) =>
    facts.reduce(evolve, Red.claimedOnLedger({ cycleId: "c1" }))
  test.each<[string, Redemption, string]>([
    ["unpriced", wire(), "oracle RedemptionClaim.Price"],
    ["priced, by wire", wire(Red.price), "custodian Holding.RequestBurn"],
    [
      "priced, by wire, no custodian",
      evolve(Red.claimed({ custodian: null }), Red.price),
      "holder Holding.RequestBurn"
    ],
    ["funded", wire(Red.price, Red.fund), "registrar BurnRequest.Accept"],
    [
      "funded, taken back",
      wire(Red.price, Red.fund, Red.takenBack),
      "custodian Holding.RequestBurn"
    ],
    ["burned", wire(Red.price, Red.fund, Red.burn), "operator redemption.settle"],
    ["on the ledger, no units", ledger(), "holder Holding.Allocate"],
    ["on the ledger, no cash", ledger(Red.units), "fund Holding.Allocate"],
    ["on the ledger, both", ledger(Red.units, Red.cash), "operator redemption.settle"],
    ["on the ledger, burned", ledger(Red.fund, Red.burn), "fund Holding.Allocate"],
    [
      "on the ledger, burned and allocated",
      ledger(Red.fund, Red.burn, Red.cash),
      "operator redemption.settle"
    ],
    ["in a cycle, units there", inCycle(Red.price, Red.units), "operator dealing-cycle.settle"]
  ])("%s: somebody else is waited for", (_, self, expected) => {
    expect(
      redemptions
        .waitingOn(self)
        .map(({ party: by, role, action }) => `${by?.split("::")[0] ?? role} ${action}`)
    ).toEqual([expected])
  })
})

describe("what it takes of its holder's free units", () => {
  test.each<[string, Redemption, string]>([
    ["ordered", wire(), "1234.567891"],
    [
      "by amount, unpriced",
      Red.claimed({ orderedAs: "amount", amount: Decimal.one, units: null }),
      "0"
    ],
    ["allocated: the ledger locks them", onLedger(Red.price, Red.units), "0"],
    ["requested to burn: the ledger locks them", wire(Red.price, Red.fund), "0"],
    ["its burn was taken back", wire(Red.price, Red.fund, Red.takenBack), "1234.567891"],
    ["burned", wire(Red.price, Red.fund, Red.burn), "0"],
    ["withdrawn", records.withdrawn, "0"]
  ])("%s: counted twice or forgotten", (_, self, expected) => {
    expect(Decimal.formatPlain(pledgedOf(self))).toBe(expected)
  })
})

test("a gated part counts as a part, and lowers the cash that is expected", () => {
  const part: Fact = {
    ...(Red.exchange as Extract<Fact, { on: "exchange" }>),
    units: Decimal.of("1000"),
    proceeds: Decimal.of("1038.48")
  }
  const self = evolve(onLedger(Red.price, Red.units), part)
  expect(self).toMatchObject({
    state: "settled",
    units: Decimal.of("1000"),
    proceeds: Decimal.of("1038.48"),
    cash: { expected: Decimal.of("1038.48"), matched: Decimal.of("1038.48") },
    burnedAt: Red.onValueDate,
    settledAt: Red.onValueDate
  })
  expect(Invariant.breaches(redemptions.invariants, self)).toEqual([])
})

test("a record keeps its invariants in every state, and each broken one is found", () => {
  for (const self of Object.values(records)) {
    expect(Invariant.breaches(redemptions.invariants, self)).toEqual([])
  }
  const breaks = (changes: Partial<Redemption>) =>
    Invariant.breaches(redemptions.invariants, { ...records.settled, ...changes })
  expect(breaks({ price: null })).toHaveLength(1)
  expect(breaks({ proceeds: null })).toHaveLength(1)
  expect(breaks({ endedAt: null })).toHaveLength(1)
  expect(breaks({ valueDate: null })).toHaveLength(1)
  expect(breaks({ state: "released" })).toHaveLength(1)
  expect(
    breaks({ cash: { expected: Decimal.one, matched: proceedsOver, lines: [] } })
  ).toHaveLength(1)
  expect(breaks({ orderedAs: "amount" })).toHaveLength(1)
})
const proceedsOver = Decimal.of("1282.08")
