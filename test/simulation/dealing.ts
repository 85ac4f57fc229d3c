/** Dealing days by chance: orders both ways, cycles, gates, swings and policies, against books kept by hand. */
import { Catalogue, Engine, Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import * as DealingCycleQueries from "#core/orders/dealing-cycle/DealingCycleQueries.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import { ports } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import * as B from "./books.ts"
import * as Faults from "./faults.ts"

const maker = Calls.person("olga", "operator")
const approver = Calls.person("ada", "approver")
const holderIds = ["a", "b", "c"] as const

/** A decimal of so many places from a whole number of its smallest parts. */
const plain = (parts: bigint, places: number): string => {
  const digits = parts.toString().padStart(places + 1, "0")
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
/** The parts of a decimal's text: the engine's arithmetic has no say in the books. */
const parts = (text: string, places: number): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  B.holds(!/[1-9]/u.test(fraction.slice(places)), `${text} has more than ${places} places`)
  return BigInt(whole + fraction.slice(0, places).padEnd(places, "0"))
}
const partsOf = (decimal: Decimal.Decimal, places: number): bigint =>
  parts(Decimal.formatPlain(decimal), places)

/** The cut-offs of the business days from the Friday of the stage on. */
const cutOffs = [
  "2026-07-31",
  "2026-08-03",
  "2026-08-04",
  "2026-08-05",
  "2026-08-06",
  "2026-08-07",
  "2026-08-10",
  "2026-08-11"
].map((date) => `${date}T20:00:00Z`)
export const daysMax = cutOffs.length

interface Terms {
  readonly capacity: B.Atoms | null
  readonly swing: B.Swing | null
  readonly subscription: B.Rate
  readonly redemption: B.Rate
}

interface Sim {
  readonly die: Faults.Dice
  readonly faults: SimulatedLedger.Faults.Faults
  readonly books: B.Books
  readonly stage: Fund.Parties
  readonly holders: ReadonlyArray<Cycles.Holder>
  /** The smallest part of a unit, in atoms of the ledger. */
  readonly atom: B.Atoms
  terms: Terms
  day: number
  cycleId: string | null
  count: number
  lines: number
  readonly seen: Map<string, number>
}

const note = (sim: Sim, what: string) => sim.seen.set(what, (sim.seen.get(what) ?? 0) + 1)

/** Works until no operation can make progress now; unknown outcomes are asked for later. */
const work = Effect.flatMap(Engine.Engine, (engine) => Effect.exit(engine.settle))

/** An instance takes the work up and dies over one of its calls; another one goes on in its place. */
const dies = (sim: Sim) =>
  Effect.gen(function* () {
    const { operations, fromLedger } = Catalogue
    const death = { at: 1 + sim.die.roll(25), side: sim.die.pick(["before", "after"] as const) }
    const life = Killable.make({ operations, fromLedger, death })
    const engine = yield* Layer.build(life.engine)
    yield* Effect.exit(Effect.provide(work, engine))
    note(sim, "kills")
  }).pipe(Effect.scoped)

/** Passes seconds until the operation has ended; how it did. */
const awaited = Effect.fnUntraced(function* (sim: Sim, operationId: string) {
  const records = yield* Records
  if (sim.die.once(6)) yield* dies(sim)
  const faulty = 5 + sim.die.roll(40)
  for (let second = 0; second < 600; second++) {
    // The fault lasts some seconds: then a token that expired is renewed, for one.
    if (second === faulty) sim.faults.replace({})
    yield* work
    const record = yield* records.get(operations, operationId)
    if (record.state === "succeeded" || record.state === "failed") {
      const problem = record.problem as { readonly check?: string; readonly type?: string } | null
      return { state: record.state, why: problem?.check ?? problem?.type ?? "" }
    }
    yield* TestClock.adjust("1 second")
  }
  throw new Error(`audit: operation ${operationId} has not ended`)
})

/**
 * Makes a write as the venue's staff, while the ledger fails at random; it succeeds, or a check
 * refuses it.
 */
const write = Effect.fnUntraced(function* (
  sim: Sim,
  kind: string,
  options: { readonly params?: Readonly<Record<string, string>>; readonly body?: string },
  between: Effect.Effect<void, never, Engine.Services | Engine.Ports> = Effect.void
) {
  const declared = Catalogue.operations.find((one) => one.kind === kind)
  if (declared === undefined) throw new Error(`no operation ${kind}`)
  const key = `deal-${++sim.count}`
  const call = { params: options.params ?? {}, body: options.body ?? "{}", key }
  const answer = yield* Effect.result(Calls.submit(declared, maker, call))
  if (Result.isFailure(answer)) return refused(answer.failure)
  let opened = answer.success
  if (declared.approvers > 0) {
    const actionKey = String(Calls.field(answer.success, "actionKey"))
    yield* between
    for (let times = 0; ; times++) {
      const signed = yield* Effect.result(Calls.approve(actionKey, approver))
      if (Result.isSuccess(signed)) {
        opened = signed.success
        break
      }
      // Figures that moved since the action was made are shown again, and the approver signs the
      // new ones.
      const why = refused(signed.failure)
      if (why.why !== "figures-moved") return why
      note(sim, "figures moved")
      B.holds(times < 1, "figures moved though nothing did")
    }
  }
  sim.faults.replace(Faults.plan(sim.die))
  const ended = yield* awaited(sim, String(Calls.field(opened, "operationId")))
  sim.faults.replace({})
  // The slowest word of the ledger comes.
  yield* TestClock.adjust("20 seconds")
  yield* work
  note(sim, `${kind} ${ended.state}`)
  return ended
})

const refused = (failure: unknown) => {
  const { slug, details } = failure as {
    readonly slug: string
    readonly details?: { check?: string }
  }
  return { state: "refused", why: details?.check ?? slug } as const
}

const holderOf = (sim: Sim, holderId: string): Cycles.Holder => {
  const found = sim.holders.find((one) => one.holderId === holderId)
  if (found === undefined) throw new Error(`no holder ${holderId}`)
  return found
}

/** The largest part of a party's asset that nothing locks. */
const freeOf = (owner: string, assetId: string, places: number) =>
  Effect.map(Cycles.active(Templates.Holding), (found) =>
    found
      .filter(
        ({ payload }) =>
          payload.owner === owner && payload.instrument.id === assetId && payload.lock === null
      )
      .map(({ payload }) => parts(String(payload.amount), places))
      .reduce((most, one) => (one > most ? one : most), 0n)
  )

const idOf = (sim: Sim, letter: string) => `${letter}${String(++sim.count).padStart(4, "0")}`

/** A holder gets cash and signs for it; now and then it locks none. */
const subscribes = Effect.fnUntraced(function* (sim: Sim) {
  const { books, die, stage, terms } = sim
  const by = holderOf(sim, die.pick(holderIds))
  const cents = BigInt(100 + die.roll(5_000_000))
  const [id, amount] = [idOf(sim, "s"), plain(cents, 2)]
  yield* Cycles.paysIn(stage, by, amount)
  books.gives(by.holderId, cents)
  yield* by.act(
    Templates.create(Templates.SubscriptionOrder, {
      venue: stage.venue,
      fund: stage.fund.party,
      holder: by.party,
      orderId: `order-${id}`,
      instrument: stage.asset,
      paymentAsset: Cycles.cash(stage),
      amount: Decimal.of(amount),
      units: null,
      expiresAt: null
    })
  )
  const body = `{"subscriptionId":"${id}","instrumentId":"fund-a","holderId":"${by.holderId}","payment":"ledger","orderId":"order-${id}"}`
  const claimed = yield* write(sim, "subscription.claim", { body })
  if (claimed.state !== "succeeded") return
  books.orders.set(id, {
    id,
    kind: "subscription",
    payment: "ledger",
    holderId: by.holderId,
    day: sim.day,
    cycleId: sim.cycleId,
    amount: cents,
    ordered: null,
    feeRate: terms.subscription,
    priced: null,
    state: "claimed"
  })
  if (!die.once(8)) {
    yield* Cycles.allocates(stage, by, { assetId: "USD", amount, to: stage.fund, reference: id })
  }
})

/** A holder gives back a part of what it has free, in units or for an amount, by wire or on the ledger. */
const redeems = Effect.fnUntraced(function* (sim: Sim) {
  const { books, die, stage, terms } = sim
  const by = holderOf(sim, die.pick(holderIds))
  const free = yield* freeOf(by.party, "fund-a", 10)
  const part = (free * BigInt(1 + die.roll(100))) / 100n
  const units = part - (part % sim.atom)
  if (units === 0n) return
  const payment = die.once(3) ? ("wire" as const) : ("ledger" as const)
  // An amount that at any price of ours takes fewer units than there are.
  const cents = die.once(4) ? units / 200_000_000n : null
  if (cents === 0n) return
  const [id, said] = [idOf(sim, "r"), cents === null ? plain(units, 10) : plain(cents, 2)]
  if (payment === "ledger") {
    yield* by.act(
      Templates.create(Templates.RedemptionOrder, {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: by.party,
        orderId: `order-${id}`,
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: cents === null ? null : Decimal.of(said),
        units: cents === null ? Decimal.of(said) : null,
        custodian: null,
        expiresAt: null
      })
    )
  }
  const what =
    payment === "ledger"
      ? `"orderId":"order-${id}"`
      : `"${cents === null ? "units" : "amount"}":${said}`
  const body = `{"redemptionId":"${id}","instrumentId":"fund-a","holderId":"${by.holderId}","payment":"${payment}",${what}}`
  const claimed = yield* write(sim, "redemption.claim", { body })
  if (claimed.state !== "succeeded") return
  books.orders.set(id, {
    id,
    kind: "redemption",
    payment,
    holderId: by.holderId,
    day: sim.day,
    cycleId: payment === "ledger" ? sim.cycleId : null,
    amount: cents,
    ordered: cents === null ? units : null,
    feeRate: terms.redemption,
    priced: null,
    state: "claimed"
  })
})

const inAtoms = ({ atom }: Sim, amount: bigint, isLittle: boolean): B.Atoms => {
  const units = amount * (isLittle ? 1n : 1_000_001n) * 10_000n
  return units < atom ? atom : units - (units % atom)
}

/** Other terms for later orders: rates, a gate, a swing. */
const changes = Effect.fnUntraced(function* (sim: Sim) {
  const { die } = sim
  const terms: Terms = {
    // A gate of a few atoms, now and then.
    capacity: die.once(3) ? null : inAtoms(sim, BigInt(1 + die.roll(30_000)), die.once(4)),
    swing: die.once(2) ? null : { threshold: 100n, up: 15n, down: 10n },
    subscription: die.pick([0n, 50n]),
    redemption: die.pick([0n, 35n])
  }
  const instrument = yield* Effect.flatMap(Records, (records) => records.get(instruments, "fund-a"))
  const rate = (rate: B.Rate) => Number(plain(rate, 4))
  const set = yield* Cycles.changes(instrument.policyVersion ?? 0, {
    limits: { cycleCapacity: terms.capacity === null ? null : Number(plain(terms.capacity, 10)) },
    fees: { subscription: rate(terms.subscription), redemption: rate(terms.redemption) },
    swing:
      terms.swing === null
        ? null
        : {
            threshold: rate(terms.swing.threshold),
            up: rate(terms.swing.up),
            down: rate(terms.swing.down)
          }
  })
  B.same(set.why, "", "a policy is set")
  sim.terms = terms
  note(sim, "policies")
})

/** Withdraws an order, or releases it if it is priced. */
const leaves = Effect.fnUntraced(function* (sim: Sim, order: B.Order) {
  const verb = order.priced === null ? "withdraw" : "release"
  const ended = yield* write(sim, `${order.kind}.${verb}`, {
    params: { [`${order.kind}Id`]: order.id }
  })
  if (ended.state === "succeeded") order.state = verb === "withdraw" ? "withdrawn" : "released"
})

const outstanding = ({ minted, burned }: B.Books): B.Atoms => minted - burned

/** The oracle publishes, and every order of the day is priced at what the day deals at. */
const prices = Effect.fnUntraced(function* (sim: Sim) {
  const { books, die, stage, terms } = sim
  const orders = books.ordersOf(sim.day)
  const published = BigInt(9_000 + die.roll(2_000))
  const cutOff = cutOffs[sim.day] ?? ""
  yield* Fund.publishes(stage, plain(published, 4), cutOff)
  const price = B.swung(published * 1_000_000n, {
    orders,
    outstanding: outstanding(books),
    swing: terms.swing
  })
  if (price !== published * 1_000_000n) note(sim, "swung")
  for (const order of orders) {
    const { units, cash, refund } = B.comesTo(order, { price, atom: sim.atom })
    if (refund > 0n) note(sim, "refunds")
    if (units === 0n || cash === 0n) continue
    const said = { id: order.id, units: plain(units, 10), price: plain(price, 10) }
    if (order.kind === "subscription") yield* Cycles.attests(stage, said)
    else yield* Cycles.pays(stage, { ...said, proceeds: plain(cash, 2) })
    order.priced = { price, units, cash, refund }
    order.state = "priced"
    if (order.kind === "redemption" && order.payment === "ledger") yield* locks(sim, order)
  }
  return published
})

const locks = Effect.fnUntraced(function* (sim: Sim, order: B.Order) {
  const by = holderOf(sim, order.holderId)
  const units = order.priced?.units ?? 0n
  if ((yield* freeOf(by.party, "fund-a", 10)) < units) return
  yield* Cycles.locksUnits(sim.stage, by, { id: order.id, units: plain(units, 10) })
})

/** Part of each of a cycle's orders that is dealt, by the books. */
const dealtOf = (sim: Sim, orders: ReadonlyArray<B.Order>) => {
  const sold = orders.filter(({ kind }) => kind === "redemption")
  const soldUnits = sold.map(({ id, priced }) => ({ id, units: priced?.units ?? 0n }))
  const { capacity } = sim.terms
  const filled = capacity === null ? null : B.gated(soldUnits, capacity, sim.atom)
  return new Map(
    orders.map((order) => {
      const none = { cash: 0n, price: 0n, units: 0n, refund: 0n }
      const { cash, price, refund, units } = order.priced ?? none
      const share = order.kind === "redemption" ? (filled?.get(order.id) ?? units) : units
      const whole = share === units
      const part = whole || B.paid(share, price, order.feeRate) > 0n ? share : 0n
      return [
        order.id,
        { units: part, cash: whole ? cash : B.paid(part, price, order.feeRate), refund, whole }
      ] as const
    })
  )
}

/** The fund sets aside what the cycle leaves it short of. */
const setsAside = Effect.fnUntraced(function* (sim: Sim, cents: B.Cents, cycleId: string) {
  const { books, stage } = sim
  if (cents <= 0n) return
  const amount = plain(cents, 2)
  yield* Cycles.paysIn(stage, stage.fund, amount)
  books.gives("fund", cents)
  yield* Cycles.allocates(stage, stage.fund, {
    assetId: "USD",
    amount,
    to: stage.fund,
    reference: cycleId
  })
})

const inCycle = (sim: Sim, cycleId: string) =>
  [...sim.books.orders.values()].filter((order) => order.cycleId === cycleId && B.isAlive(order))

const sum = (some: Iterable<bigint>): bigint => [...some].reduce((all, one) => all + one, 0n)

/** The cycle of the day settles whole, or is let go. */
const settlesCycle = Effect.fnUntraced(function* (sim: Sim, cycleId: string) {
  const { die } = sim
  const records = yield* Records
  for (const order of inCycle(sim, cycleId)) {
    const setAside =
      order.kind === "subscription"
        ? (yield* records.get(subscriptions, order.id)).allocation
        : (yield* records.get(redemptions, order.id)).unitsAllocation
    if (order.priced === null || setAside === null) yield* leaves(sim, order)
  }
  let members = inCycle(sim, cycleId)
  if (die.once(8)) return yield* releasesCycle(sim, cycleId, members)
  const short = (orders: ReadonlyArray<B.Order>) =>
    orders.reduce((owed, { id, kind }) => {
      const { cash = 0n, refund = 0n } = dealtOf(sim, orders).get(id) ?? {}
      return kind === "redemption" ? owed + cash : owed - cash + refund
    }, 0n)
  yield* setsAside(sim, short(members), cycleId)
  const [leaver] = members
  const between =
    leaver !== undefined && members.length > 1 && die.once(3)
      ? Effect.gen(function* () {
          yield* leaves(sim, leaver)
          const before = sum([short(members), 0n])
          members = inCycle(sim, cycleId)
          const after = short(members)
          const aside = before > 0n ? before : 0n
          yield* setsAside(sim, after - aside, cycleId)
        }).pipe(Effect.orDie)
      : Effect.void
  const shown = yield* previewOf(cycleId)
  const settled = yield* write(sim, "dealing-cycle.settle", { params: { cycleId } }, between)
  const dealt = dealtOf(sim, members)
  B.same(
    settled.state,
    members.length === 0 ? "refused" : "succeeded",
    `${cycleId} of ${members.length} orders: ${settled.why}`
  )
  if (settled.state !== "succeeded") return yield* releasesCycle(sim, cycleId, members)
  const cycle = yield* Cycles.cycle(cycleId)
  yield* dealtBy(sim, members, dealt, cycle.fills)
  const totalOf = (kind: B.Order["kind"], figure: "units" | "cash" | "refund") =>
    sum(members.flatMap((one) => (one.kind === kind ? [dealt.get(one.id)?.[figure] ?? 0n] : [])))
  const shownFigures = {
    subscribed: partsOf(cycle.gross.subscribed, 2),
    refunded: partsOf(cycle.gross.refunded, 2),
    redeemed: partsOf(cycle.gross.redeemed, 2),
    minted: partsOf(cycle.gross.minted, 10),
    burned: partsOf(cycle.gross.burned, 10)
  }
  B.same(
    shownFigures,
    {
      subscribed: totalOf("subscription", "cash"),
      refunded: totalOf("subscription", "refund"),
      redeemed: totalOf("redemption", "cash"),
      minted: totalOf("subscription", "units"),
      burned: totalOf("redemption", "units")
    },
    `what ${cycleId} came to`
  )
  // Without a step in between no more is paid or minted than the cycle showed before.
  if (between === Effect.void) {
    B.holds(
      shownFigures.redeemed <= partsOf(shown.redeemed, 2),
      `${cycleId} paid more than it showed`
    )
    B.holds(
      shownFigures.minted <= partsOf(shown.minted, 10),
      `${cycleId} minted more than it showed`
    )
  }
})

/** Gross sums of the cycle before its settlement, as its view shows them. */
const previewOf = Effect.fnUntraced(function* (cycleId: string) {
  const queries = yield* Queries
  type Params = Parameters<(typeof DealingCycleQueries.get)["run"]>[0]
  const { value } = yield* queries.one(DealingCycleQueries.get, {
    caller: maker,
    params: { cycleId: cycleId as Params["cycleId"] },
    point: {}
  })
  return value.gross
})

const dealtBy = Effect.fnUntraced(function* (
  sim: Sim,
  members: ReadonlyArray<B.Order>,
  dealt: ReturnType<typeof dealtOf>,
  fills: ReadonlyArray<{ readonly redemptionId: string; readonly remainderId: string | null }>
) {
  const { books } = sim
  for (const order of members) {
    const part = dealt.get(order.id)
    if (part === undefined || order.priced === null) throw new Error("audit: dealt unpriced")
    const whole = order.priced.units
    order.priced = { ...order.priced, units: part.units, cash: part.cash }
    books.settles(order, "fund")
    const rest = whole - part.units
    const child = fills.find(({ redemptionId }) => redemptionId === order.id)?.remainderId ?? null
    B.holds(rest > 0n === (child !== null), `${order.id} leaves ${rest} over in ${child}`)
    if (child === null) continue
    note(sim, "gated")
    const record = yield* Cycles.redemption(child)
    B.same(record.remainderOf, order.id, `${child} is what is left of`)
    const { cutOffAt, cycleId } = record
    books.orders.set(child, {
      ...order,
      id: child,
      day: cutOffs.findIndex((one) => Instant.of(one) === cutOffAt),
      cycleId,
      amount: null,
      ordered: rest,
      // A remainder deals at the terms of its claim, which is made when the cycle settles.
      feeRate: sim.terms.redemption,
      priced: null,
      state: "claimed"
    })
  }
})

const releasesCycle = Effect.fnUntraced(function* (
  sim: Sim,
  cycleId: string,
  members: ReadonlyArray<B.Order>
) {
  const released = yield* write(sim, "dealing-cycle.release", { params: { cycleId } })
  B.same(released.state, "succeeded", `releasing ${cycleId}: ${released.why}`)
  for (const order of members) order.state = order.priced === null ? "withdrawn" : "released"
})

/** An order outside of cycles settles by itself: on the ledger, or burned on request and wired. */
const settlesApart = Effect.fnUntraced(function* (sim: Sim, order: B.Order) {
  const { books, stage } = sim
  if (order.priced === null || sim.die.once(6)) return yield* leaves(sim, order)
  const params = { [`${order.kind}Id`]: order.id }
  const cash = plain(order.priced.cash, 2)
  if (order.payment === "wire") {
    if (!(yield* burns(sim, order))) return yield* leaves(sim, order)
    const line = `{"statementId":"stmt-2","line":${1 + (++sim.lines % 400)},"amount":${cash}}`
    const settled = yield* write(sim, "redemption.settle", { params, body: `{"cash":[${line}]}` })
    B.same(settled.state, "succeeded", `${order.id} is paid by wire: ${settled.why}`)
    return books.settles(order, "fund")
  }
  if (order.kind === "redemption") {
    yield* Cycles.paysIn(stage, stage.fund, cash)
    books.gives("fund", order.priced.cash)
    const to = holderOf(sim, order.holderId)
    yield* Cycles.allocates(stage, stage.fund, {
      assetId: "USD",
      amount: cash,
      to,
      reference: order.id
    })
  }
  const settled = yield* write(sim, `${order.kind}.settle`, { params })
  if (settled.state === "succeeded") books.settles(order, "fund")
  else {
    // Only a holder that locked nothing keeps an order from settling.
    B.holds(/^(?:cash|units)-allocated$/u.test(settled.why), `${order.id}: ${settled.why}`)
    yield* leaves(sim, order)
  }
})

/** The holder asks for its units to be burned; the registrar does so, or not. */
const burns = Effect.fnUntraced(function* (sim: Sim, order: B.Order) {
  const { die, stage } = sim
  const by = holderOf(sim, order.holderId)
  const units = order.priced?.units ?? 0n
  const held = (yield* Cycles.active(Templates.Holding)).find(
    ({ payload }) =>
      payload.owner === by.party &&
      payload.instrument.id === "fund-a" &&
      payload.lock === null &&
      parts(String(payload.amount), 10) >= units
  )
  if (held === undefined) return false
  yield* by.act(
    Templates.exercise(Templates.Holding, held.cid, "RequestBurn", {
      amount: Decimal.of(plain(units, 10)),
      reference: { kind: "redemption", id: order.id },
      custodian: null,
      executeBefore: Instant.of("2026-09-01T00:00:00Z")
    })
  )
  const { cid } = yield* Fund.newestContract(Templates.BurnRequest)
  const choice = die.once(5) ? "Reject" : "Accept"
  yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, cid, choice, {}))
  if (choice === "Reject") return false
  sim.books.burns(order)
  return true
})

