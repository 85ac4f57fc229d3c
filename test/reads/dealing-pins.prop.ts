/** Orders, their lots and dealing cycles, read at every offset of dealing days by chance, are what the ledger told by then. */
import { Decimal, type Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as DealingCycleQueries from "#core/orders/dealing-cycle/DealingCycleQueries.ts"
import * as RedemptionQueries from "#core/orders/redemption/RedemptionQueries.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import * as Venue from "../operations/venue.ts"
import { deal } from "../simulation/dealing.ts"

/** The second is of the seed of the run; SEEDS takes so many more. */
const more = Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, n) => 500 + n)
const seeds = [4, walkSeed(0), ...more]

interface Order {
  state: string
  units: string | null
  /** The cycle it is in, and the order it is left over of. */
  cycleId: string | null
  readonly remainderOf: string | null
}
/** Units of an order in its holder's books: since when, and how many are left of them. */
interface Bought {
  readonly id: string
  readonly owner: string
  readonly since: bigint
  readonly units: bigint
  left: bigint
}
interface Cycle {
  state: "open" | "settled" | "released"
}
interface Told {
  readonly subscriptions: Map<string, Order>
  readonly redemptions: Map<string, Order>
  readonly cycles: Map<string, Cycle>
  readonly bought: Map<string, Bought>
}

type Payload = Readonly<Record<string, unknown>>
const text = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value)
/** Ten places, as the ledger writes every figure. */
const atoms = (figure: string | null): bigint => BigInt((figure ?? "0").replace(".", ""))

/**
 * Turns the lots of each holder by a transaction: the units of a delivered order are a lot of its own,
 * and the units that left a holder were its oldest; of one instant the first by id.
 */
const turn = (
  { bought }: Told,
  alive: ReadonlyMap<string, Payload>,
  { events, now }: { readonly events: ReadonlyArray<Ledger.Event>; readonly now: bigint }
) => {
  const payloads = new Map(alive)
  const left = new Map<string, bigint>()
  const moves = (owner: unknown, atoms: bigint) =>
    left.set(String(owner), (left.get(String(owner)) ?? 0n) + atoms)
  const isUnits = (payload: Payload) => (payload["instrument"] as Payload)["id"] === "fund-a"
  for (const event of events) {
    const { entity } = event.template
    if (event._tag === "Created") {
      payloads.set(event.contractId, event.payload as Payload)
      if (entity === "Holding" && isUnits(event.payload as Payload)) {
        moves(event.payload["owner"], -atoms(text(event.payload["amount"])))
      }
      continue
    }
    const payload = payloads.get(event.contractId)
    if (payload === undefined) continue
    if (entity === "Holding" && event.consuming && isUnits(payload)) {
      moves(payload["owner"], atoms(text(payload["amount"])))
    }
    if (entity !== "Lot" || event.choice !== "Settle") continue
    const [id, units] = [String(payload["subscriptionId"]), atoms(text(payload["units"]))]
    const owner = String(payload["holder"])
    bought.set(id, { id, owner, since: now, units, left: units })
    moves(owner, units)
  }
  for (const [owner, gone] of left) {
    const own = [...bought.values()]
      .filter((one) => one.owner === owner && one.left > 0n)
      .toSorted((a, b) =>
        a.since === b.since ? (a.id < b.id ? -1 : 1) : a.since < b.since ? -1 : 1
      )
    let wanted = gone
    for (const one of own) {
      const taken = one.left < wanted ? one.left : wanted
      one.left -= taken
      wanted -= taken
    }
    if (wanted !== 0n) throw new Error(`${owner} gave ${wanted} that no order brought`)
  }
}

/**
 * Folds an event into the orders; remembers each contract's payload by its id, for later choices on
 * it.
 */
const read = (books: Told, alive: Map<string, Payload>, event: Ledger.Event) => {
  const { entity } = event.template
  if (event._tag === "Created") {
    const payload = event.payload as Payload
    alive.set(event.contractId, payload)
    return created(books, entity, payload)
  }
  const payload = alive.get(event.contractId)
  if (payload !== undefined) {
    exercised(books, `${entity}.${event.choice}`, { payload, argument: event.arg as Payload })
  }
}

