/** Full audit of a town at rest: the engine's records against the ledger and the books. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { restrictions } from "#core/restraints/restriction/Restriction.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { holds as openHolds } from "#core/restraints/hold/Hold.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import * as WorkLaw from "../../reads/work-law.ts"
import { holds, same } from "../books.ts"
import * as SearchTerms from "#core/records/SearchTerms.ts"
import * as DistributionAudit from "./distribution-audit.ts"
import { add, atoms, whole as one } from "./figures.ts"
import { staff } from "./people.ts"
import { note, type Town } from "./town.ts"
import { member } from "./wallets.ts"

const limit = 100_000

/** A person of each role of the venue's people, and one with two roles. */
const workers = ["operator-1", "approver-1", "risk-1", "compliance-1", "both-1"].flatMap((sub) =>
  staff.filter((person) => person.sub === sub)
)

const listed = (amounts: Iterable<readonly [string, bigint]>) =>
  [...amounts].filter(([, one]) => one !== 0n).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Units per holder: the register, the ledger, and the sum of both. */
const registers = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const shownUnits = new Map<string, bigint>()
  for (const { record } of yield* records.list(registerEntries, { limit })) {
    add(
      shownUnits,
      `${record.instrumentId} ${record.party}`,
      atoms(Decimal.formatPlain(record.units))
    )
  }
  const held = [...town.observer.held()]
  same(listed(shownUnits), listed(held), "the register is what the ledger holds")
  const kept = new Map<string, bigint>()
  for (const { record } of yield* records.list(lots, { limit })) {
    const { instrumentId, party, remaining } = record
    add(kept, `${instrumentId} ${party}`, atoms(Decimal.formatPlain(remaining)))
  }
  same(listed(kept), listed(held), "what remains of the lots is what the ledger holds")
  for (const { instrumentId } of town.funds) {
    const sum = held.reduce(
      (all, [key, amount]) => (key.startsWith(`${instrumentId} `) ? all + amount : all),
      0n
    )
    same(town.observer.supply(instrumentId), sum, `the supply of ${instrumentId}`)
  }
})

const stands = (town: Town, entities: ReadonlyArray<string>, idMember: string) => {
  const found = new Map<string, string>()
  for (const entity of entities) {
    for (const one of town.observer.all(entity).values()) found.set(member(one, idMember), entity)
  }
  return found
}

const buys: Readonly<Record<string, string>> = {
  SubscriptionClaim: "claimed",
  Lot: "priced",
  DeliveredLot: "delivered"
}

interface Figures {
  readonly isRebasing: boolean
  readonly units: Decimal.Decimal | null
  readonly baseUnits: Decimal.Decimal | null
  readonly index: Decimal.Decimal | null
  readonly price: Decimal.Decimal | null
}

const inAtoms = (figure: Decimal.Decimal | null): bigint | null =>
  figure === null ? null : atoms(Decimal.formatPlain(figure))

/** Units that the ledger moves for an order: of a rebasing instrument its base units. */
const movedOf = ({ baseUnits, units }: Figures): bigint => inAtoms(baseUnits ?? units) ?? 0n

/** A priced order of a rebasing instrument has the figures that the books come to. */
const figures = (town: Town, id: string, record: Figures) => {
  const priced = town.claimed.get(id)?.priced ?? null
  if (!record.isRebasing || priced === null || record.price === null) return
  const { baseUnits, index, price, units } = record
  same(
    [units, baseUnits, index, price].map(inAtoms),
    [priced.units, priced.moved, priced.price, one],
    `the figures of ${id}`
  )
  note(town, "base units compared")
}