/** The ledger's holdings, the engine's register and every order equal the books. */
const audit = Effect.fnUntraced(function* (sim: Sim) {
  const { books, holders, stage } = sim
  books.audit()
  const names = new Map<string, string>(holders.map(({ holderId, party }) => [party, holderId]))
  names.set(stage.fund.party, "fund")
  const held = { cash: new Map<string, bigint>(), units: new Map<string, bigint>() }
  for (const { payload } of yield* Cycles.active(Templates.Holding)) {
    const owner = names.get(payload.owner) ?? payload.owner
    const isCash = payload.instrument.id === "USD"
    const amounts = isCash ? held.cash : held.units
    const amount = parts(String(payload.amount), isCash ? 2 : 10)
    amounts.set(owner, (amounts.get(owner) ?? 0n) + amount)
  }
  B.same(entries(held.cash), entries(books.cash), "the cash on the ledger")
  B.same(entries(held.units), entries(books.units), "the units on the ledger")
  const records = yield* Records
  const rows = yield* records.list(registerEntries, { limit: 100 })
  const register = new Map(
    rows
      .map(({ record }) => record)
      .filter(({ instrumentId }) => instrumentId === "fund-a")
      .map(({ party, units }) => [names.get(party) ?? party, partsOf(units, 10)])
  )
  B.same(entries(register), entries(books.units), "the register")
  const shownOrders = [
    ...(yield* records.list(subscriptions, { limit: 1_000 })).map(({ record }) => ({
      ...record,
      id: record.subscriptionId as string,
      cash: record.amount,
      refunded: record.state === "closed" ? record.refunded : record.refund
    })),
    ...(yield* records.list(redemptions, { limit: 1_000 })).map(({ record }) => ({
      ...record,
      id: record.redemptionId as string,
      cash: record.proceeds,
      refunded: null
    }))
  ]
  B.same(
    shownOrders.map(({ id }) => id).toSorted(),
    [...books.orders.keys()].toSorted(),
    "the orders"
  )
  for (const { cash, id, refunded, state, units } of shownOrders) {
    const order = books.orders.get(id)
    B.same(state, order?.state, `the state of ${id}`)
    if (order === undefined || order.priced === null) continue
    B.same(units === null ? null : partsOf(units, 10), order.priced.units, `the units of ${id}`)
    B.same(cash === null ? null : partsOf(cash, 2), order.priced.cash, `the cash of ${id}`)
    const back = refunded === null ? 0n : partsOf(refunded, 2)
    B.same(back, order.priced.refund, `what went back of ${id}`)
  }
  B.same(yield* Fund.surprises, [], "what no table allows")
})