const created = (books: Told, entity: string, payload: Payload) => {
  const order = (id: unknown, orders: Map<string, Order>, units: string | null) => {
    const claimedOrder = orders.get(String(id))
    // The remainder of a gate is claimed again when it joins a cycle.
    if (claimedOrder !== undefined) claimedOrder.cycleId = text(payload["cycleId"])
    else {
      orders.set(String(id), {
        state: "claimed",
        units,
        cycleId: text(payload["cycleId"]),
        remainderOf: text(payload["remainderOf"])
      })
    }
  }
  const price = (id: unknown, orders: Map<string, Order>) => {
    const claimedOrder = orders.get(String(id))
    if (claimedOrder === undefined) throw new Error(`${String(id)} is priced and was never claimed`)
    claimedOrder.state = "priced"
    claimedOrder.units = text(payload["units"])
  }
  switch (entity) {
    case "SubscriptionClaim":
      return order(payload["subscriptionId"], books.subscriptions, text(payload["units"]))
    case "Lot":
      return price(payload["subscriptionId"], books.subscriptions)
    case "RedemptionClaim":
      return order(payload["redemptionId"], books.redemptions, text(payload["orderedUnits"]))
    case "PricedRedemption":
      return price(payload["redemptionId"], books.redemptions)
    case "BurnRequest": {
      const redemption = books.redemptions.get(String((payload["reference"] as Payload)["id"]))
      if (redemption !== undefined) redemption.state = "funded"
      return
    }
    case "DealingCycle":
      books.cycles.set(String(payload["cycleId"]), { state: "open" })
  }
}

const exercised = (
  books: Told,
  what: string,
  { argument, payload }: { readonly payload: Payload; readonly argument: Payload }
) => {
  const subscription = books.subscriptions.get(String(payload["subscriptionId"]))
  const redemption = books.redemptions.get(String(payload["redemptionId"]))
  const cycle = books.cycles.get(String(payload["cycleId"]))
  const ends = (order: Order | undefined, state: string) => {
    if (order !== undefined) order.state = state
  }
  switch (what) {
    case "SubscriptionClaim.Withdraw":
      return ends(subscription, "withdrawn")
    case "Lot.Settle":
      return ends(subscription, "closed")
    case "Lot.Release":
      return ends(subscription, "released")
    case "RedemptionClaim.Withdraw":
      return ends(redemption, "withdrawn")
    case "PricedRedemption.Release":
      return ends(redemption, "released")
    case "BurnRequest.Accept":
      return ends(books.redemptions.get(String((payload["reference"] as Payload)["id"])), "burned")
    case "PricedRedemption.Settle": {
      const fill = (argument["fill"] ?? null) as Payload | null
      const units = text(fill === null ? payload["units"] : fill["units"])
      if (redemption !== undefined) redemption.units = units
      return ends(redemption, "settled")
    }
    case "DealingCycle.Settle":
      if (cycle !== undefined) cycle.state = "settled"
      return
    case "DealingCycle.Release":
      if (cycle !== undefined) cycle.state = "released"
  }
}

/** An open cycle comes to what its orders ask, a settled one to what was dealt, a released one to nothing. */
const sumOf = (
  orders: ReadonlyMap<string, Order>,
  cycle: { readonly cycleId: string; readonly state: Cycle["state"] }
): bigint => {
  const counted = {
    open: ["claimed", "priced", "funded"],
    settled: ["closed", "settled"],
    released: [] as ReadonlyArray<string>
  }[cycle.state]
  return [...orders.values()].reduce(
    (sum, { cycleId, state, units }) =>
      cycleId === cycle.cycleId && counted.includes(state) ? sum + atoms(units) : sum,
    0n
  )
}

const sorted = (entries: Iterable<readonly [string, unknown]>) =>
  Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)))

const shown = (decimal: Decimal.Decimal | null) =>
  decimal === null ? null : Decimal.atoms(decimal)

