/** Dealing cycles by chance: opened, their members priced and laid out, settled whole or let go. */
import type { Caller } from "@bursar/engine-core"
import { Records } from "@bursar/engine-core"
import { Effect } from "effect"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { anyFund } from "./joining.ts"
import { advances } from "./orders.ts"
import { isAllocated } from "./paying.ts"
import * as People from "./people.ts"
import * as Precheck from "./precheck.ts"
import { plain } from "./figures.ts"
import { submit } from "./asking.ts"
import { isRebasing } from "./rebasing.ts"
import type { Cycle, Order, Town } from "./town.ts"
import * as Wallets from "./wallets.ts"

export const opens = Effect.fnUntraced(function* (town: Town) {
  const any = anyFund(town)
  // A rebasing fund has no cycles, and is asked for one now and then.
  const fund = isRebasing(any) && !town.die.once(8) ? anyFund(town) : any
  const { instrumentId } = fund
  const cycleId = `c${++town.count}`
  const kind = "dealing-cycle.open"
  yield* submit(town, {
    by: People.maker(town, kind),
    body: { cycleId, instrumentId },
    act: {
      kind,
      asks: [{ instrumentId, hold: "deal" }],
      succeeds: () => {
        town.cycles.set(cycleId, { cycleId, fund })
      }
    }
  })
})

const membersOf = (town: Town, cycleId: string): ReadonlyArray<Order> =>
  [...town.orders.values()].filter((order) => order.cycleId === cycleId)

const pick = (town: Town): Cycle | undefined => {
  const all = [...town.cycles.values()]
  const any = all[town.die.roll(Math.max(1, all.length))]
  if (!town.deals || town.die.once(6)) return any
  // The cycles of a fund settle in the order of their opening.
  return all.find(({ fund }) => fund === any?.fund)
}

/** The fund sets aside what the members' sales cost beyond what is bought. */
const setsAside = Effect.fnUntraced(function* (town: Town, { cycleId, fund }: Cycle) {
  const short = membersOf(town, cycleId).reduce((sum, { amount, kind, priced }) => {
    const cash = (priced?.cash ?? amount ?? 0n) - (priced?.refund ?? 0n)
    return kind === "redemption" ? sum + cash : sum - cash
  }, 0n)
  if (short <= 0n) return false
  const there = Wallets.find(
    town,
    fund.fund.party,
    "Allocation",
    (one) => Wallets.member(one, "reference") === cycleId
  )
  if (there !== undefined) return false
  const amount = plain(short, 2)
  if (Wallets.free(town, fund.fund.party, "USD", amount) === undefined) {
    yield* Wallets.pays(town, fund.fund, short)
    return true
  }
  const to = fund.fund.party
  return yield* Wallets.allocates(town, fund.fund, {
    assetId: "USD",
    amount,
    to,
    reference: cycleId
  })
})

/**
 * The remainder of a gate joins the cycle of its day when that is opened; its record has the cycle.
 */
const joins = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  for (const order of town.orders.values()) {
    if (order.remainderOf === null || order.cycleId !== null) continue
    order.cycleId = (yield* records.get(redemptions, order.id)).cycleId
  }
})

/** Whether a member is priced, and has locked its cash or units. */
const isReady = (town: Town, order: Order): boolean =>
  order.priced !== null &&
  isAllocated(town, order, order.kind === "subscription" ? "USD" : order.fund.instrumentId)

/** A cycle is settled, or let go; first the fund puts in what it is short of. */
export const goesOn = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const cycle = pick(town)
  if (cycle === undefined || die.once(6)) return yield* opens(town)
  const { cycleId, fund } = cycle
  yield* joins(town)
  const members = membersOf(town, cycleId)
  if (members.length > 0 && members.every(({ priced }) => priced !== null)) {
    if (yield* setsAside(town, cycle)) return
  }
  const lacking = members.filter((order) => !isReady(town, order))
  const first = lacking[die.roll(Math.max(1, lacking.length))]
  if (town.deals && first !== undefined && !die.once(8)) return yield* advances(town, first)
  const waits = members.some(({ priced }) => priced === null)
  if ((waits || members.length === 0) && !die.once(6)) return
  const isEmpty = town.deals && members.length === 0
  const verb = isEmpty || die.once(8) ? "release" : "settle"
  const kind = `dealing-cycle.${verb}`
  const { instrumentId } = fund
  const acting = (by: Caller.Caller) =>
    submit(town, {
      by,
      params: { cycleId },
      act: { kind, asks: verb === "settle" ? [{ instrumentId, hold: "deal" }] : [] }
    })
  const by = People.maker(town, kind)
  yield* verb === "settle"
    ? Precheck.looked(town, { act: kind, instrumentId, cycleId }, by, acting)
    : acting(by)
})