const entries = (amounts: ReadonlyMap<string, bigint>) =>
  [...amounts].filter(([, one]) => one !== 0n).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Atoms of a unit that are worth a cent at every price of the days, whatever the fee. */
const payable = 200_000_000n

/** The remainders of gates that can be paid are in the cycle of their day from its opening. */
const takesIn = Effect.fnUntraced(function* (sim: Sim, cycleId: string) {
  const remainders = sim.books.ordersOf(sim.day).filter(({ state }) => state === "claimed")
  for (const order of remainders) {
    order.cycleId = (yield* Cycles.redemption(order.id)).cycleId
    B.holds(
      order.cycleId === cycleId || (order.ordered ?? 0n) < payable,
      `${order.id} waits outside of ${cycleId}`
    )
  }
})

/** A dealing day: its orders until the cut-off, its price, and what becomes of them. */
const dealingDay = Effect.fnUntraced(function* (sim: Sim) {
  const { books, die } = sim
  const cutOff = Instant.of(cutOffs[sim.day] ?? "")
  yield* TestClock.setTime(Instant.toEpochMillis(cutOff) - 4 * 3_600_000)
  yield* work
  if (die.once(2)) yield* changes(sim)
  sim.cycleId = null
  if (!die.once(4)) {
    const cycleId = `c${sim.day + 1}`
    const body = `{"cycleId":"${cycleId}","instrumentId":"fund-a"}`
    const opened = yield* write(sim, "dealing-cycle.open", { body })
    B.same(opened.state, "succeeded", `opening ${cycleId}: ${opened.why}`)
    sim.cycleId = cycleId
    yield* takesIn(sim, cycleId)
  }
  for (let taken = 2 + die.roll(4); taken > 0; taken--) {
    yield* sim.day > 0 && !die.once(3) ? redeems(sim) : subscribes(sim)
    const orders = books.ordersOf(sim.day)
    const order = orders[die.roll(Math.max(1, orders.length))]
    if (order !== undefined && die.once(8)) yield* leaves(sim, order)
  }
  yield* audit(sim)
  yield* TestClock.setTime(Instant.toEpochMillis(cutOff))
  yield* work
  yield* prices(sim)
  yield* audit(sim)
  if (sim.cycleId !== null) yield* settlesCycle(sim, sim.cycleId)
  yield* audit(sim)
  for (const order of books.ordersOf(sim.day)) {
    if (order.cycleId === null || order.payment === "wire") yield* settlesApart(sim, order)
  }
  yield* audit(sim)
})

