/** Orders as they are placed and claimed. */
import type { Caller } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as B from "../books.ts"
import { atoms, type Atoms, cent, plain, whole, written } from "./figures.ts"
import { anyFund, anyHolder } from "./joining.ts"
import type { Asks } from "./model.ts"
import * as People from "./people.ts"
import * as Precheck from "./precheck.ts"
import { submit } from "./asking.ts"
import { indexOf, isRebasing, movedAtom, shownOf } from "./rebasing.ts"
import type { Fund, Holder, Order, Outcome, Town } from "./town.ts"
import * as Wallets from "./wallets.ts"

const verbs = {
  claim: { subscription: "order-in", redemption: "units-back" },
  exchange: { subscription: "units-in", redemption: "units-back" },
  // Closing a subscription moves neither units nor cash of its holder.
  close: { subscription: null, redemption: "cash-in" }
} as const

export const asksOf = (order: Order, how: "claim" | "exchange" | "close"): Asks => {
  const { fund, holder, kind } = order
  const asks = { instrumentId: fund.instrumentId, hold: "deal" as const, followed: holder }
  const what = verbs[how][kind]
  const passing = what === null ? {} : { passing: { holderId: holder.holderId, what } }
  if (how === "close") return { ...asks, ...passing }
  return {
    ...asks,
    ...passing,
    screened: holder.holderId,
    ...(kind === "subscription" ? { admitted: holder.party } : {}),
    ...(how === "claim" ? { window: true as const } : {})
  }
}

const claimedAs = (order: Order, { cutOffAt, cycleId }: Outcome) => {
  order.cutOffAt = typeof cutOffAt === "string" ? Instant.of(cutOffAt) : null
  order.cycleId = typeof cycleId === "string" ? cycleId : null
}

const cashOf = (town: Town): bigint => BigInt(100 + town.die.roll(5_000_000))

/** A part of one of a holder's free holdings, as the ledger moves it. */
export const spare = (
  town: Town,
  holder: Holder,
  fund: Pick<Fund, "atom" | "instrumentId" | "valuation">
): Atoms => {
  const holding = Wallets.free(town, holder.party, fund.instrumentId, "0.0001")
  if (holding === undefined) return 0n
  const amount = atoms(Wallets.member(holding, "amount"))
  const part = (amount * BigInt(1 + town.die.roll(100))) / 100n
  return part - (part % movedAtom(fund))
}

/** Units that a holder could give back, as they are ordered: of a rebasing fund now and then all. */
const orderable = (town: Town, holder: Holder, fund: Fund): Atoms => {
  if (!isRebasing(fund)) return spare(town, holder, fund)
  const index = indexOf(town, fund)
  if (index === null) return 0n
  const free = town.die.once(3)
    ? Wallets.unlocked(town, holder.party, fund.instrumentId).reduce(
        (sum, one) => sum + atoms(Wallets.member(one, "amount")),
        0n
      )
    : spare(town, holder, fund)
  return shownOf(free, { ...fund, index })
}

/** Units that are worth a cent at half of a price of 1. */
const halfUnitsOfCent: Atoms = 2n * cent

/** Cash that a holder asks for: what its units are worth, or less than at any price of ours. */
const askedFor = (fund: Fund, units: Atoms): bigint =>
  isRebasing(fund) ? B.paid(units, whole, fund.fees.redemption) : units / halfUnitsOfCent

/** One of the funds that a holder has a credential for; a rebasing one before others, but in a town that deals. */
const admittedTo = (town: Town, holder: Holder): Fund | undefined => {
  const may = town.funds.filter(({ instrumentId }) =>
    Wallets.find(
      town,
      holder.party,
      "Credential",
      (one) => Wallets.member(one, "instrumentId") === instrumentId
    )
  )
  const rebasing = may.find(isRebasing)
  if (rebasing !== undefined && !town.deals && town.die.once(3)) return rebasing
  return may[town.die.roll(Math.max(1, may.length))]
}

