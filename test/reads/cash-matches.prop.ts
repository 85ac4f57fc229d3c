/**
 * Proposals that bank lines pay orders, read in pages: those of the rules over all lines with something
 * left and all orders that wait, each entry of the bank once, with the rivals that each has.
 */
import { Queries, Records, Settings } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { accountNumbers, hasher } from "#core/holders/external-account/AccountNumber.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { type Subscription, subscriptions } from "#core/orders/subscription/Subscription.ts"
import type { CashMatchView } from "#core/overviews/cash-match/CashMatch.ts"
import * as CashMatchQueries from "#core/overviews/cash-match/CashMatchQueries.ts"
import * as Rules from "#core/overviews/cash-match/CashMatchRules.ts"
import * as StatementQueries from "#core/overviews/external-statement/StatementQueries.ts"
import * as Calls from "../engine/calls.ts"
import * as Redemptions from "../machines/redemptions.ts"
import * as Subscriptions from "../machines/subscriptions.ts"
import * as Accounts from "../operations/accounts.ts"
import { world } from "../engine/world.ts"
import * as Bank from "../operations/bank.ts"
import * as Fund from "../operations/fund.ts"
import * as Intakes from "../operations/intakes.ts"
import * as Story from "../operations/story.ts"

const { id } = Subscriptions
const caller = Calls.person("ida", "auditor")
const { list } = CashMatchQueries
type Params = Parameters<typeof list.where>[0]

const act = Effect.map(Instant.now, (now) => ({ cause: { by: "clock" }, now }) as const)

interface Order {
  readonly orderId: string
  readonly holderId: string
  readonly is: "priced" | "delivered" | "closed" | "burned" | "claimed" | "expired"
  readonly due: string
}

const claimedAt = Instant.of("2026-07-01T12:00:00Z")
const at = Instant.of("2026-07-01T13:00:00Z")
const days = Date.of("2026-07-01")

/** A subscription paid by wire: priced and waiting for its cash, or owing a refund. */
const subscriptionOf = ({ due, holderId, is, orderId }: Order): Subscription => {
  const expected = Decimal.of(due)
  const isDelivered = is === "delivered" || is === "closed"
  const self = Subscriptions.claimed({
    subscriptionId: id(orderId),
    instrumentId: id("fund-a"),
    holderId: id(holderId),
    claimedAt
  })
  if (is === "claimed") return self
  return {
    ...self,
    state: is === "expired" ? "priced" : (is as "priced"),
    claimCid: null,
    price: Decimal.of("1"),
    pricedAt: at,
    settleBy: is === "expired" ? Instant.of("2026-07-02T00:00:00Z") : null,
    lot: {
      lotId: orderId,
      cid: "0002",
      basePrice: Decimal.of("1"),
      units: expected,
      remaining: expected
    },
    cash: { expected, matched: isDelivered ? expected : Decimal.zero, lines: [] },
    refund: isDelivered ? expected : Decimal.zero,
    refunded: Decimal.zero,
    ...(isDelivered ? { deliveredAt: at, valueDate: days } : {}),
    ...(is === "closed" ? { endedAt: at, endedAs: "closed" as const, owedRefundCid: "0003" } : {})
  }
}

const redemptionOf = ({ due, holderId, orderId }: Order) =>
  Redemptions.claimed({
    redemptionId: id(orderId),
    instrumentId: id("fund-a"),
    holderId: id(holderId),
    state: "burned",
    claimedAt,
    claimCid: null,
    price: Decimal.of("1"),
    pricedAt: at,
    fundedAt: at,
    burnedAt: at,
    proceeds: Decimal.of(due),
    cash: { expected: Decimal.of(due), matched: Decimal.zero, lines: [] }
  })

/** The cash that these orders wait for, by their kind and state. */
const waitingIn = (orders: ReadonlyArray<Order>): ReadonlyArray<Rules.WaitingCash> =>
  orders.flatMap((order): ReadonlyArray<Rules.WaitingCash> => {
    if (order.is === "claimed" || order.is === "expired") return []
    const common = {
      orderId: order.orderId,
      instrumentId: "fund-a",
      holderId: order.holderId,
      currency: "USD",
      due: Decimal.of(order.due),
      claimedOn: days
    }
    if (order.is === "burned") {
      return [{ ...common, kind: "redemption", pays: "cash", direction: "debit" }]
    }
    return order.is === "priced"
      ? [{ ...common, kind: "subscription", pays: "cash", direction: "credit" }]
      : [{ ...common, kind: "subscription", pays: "refund", direction: "debit" }]
  })