const naive = ({ bought, cycles, redemptions, subscriptions }: Told) => {
  const orders = (orders: Map<string, Order>) =>
    sorted(
      [...orders].map(([id, order]) => [
        id,
        { ...order, units: order.units === null ? null : atoms(order.units) }
      ])
    )
  return {
    subscriptions: orders(subscriptions),
    redemptions: orders(redemptions),
    lots: sorted([...bought].map(([id, { left }]) => [id, left])),
    cycles: sorted(
      [...cycles].map(([cycleId, { state }]) => [
        cycleId,
        {
          state: state === "open" ? "open" : "ended",
          minted: sumOf(subscriptions, { cycleId, state }),
          burned: sumOf(redemptions, { cycleId, state })
        }
      ])
    )
  }
}

/** The same as the engine tells it at an offset. */
const engineBooks = Effect.fnUntraced(function* (at: number) {
  const point = { at: at as Offset.Offset }
  const subscriptions = yield* Venue.list(SubscriptionQueries.list, {}, { point })
  const redemptions = yield* Venue.list(RedemptionQueries.list, {}, { point })
  const cycles = yield* Venue.list(DealingCycleQueries.list, {}, { point })
  return {
    subscriptions: sorted(
      subscriptions.value.map(({ cycleId, state, subscriptionId, units }) => [
        subscriptionId,
        { state, units: shown(units), cycleId, remainderOf: null }
      ])
    ),
    lots: sorted(
      subscriptions.value.flatMap(({ lot, state, subscriptionId }) =>
        state === "closed" && lot !== null ? [[subscriptionId, shown(lot.remaining)] as const] : []
      )
    ),
    redemptions: sorted(
      redemptions.value.map(({ cycleId, redemptionId, remainderOf, state, units }) => [
        redemptionId,
        { state, units: shown(units), cycleId, remainderOf }
      ])
    ),
    cycles: sorted(
      cycles.value.map(({ cycleId, gate, gross, orders, state }) => {
        // Past its cut-off a cycle shows what its gate lets through: all was ordered by its orders.
        const isGated = state === "open" && gate !== null
        const ordered = redemptions.value.filter(({ redemptionId }) =>
          orders.redemptions.includes(redemptionId)
        )
        const burned = isGated
          ? Decimal.sum(ordered.map(({ units }) => units ?? Decimal.zero))
          : gross.burned
        return [cycleId, { state, minted: shown(gross.minted), burned: shown(burned) }] as const
      })
    )
  }
})

let looked = 0
/** Lots at a look of which something had been given back. */
let sold = 0
const agree = Effect.gen(function* () {
  const fold: Told = {
    subscriptions: new Map(),
    redemptions: new Map(),
    cycles: new Map(),
    bought: new Map()
  }
  let now = 0n
  const alive = new Map<string, Payload>()
  for (const { effectiveAt, events, offset } of yield* transactions) {
    const before = JSON.stringify(naive(fold), (_, one: unknown) => String(one))
    now = effectiveAt > now ? effectiveAt : now
    turn(fold, alive, { events, now })
    for (const event of events) read(fold, alive, event)
    const after = naive(fold)
    // An update that moves no order leaves the answer unchanged: every fourth of them is compared.
    if (before === JSON.stringify(after, (_, one: unknown) => String(one)) && offset % 4 > 0) {
      continue
    }
    looked += 1
    sold += [...fold.bought.values()].filter(({ left, units }) => left < units).length
    expect(yield* engineBooks(offset), `at ${offset}`).toEqual(after)
  }
})

describe("orders, lots and cycles at every offset", () => {
  for (const seed of seeds) {
    it(`are what the ledger's updates add up to by then: seed ${seed}`, async () => {
      await Calls.runCase(deal({ seed, days: 5 }, agree))
    })
  }

  it("are looked at often enough to have seen something", () => {
    expect(looked).toBeGreaterThan(40)
    expect(sold, "lots of which something was given back").toBeGreaterThan(0)
  })
})