/** An order is placed: by wire through the staff, on the ledger by the holder's own hand first. */
export const places = Effect.fnUntraced(function* (town: Town, holder: Holder) {
  const { die } = town
  const fund = die.once(8) ? anyFund(town) : admittedTo(town, holder)
  if (fund === undefined) return
  const held = orderable(town, holder, fund)
  const kind = held > 0n && !die.once(3) ? "redemption" : "subscription"
  // Orders of a rebasing fund are refused on the ledger.
  const asksLedger = fund.marketed ? die.once(2) : isRebasing(fund) && die.once(15)
  const payment = asksLedger ? "ledger" : "wire"
  const byUnits = kind === "redemption" ? !die.once(4) : die.once(5)
  const bought = fund.atom * ((BigInt(1 + die.roll(900_000_000)) * 10_000n) / fund.atom)
  const units = kind === "redemption" ? held : bought
  const cents = kind === "redemption" ? askedFor(fund, held) : cashOf(town)
  if (byUnits ? units === 0n : cents === 0n) return
  const order: Order = {
    id: `${kind === "subscription" ? "s" : "r"}${++town.count}`,
    kind,
    payment,
    holder,
    fund,
    amount: byUnits ? null : cents,
    ordered: byUnits ? units : null,
    cutOffAt: null,
    cycleId: null,
    priced: null,
    remainderOf: null
  }
  if (payment === "ledger") {
    const size = {
      amount: byUnits ? null : Decimal.of(plain(cents, 2)),
      units: byUnits ? Decimal.of(written(units)) : null
    }
    const said = {
      venue: town.venue,
      fund: fund.fund.party,
      holder: holder.party,
      orderId: `order-${order.id}`,
      instrument: Wallets.assetFor(fund),
      paymentAsset: Wallets.cash(town),
      ...size,
      expiresAt: null
    }
    const command =
      kind === "subscription"
        ? Templates.create(Templates.SubscriptionOrder, said)
        : Templates.create(Templates.RedemptionOrder, { ...said, custodian: null })
    yield* Wallets.act(town, holder, `orders a ${kind}`, command)
    town.signed.push(order)
    return
  }
  yield* claims(town, order)
})

/** An order that a holder signed, or that came by wire, is claimed. */
export const claims = Effect.fnUntraced(function* (town: Town, order: Order) {
  const { amount, fund, holder, id, kind, ordered, payment } = order
  const size =
    payment === "ledger"
      ? `"orderId":"order-${id}"`
      : amount === null
        ? `"units":${written(ordered ?? 0n)}`
        : `"amount":${plain(amount, 2)}`
  const act = `${kind}.claim`
  const said =
    payment === "ledger"
      ? { orderId: `order-${id}` }
      : amount === null
        ? { units: written(ordered ?? 0n) }
        : { amount: plain(amount, 2) }
  const params = {
    act,
    instrumentId: fund.instrumentId,
    holderId: holder.holderId,
    [`${kind}Id`]: id,
    payment,
    ...said
  }
  const acting = (by: Caller.Caller) =>
    submit(town, {
      by,
      body: `{"${kind}Id":"${id}","instrumentId":"${fund.instrumentId}","holderId":"${holder.holderId}","payment":"${payment}",${size}}`,
      act: {
        kind: act,
        asks: [asksOf(order, "claim")],
        succeeds: (_, result) => {
          claimedAs(order, result)
          town.orders.set(id, order)
          town.claimed.set(id, order)
        }
      }
    })
  yield* Precheck.looked(town, params, People.maker(town, act), acting)
})

/** One that a holder has signed is claimed by the staff. */
export const takesUp = Effect.fnUntraced(function* (town: Town) {
  const { die, signed } = town
  const at = die.roll(Math.max(1, signed.length))
  const order = signed[at]
  const holder = anyHolder(town)
  if (order === undefined) return holder === undefined ? undefined : yield* places(town, holder)
  if (!die.once(4)) signed.splice(at, 1)
  yield* claims(town, order)
})