const orders = fc.uniqueArray(
  fc.record({
    orderId: fc.constantFrom("s1", "s2", "s3", "s4", "s5", "s6"),
    holderId: fc.constantFrom("h1", "h2"),
    is: fc.constantFrom(
      ...(["priced", "priced", "delivered", "closed", "burned", "claimed", "expired"] as const)
    ),
    due: fc.constantFrom("100", "250")
  }),
  { selector: ({ orderId }) => orderId, maxLength: 6 }
)

const numbers = { h1: "CH9300762011623852957", h2: "DE89370400440532013000" } as const

const entry = fc.record({
  amount: fc.constantFrom("100", "250", "70"),
  direction: fc.constantFrom("credit" as const, "debit" as const),
  bookingDate: fc.constantFrom("2026-06-30", "2026-07-01", "2026-07-02", "2025-01-02"),
  bankReference: fc.option(fc.constantFrom("A", "B", "C"), { nil: null }),
  reference: fc.option(fc.constantFrom("order s1", "/s2/", "s3.", "rent", "s10"), { nil: null }),
  counterparty: fc.option(
    fc.record({
      name: fc.constant("Ann"),
      account: fc.option(fc.constantFrom("CH93 0076 2011 6238 5295 7", numbers.h2), { nil: null })
    }),
    { nil: null }
  )
})

const bank = (externalSourceId: string) =>
  Intakes.source({ externalSourceId, kind: "cash", account: "account-1", accountIs: null })

/** Plants accounts of the fund and of both holders, with the index of their numbers. */
const planted = Effect.gen(function* () {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
  yield* TestClock.setTime(globalThis.Date.parse("2026-07-03T00:00:00Z"))
  yield* Accounts.plants({ externalAccountId: id("account-1"), instrumentId: "fund-a" })
  const records = yield* Records
  const crypto = yield* Effect.provide(Crypto, NodeCrypto.layer)
  const { sealingKeys } = yield* Settings
  const hash = hasher(sealingKeys[0] ?? { keyId: "", secret: new Uint8Array() }, crypto)
  for (const [holderId, number] of Object.entries(numbers)) {
    const externalAccountId = `account-of-${holderId}`
    yield* Accounts.plants({ externalAccountId: id(externalAccountId), holderId }, number)
    const index = { hash: hash(number), currency: null, externalAccountId }
    yield* records.transact(Effect.orDie(records.open(accountNumbers, index, yield* act)))
  }
})

const plants = Effect.fnUntraced(function* (all: ReadonlyArray<Order>) {
  const records = yield* Records
  for (const order of all) {
    yield* records.transact(
      Effect.orDie(
        order.is === "burned"
          ? Effect.asVoid(records.open(redemptions, redemptionOf(order), yield* act))
          : Effect.asVoid(records.open(subscriptions, subscriptionOf(order), yield* act))
      )
    )
  }
})

const handed = Effect.fnUntraced(function* (
  externalSourceId: string,
  lines: ReadonlyArray<Readonly<Record<string, unknown>>>
) {
  const bytes = Intakes.file({ businessDate: "2026-07-02", lines })
  return (yield* Intakes.receive(bytes, { named: { externalSourceId } })).id
})

interface Shown {
  readonly line: number
  readonly amount: Decimal.Decimal
  readonly taken: Decimal.Decimal
  readonly sameAs: object | null
  readonly bankReference: string | null
  readonly counterparty: { readonly account: string | null } | null
}

/** Lines of a statement, each once for each entry, as its own read shows them. */
const shownBy = Effect.fnUntraced(function* (statementId: string) {
  const queries = yield* Queries
  const { rows } = yield* queries.streamed(StatementQueries.get, {
    caller,
    params: { externalStatementId: statementId as never },
    point: {}
  })
  const lines = rows === null ? [] : yield* Stream.runCollect(rows)
  return lines.map((line) => ({ ...(line as unknown as Shown & Rules.LineLeft), statementId }))
})

const nameOf = ({ line, order }: Pick<CashMatchView, "line" | "order">) =>
  `${line.statementId}:${line.line} ${order.kind}/${order.pays}/${order.orderId}`

const pages = Effect.fnUntraced(function* (params: Params, limit: number) {
  const queries = yield* Queries
  const found: Array<CashMatchView> = []
  for (let after: string | undefined; ; ) {
    const page = { limit, ...(after === undefined ? {} : { after }) }
    const { next, value } = yield* queries.page(list, { caller, params, point: {}, page })
    found.push(...value)
    if (next === null) return found
    after = next
  }
})

