/** Orders by chance, each next thing by whose turn it is: burned, minted, settled or let go. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import type { Contract } from "./ledger-observer.ts"
import { atoms, type Atoms, written } from "./figures.ts"
import { anyFund, anyHolder } from "./joining.ts"
import type { Order, Town } from "./town.ts"
import { isAllocated, lays, moves } from "./paying.ts"
import { spare, takesUp } from "./placing.ts"
import { prices } from "./pricing.ts"
import * as Wallets from "./wallets.ts"

/** Holdings of which only several together suffice are made one; whether they were. */
const merges = Effect.fnUntraced(function* (town: Town, { fund, holder }: Order, moved: Atoms) {
  const [first, ...others] = Wallets.unlocked(town, holder.party, fund.instrumentId)
  if (first === undefined || others.length === 0) return false
  const held = [first, ...others].reduce(
    (sum, one) => sum + atoms(Wallets.member(one, "amount")),
    0n
  )
  if (held < moved) return false
  return yield* Wallets.act(
    town,
    holder,
    "merges units",
    Templates.exercise(Templates.Holding, first.cid, "Merge", {
      holdingCids: others.map(({ cid }) => cid)
    })
  )
})

/** The holder asks for its units to be burned; the registrar answers. */
const burns = Effect.fnUntraced(function* (town: Town, order: Order) {
  const { fund, holder } = order
  const request = Wallets.find(
    town,
    holder.party,
    "BurnRequest",
    (one) => (one.payload["reference"] as { readonly id?: unknown }).id === order.id
  )
  if (request !== undefined) {
    // A registrar burns for an order once, however often it is asked.
    const choice = town.die.once(10) || town.burnt.has(order.id) ? "Reject" : "Accept"
    const said = Templates.exercise(Templates.BurnRequest, request.cid, choice, {})
    const done = yield* Wallets.act(town, fund.registrar, `${choice} burn`, said)
    if (done && choice === "Accept") town.burnt.add(order.id)
    return done
  }
  const moved = order.priced?.moved ?? 0n
  const amount = written(moved)
  const holding = Wallets.free(town, holder.party, fund.instrumentId, amount)
  if (holding === undefined) {
    if (yield* merges(town, order, moved)) return
    return yield* moves(town, order, "release")
  }
  const now = yield* Instant.now
  yield* Wallets.act(
    town,
    holder,
    "requests burn",
    Templates.exercise(Templates.Holding, holding.cid, "RequestBurn", {
      amount: Decimal.of(amount),
      reference: { kind: "redemption", id: order.id },
      custodian: null,
      executeBefore: Instant.fromNanos(now + 20n * 86_400_000_000_000n)
    })
  )
})

/** An order without a market is minted: the venue requests the units, and the registrar answers. */
const minted = Effect.fnUntraced(function* (town: Town, order: Order, lot: Contract) {
  const { fund, holder } = order
  const cid = Wallets.member(lot, "mintRequestCid")
  const request = cid === "" ? undefined : town.observer.activeContract(cid)
  if (request === undefined) return yield* moves(town, order, "settle")
  const credential = Wallets.find(
    town,
    holder.party,
    "Credential",
    (one) => Wallets.member(one, "instrumentId") === fund.instrumentId
  )
  const said =
    credential === undefined || town.die.once(12)
      ? Templates.exercise(Templates.MintRequest, request.cid, "Reject", {})
      : Templates.exercise(Templates.MintRequest, request.cid, "Accept", {
          credentialCid: credential.cid,
          configurationCid: null
        })
  yield* Wallets.act(town, fund.registrar, "answers a mint", said)
})

/** The next thing that some order waits for; now and then something that it does not. */
export const goesOn = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const all = [...town.orders.values()]
  const order =
    all[die.once(2) ? die.roll(Math.max(1, all.length)) : Math.max(0, all.length - 1 - die.roll(8))]
  if (order === undefined) return yield* takesUp(town)
  const { kind } = order
  if (die.once(16)) {
    return yield* moves(
      town,
      order,
      die.pick(["withdraw", "release", "settle", kind === "subscription" ? "deliver" : "settle"])
    )
  }
  yield* advances(town, order)
})

/** Makes the next move that an order waits for, as the party whose move it is. */
export const advances = Effect.fnUntraced(function* (town: Town, order: Order) {
  const { die } = town
  const { holder, kind, payment } = order
  const idMember = `${kind}Id`
  const contractOf = (entity: string) =>
    Wallets.find(town, holder.party, entity, (one) => Wallets.member(one, idMember) === order.id)
  if (kind === "subscription") {
    const claim = contractOf("SubscriptionClaim")
    if (claim !== undefined) return yield* prices(town, order, claim)
    const delivered = contractOf("DeliveredLot")
    if (delivered !== undefined) return yield* minted(town, order, delivered)
    if (payment === "wire") return yield* moves(town, order, "deliver")
    if (!isAllocated(town, order, "USD")) return yield* lays(town, order, "cash")
    return yield* order.cycleId !== null && !die.once(10)
      ? Effect.void
      : moves(town, order, "settle")
  }
  const claim = contractOf("RedemptionClaim")
  if (claim !== undefined) return yield* prices(town, order, claim)
  if (payment === "wire") {
    return yield* town.burned.has(order.id) ? moves(town, order, "settle") : burns(town, order)
  }
  if (!isAllocated(town, order, order.fund.instrumentId)) return yield* lays(town, order, "units")
  if (order.cycleId !== null && !die.once(10)) return
  if (!isAllocated(town, order, "USD")) return yield* lays(town, order, "cash")
  yield* moves(town, order, "settle")
})

/** A holder gives units to another one, outside of the venue. */
export const gives = Effect.fnUntraced(function* (town: Town) {
  const holder = anyHolder(town)
  const to = anyHolder(town)
  // A holder that was recovered receives no more units.
  if (holder === undefined || to === undefined || to.stateByEvents === "succeeded") return
  const fund = anyFund(town)
  const now = yield* Instant.now
  const offer = Wallets.find(
    town,
    to.party,
    "TransferOffer",
    (one) => one.payload["receiver"] === to.party
  )
  if (offer !== undefined) {
    const credential = Wallets.find(
      town,
      to.party,
      "Credential",
      (one) => Wallets.member(one, "instrumentId") === Wallets.assetOf(offer)
    )
    const said = Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", {
      credentialCid: credential?.cid ?? null
    })
    return yield* Wallets.act(town, to, "takes units", said)
  }
  const units = spare(town, holder, fund)
  const amount = written(units)
  const holding = Wallets.free(town, holder.party, fund.instrumentId, amount)
  if (units === 0n || holding === undefined || holder === to) return
  yield* Wallets.act(
    town,
    holder,
    "offers units",
    Templates.exercise(Templates.Holding, holding.cid, "OfferTransfer", {
      receiver: to.party,
      amount: Decimal.of(amount),
      executeBefore: Instant.fromNanos(now + 2n * 86_400_000_000_000n)
    })
  )
})