/** Every order is where its contract on the ledger says, and came to units once. */
const orders = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const made = new Map<string, bigint>()
  const bought = stands(town, Object.keys(buys), "subscriptionId")
  for (const { record } of yield* records.list(subscriptions, { limit })) {
    const id = record.subscriptionId as string
    const entity = bought.get(id)
    bought.delete(id)
    const ended = ["closed", "released", "withdrawn"].includes(record.state)
    // The registrar's word is still to come: units were asked for, and are not out.
    const isRequested = entity === "DeliveredLot" && record.state === "priced"
    holds(
      entity === undefined ? ended : isRequested || buys[entity] === record.state,
      `${id} is ${record.state} with ${entity}`
    )
    const isOut = record.state === "closed" || record.state === "delivered"
    if (isOut && record.units !== null) {
      add(made, record.instrumentId as string, movedOf(record))
    }
    figures(town, id, record)
  }
  same([...bought.keys()], [], "subscriptions on the ledger that nobody knows")
  const sold = stands(town, ["RedemptionClaim", "PricedRedemption"], "redemptionId")
  for (const { record } of yield* records.list(redemptions, { limit })) {
    const id = record.redemptionId as string
    const entity = sold.get(id)
    sold.delete(id)
    const states =
      entity === undefined
        ? ["settled", "released", "withdrawn"]
        : entity === "RedemptionClaim"
          ? ["claimed"]
          : ["priced", "funded", "burned"]
    holds(states.includes(record.state), `${id} is ${record.state} with ${entity}`)
    if ((record.state === "burned" || record.state === "settled") && record.units !== null) {
      add(made, record.instrumentId as string, -movedOf(record))
    }
    figures(town, id, record)
  }
  same([...sold.keys()], [], "redemptions on the ledger that nobody knows")
  for (const [instrumentId, units] of town.distributions?.minted ?? []) {
    add(made, instrumentId, units)
  }
  const supplies = town.funds.map(({ instrumentId }): [string, bigint] => [
    instrumentId,
    town.observer.supply(instrumentId)
  ])
  same(listed(made), listed(supplies), "what orders made and distributions paid is what there is")
})

const perCent = 100_000_000n

/** Every party has the cash the bank gave it, and what orders brought it and took from it, refunds too. */
const cash = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const expected = new Map(town.given)
  const moves = (from: string, to: string, cents: bigint) => {
    add(expected, from, -cents * perCent)
    add(expected, to, cents * perCent)
  }
  for (const { fund, holder, payment, priced } of town.closed.values()) {
    if (payment === "wire" || priced === null) continue
    moves(holder.party, fund.fund.party, priced.cash)
    moves(fund.fund.party, holder.party, priced.refund)
  }
  for (const { cents, order } of town.sold.values()) {
    moves(order.fund.fund.party, order.holder.party, cents)
  }
  const held = new Map(
    [...town.observer.held()].flatMap(([key, amount]): ReadonlyArray<readonly [string, bigint]> => {
      const [asset = "", owner = ""] = key.split(" ")
      return asset === "USD" && owner !== town.bankParty.party ? [[owner, amount]] : []
    })
  )
  same(listed(held), listed(expected), "the cash of every party")
  const cents = (figure: Decimal.Decimal | null) =>
    figure === null ? null : atoms(Decimal.formatPlain(figure)) / perCent
  const owed = new Map<string, bigint>()
  for (const { record } of yield* records.list(subscriptions, { limit })) {
    const id = record.subscriptionId as string
    const order = town.closed.get(id)
    same(record.state === "closed", order !== undefined, `whether ${id} is closed`)
    if (order === undefined) continue
    const refund = order.priced?.refund ?? 0n
    const paid = order.payment === "wire" ? (town.debts.get(id)?.paid ?? 0n) : refund
    same([cents(record.refund), cents(record.refunded)], [refund, paid], `the refund of ${id}`)
    const lines = record.refunds.reduce((sum, { amount }) => sum + (cents(amount) ?? 0n), 0n)
    same(lines, order.payment === "wire" ? paid : 0n, `the bank lines that paid ${id} back`)
    if (paid < refund) owed.set(id, refund - paid)
    same(subscriptions.waitingOn(record).length > 0, paid < refund, `whether ${id} waits`)
  }
  const debts = [...town.observer.all("OwedRefund").values()].map((one): [string, bigint] => [
    member(one, "subscriptionId"),
    atoms(member(one, "amount")) / perCent
  ])
  same(listed(debts), listed(owed), "what closed orders owe")
})