/** Rules of the proposals that all runs together found, and whether one of them had rivals. */
const seen = new Set<string>()

describe("the proposals of an instrument", () => {
  it.effect("are those of the rules, each pair and each entry once, with their rivals", () =>
    Effect.promise(() =>
      fc
        .assert(
          fc.asyncProperty(
            orders,
            fc.array(entry, { minLength: 1, maxLength: 12 }),
            fc.array(fc.tuple(fc.nat(), fc.constantFrom("30", "70")), { maxLength: 4 }),
            fc.integer({ min: 1, max: 5 }),
            (all, entries, takings, limit) =>
              Calls.runCase(
                Effect.gen(function* () {
                  yield* planted
                  yield* plants(all)
                  // The second feed repeats the first one's lines: copies, which are counted once.
                  const ids = [yield* handed("bank-1", entries), yield* handed("bank-2", entries)]
                  for (const [index, [nth, amount]] of takings.entries()) {
                    const line = (nth % entries.length) + 1
                    const isFirst = takings.findIndex(
                      ([other]) => other % entries.length === line - 1
                    )
                    if (isFirst !== index) continue
                    const named = { statementId: ids[index % 2] ?? "", line, amount }
                    yield* Bank.reserves({
                      order: { kind: "subscription", orderId: `x${index}` },
                      named
                    })
                  }
                  const shown = (yield* Effect.forEach(ids, shownBy)).flat()
                  const index = Rules.indexOf(waitingIn(all))
                  const holderOf = (account: string | null | undefined) =>
                    account?.startsWith("CH") ? ["h1"] : account?.startsWith("DE") ? ["h2"] : []
                  const expected = shown
                    .filter(({ sameAs }) => sameAs === null)
                    .flatMap((line) => {
                      const left = Decimal.subtract(line.amount, line.taken)
                      const holderIds = holderOf(line.counterparty?.account)
                      return [...Rules.matchesOf(index, { ...line, left, holderIds })].map(
                        (match) => ({
                          line,
                          match,
                          name: nameOf({ line, order: match.order } as never)
                        })
                      )
                    })
                  const found = yield* pages({}, limit)
                  assert.deepEqual(
                    found.map((row) => [nameOf(row), row.rule, Decimal.formatPlain(row.amount)]),
                    expected.map(({ match, name }) => [
                      name,
                      match.rule,
                      Decimal.formatPlain(match.amount)
                    ])
                  )
                  for (const row of found) {
                    seen.add(row.rule)
                    seen.add(`${row.order.kind} ${row.order.pays}`)
                    if (row.rivals > 0) seen.add("rivals")
                    if (row.sameReference.length > 0) seen.add("same reference")
                    const ofLine = found.filter(
                      ({ line }) =>
                        line.statementId === row.line.statementId && line.line === row.line.line
                    )
                    const ofOrder = found.filter(
                      ({ order }) =>
                        Rules.orderKeyOf(order as never) === Rules.orderKeyOf(row.order as never)
                    )
                    assert.strictEqual(row.rivals, ofLine.length - 1 + ofOrder.length - 1)
                    const sharing = shown.filter(
                      ({ bankReference, line, statementId }) =>
                        bankReference !== null &&
                        bankReference === row.line.bankReference &&
                        (line !== row.line.line || statementId !== row.line.statementId)
                    )
                    assert.sameMembers(
                      row.sameReference.map(
                        ({ externalStatementId, line }) => `${externalStatementId}:${line}`
                      ),
                      sharing.map(({ line, statementId }) => `${statementId}:${line}`)
                    )
                  }
                  // A filter leaves rows as they are.
                  const [first] = found
                  const filters: ReadonlyArray<readonly [Params, (row: CashMatchView) => boolean]> =
                    [
                      [{ instrumentId: id("fund-a") }, () => true],
                      [{ instrumentId: id("fund-b") }, () => false],
                      [{ rule: ["reference"] }, ({ rule }) => rule === "reference"],
                      [{ rule: ["amount", "account-amount"] }, ({ rule }) => rule !== "reference"],
                      [{ orderId: id("s1") }, ({ order }) => order.orderId === "s1"],
                      [{ orderId: id("none") }, () => false],
                      ...ids.map(
                        (statementId) =>
                          [
                            { externalStatementId: statementId as never },
                            ({ line }: CashMatchView) => line.statementId === statementId
                          ] as const
                      )
                    ]
                  if (first === undefined) return
                  for (const [params, keeps] of filters) {
                    assert.deepEqual(yield* pages(params as Params, 2), found.filter(keeps))
                  }
                }).pipe(
                  Effect.provide(Intakes.engine({ sources: [bank("bank-1"), bank("bank-2")] }))
                )
              )
          ),
          { numRuns: 25 }
        )
        .then(() =>
          // The runs met every rule, both directions and refunds.
          assert.sameMembers(
            [...seen],
            [
              "reference",
              "account-amount",
              "amount",
              "subscription cash",
              "subscription refund",
              "redemption cash",
              "rivals",
              "same reference"
            ]
          )
        )
    )
  )

  const paying = { amount: "100", reference: "s1" }
  const returned = { ...paying, bankReference: "R" }
  it.effect.each<readonly [string, ReadonlyArray<Bank.Stated>]>([
    ["of a segregated account", [{ id: "st-1", at: "apart", entries: [paying] }]],
    [
      "of an account that is mapped to another instrument",
      [{ id: "st-1", at: "second", accountOf: "fund-b", entries: [paying] }]
    ],
    [
      "of a statement that was corrected",
      [
        { id: "st-1", at: "second", entries: [paying] },
        { id: "st-2", at: "second", corrects: "st-1", entries: [{ amount: "70" }] }
      ]
    ],
    [
      "that the bank took back, and its reversal",
      [
        {
          id: "st-1",
          at: "second",
          entries: [returned, { ...returned, direction: "debit", reversal: true }]
        }
      ]
    ],
    [
      "that was booked more than a year before the claim",
      [{ id: "st-1", at: "second", entries: [{ ...paying, bookingDate: Date.of("2025-06-29") }] }]
    ],
    [
      "in another currency",
      [{ id: "st-1", at: "second", entries: [{ ...paying, currency: "EUR" }] }]
    ]
  ])("never have a line %s", ([, statements]) =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* plants([{ orderId: "s1", holderId: "h1", is: "priced", due: "100" }])
      yield* Effect.forEach(statements, Bank.states)
      assert.deepEqual(yield* pages({}, 10), [])
      // The same line without its fault is one.
      yield* Bank.states({ id: "st-9", at: "second", source: "other", entries: [paying] })
      assert.deepEqual((yield* pages({}, 10)).map(nameOf), ["st-9:1 subscription/cash/s1"])
    }).pipe(Effect.provide(world()))
  )

  it.effect("never have more than the larger of what contradicting statements left", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* plants([{ orderId: "s1", holderId: "h1", is: "priced", due: "100" }])
      const stated = (id: string, amount: string, source?: string) =>
        Bank.states({
          ...{
            id,
            at: "second" as const,
            entries: [{ amount, bankReference: "A", reference: "s1" }]
          },
          ...(source === undefined ? {} : { source })
        })
      yield* stated("st-1", "80")
      yield* stated("st-2", "90", "other")
      const order = { kind: "subscription", orderId: "x" } as const
      yield* Bank.reserves({ order, named: { statementId: "st-1", line: 1, amount: "80" } })
      assert.deepEqual(
        (yield* pages({}, 10)).map((row) => [nameOf(row), Decimal.formatPlain(row.amount)]),
        [["st-2:1 subscription/cash/s1", "10"]]
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("stay those of the first page, whatever is taken meanwhile", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* plants([{ orderId: "s1", holderId: "h1", is: "priced", due: "100" }])
      yield* Bank.states({
        id: "st-1",
        at: "second",
        entries: [paying, { ...paying, amount: "50" }]
      })
      const queries = yield* Queries
      const page = (after?: string) =>
        queries.page(list, {
          caller,
          params: {},
          point: {},
          page: { limit: 1, ...(after === undefined ? {} : { after }) }
        })
      const first = yield* page()
      const order = { kind: "subscription", orderId: "x" } as const
      yield* Bank.reserves({ order, named: { statementId: "st-1", line: 2, amount: "50" } })
      const { value } = yield* page(first.next ?? "")
      assert.deepEqual(
        [...first.value, ...value].map((row) => [nameOf(row), row.rivals]),
        [
          ["st-1:1 subscription/cash/s1", 1],
          ["st-1:2 subscription/cash/s1", 1]
        ]
      )
      assert.deepEqual(
        (yield* page()).value.map(({ rivals }) => rivals),
        [0]
      )
    }).pipe(Effect.provide(world()))
  )
})