export interface Summary {
  readonly seed: number
  readonly orders: Readonly<Record<string, number>>
  readonly seen: Readonly<Record<string, number>>
}

/** Deals for so many days by the seed; dies with the audit's complaint. `then` looks at what is left. */
export const deal = (
  options: { readonly seed: number; readonly days: number },
  then: Effect.Effect<void, unknown, Engine.Services | Engine.Ports> = Effect.void
) => {
  const faults = SimulatedLedger.Faults.make()
  const { operations, fromLedger } = Catalogue
  return Effect.gen(function* () {
    // Every other seed counts whole units, so that most amounts leave cash over.
    const unitDecimals = options.seed % 2 === 0 ? 6 : 0
    const { stage, holders } = yield* Cycles.opened([...holderIds], { unitDecimals })
    const terms = { capacity: null, swing: null, subscription: 0n, redemption: 0n }
    const sim: Sim = {
      die: Faults.dice(options.seed),
      faults,
      books: new B.Books(),
      stage,
      holders,
      atom: 10n ** BigInt(10 - unitDecimals),
      terms,
      day: 0,
      cycleId: null,
      count: 0,
      lines: 0,
      seen: new Map()
    }
    for (; sim.day < Math.min(options.days, daysMax); sim.day++) yield* dealingDay(sim)
    yield* then
    const counts: Record<string, number> = {}
    for (const { kind, state } of sim.books.orders.values()) {
      counts[`${kind} ${state}`] = (counts[`${kind} ${state}`] ?? 0) + 1
    }
    return {
      seed: options.seed,
      orders: counts,
      seen: Object.fromEntries(sim.seen)
    } satisfies Summary
  }).pipe(
    Effect.provide(
      Layer.fresh(Engine.layerOf({ operations, fromLedger })).pipe(
        Layer.provideMerge(ports({ faults, settings: { lease: 9_000 } }))
      )
    )
  )
}