/** Restrictions and holds are those that were asked for, and ended as the books say. */
const controls = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const { model, step } = town
  const shownIds = new Set<string>()
  for (const { record } of yield* records.list(restrictions, { limit })) {
    const id = record.restrictionId as string
    shownIds.add(id)
    const bookedRestriction = model.restrictions.get(id)
    holds(bookedRestriction !== undefined, `the restriction ${id} is nobody's`)
    if (bookedRestriction === undefined) continue
    same(
      [record.holderId, record.mode],
      [bookedRestriction.holderId, bookedRestriction.mode],
      `the restriction ${id}`
    )
    if (record.state === "active") {
      holds(
        bookedRestriction.span.until > step,
        `${id} is in force and ended ${bookedRestriction.ended}`
      )
    } else if (record.state === "lifted") {
      same(bookedRestriction.ended, "lifted", `${id} was lifted`)
      const by = new Set(record.liftedBy ?? [])
      holds(by.size >= 2, `${id} was lifted by ${[...by].join(" ")}`)
    } else if (record.state === "lapsed")
      holds(bookedRestriction.endsAt !== null, `${id} lapsed without an end`)
    else {
      const holder = town.byId.get(bookedRestriction.holderId)
      holds(holder?.successor !== null, `${id} was carried from one with no successor`)
      bookedRestriction.ended = "carried"
      bookedRestriction.span.maybeUntil = Math.min(bookedRestriction.span.maybeUntil, step)
      bookedRestriction.span.until = Math.min(bookedRestriction.span.until, step)
    }
  }
  for (const [id, { span }] of model.restrictions) {
    same(
      shownIds.has(id),
      span.from !== Number.POSITIVE_INFINITY,
      `whether the restriction ${id} is`
    )
  }
  // The bank's audit has those of findings.
  const open = (yield* records.list(openHolds, { limit })).filter(
    ({ record }) => record.state === "open" && record.source === "manual"
  )
  same(
    open.map(({ record }) => record.holdId as string).toSorted(),
    [...model.holds.values()]
      .filter(({ span }) => span.from < Number.POSITIVE_INFINITY && span.until > step)
      .map(({ holdId }) => holdId)
      .toSorted(),
    "the holds that are open"
  )
})

/** A holder that has been followed holds nothing, and nothing came that no table allows. */
const people = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  for (const { record } of yield* records.list(holders, { limit })) {
    const bookedHolder = town.byId.get(record.holderId)
    holds(bookedHolder !== undefined, `the holder ${record.holderId} is nobody's`)
    if (bookedHolder === undefined) continue
    for (const { instrumentId } of town.funds) {
      if (record.state !== "succeeded") break
      const units = town.observer.units(instrumentId, bookedHolder.party)
      same(units, 0n, `${record.holderId} is succeeded, its ${instrumentId}`)
    }
    if (bookedHolder.stateByEvents === "closed")
      same(record.state, "closed", `the holder ${record.holderId}`)
    if (record.screening?.state === "match") {
      holds(
        town.model.restrictionsOf(record.holderId).some(({ reason }) => reason === "sanctions"),
        `${record.holderId} is a match, and was never restricted for it`
      )
    }
  }
  const surprises = (yield* records.list(unexpectedFacts, { limit })).map(
    ({ record }) => `${record.resourceKind} ${record.on}: ${record.detail}`
  )
  // Surprises that outside parties may cause, recorded for reconciliation: a holder revokes while
  // it is restricted, or locks something, or asks for a burn, for an order that has settled
  // meanwhile; or a registrar delivers before the venue's instruction that a line waits, or is
  // held, is on the ledger.
  const expectedBreach =
    /revoked its consent while (?:it is restricted|an order against it is open)\.$|^\S+ allocate\S*: The order is |^idle\/redemption fund: A redemption in state |^distribution deliver: The line was /u
  const breaches = surprises.filter((one) => !expectedBreach.test(one))
  same(breaches.slice(0, 5), [], "what no table allows")
})

/** Every record that is searched has the terms of its latest version, and nothing else has any. */
const searched = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const { kinds, page } = records.search
  for (const kind of kinds.values()) {
    const expected: Array<string> = []
    for (const { record } of yield* records.list(kind.collection, { limit })) {
      for (const { rank, recordId, text } of SearchTerms.rowsOf(kind, record)) {
        expected.push(`${rank} ${recordId} ${text}`)
      }
    }
    const terms = yield* page({ ranges: SearchTerms.rangesOf(kind), prefix: "", limit })
    same(
      terms.map(({ rank, recordId, text }) => `${rank} ${recordId} ${text}`).toSorted(),
      expected.toSorted(),
      `the terms by which a ${kind.kind} is found`
    )
    if (terms.length > 0) note(town, `terms of a ${kind.kind}`)
  }
})

export const whole = Effect.fnUntraced(function* (town: Town) {
  yield* registers(town)
  yield* orders(town)
  yield* cash(town)
  yield* controls(town)
  yield* people(town)
  yield* searched(town)
  yield* DistributionAudit.atRest(town)
  // The list of work is what the views of all lists wait for, for people of every role.
  const waiting = yield* WorkLaw.check(workers)
  if (waiting > 0) note(town, "work waits")
})
