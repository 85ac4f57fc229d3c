/** Orders by chance: placed, priced, paid, burned, settled or let go, each next thing by whose turn it is. */
import type { Caller } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import * as B from "../books.ts"
import type { Contract } from "./eye.ts"
import { parts, plain } from "./figures.ts"
import { anyFund, anyHolder } from "./joining.ts"
import type { Asks } from "./model.ts"
import * as People from "./people.ts"
import * as Precheck from "./precheck.ts"
import { type Fund, type Holder, type Order, type Outcome, submit, type Town } from "./town.ts"
import * as Wallets from "./wallets.ts"

const verbs = {
  claim: { subscription: "order-in", redemption: "units-back" },
  exchange: { subscription: "units-in", redemption: "units-back" },
  // Closing a subscription moves nothing of its holder.
  close: { subscription: null, redemption: "cash-in" }
} as const

const asksOf = (order: Order, how: "claim" | "exchange" | "close"): Asks => {
  const { fund, holder, kind } = order
  const asks = { instrumentId: fund.instrumentId, hold: "deal" as const }
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

/** What a holder could give back: a part of one of its free holdings, in millionths. */
const spare = (town: Town, holder: Holder, instrumentId: string): bigint => {
  const holding = Wallets.free(town, holder.party, instrumentId, "0.0001")
  if (holding === undefined) return 0n
  const amount = parts(Wallets.member(holding, "amount"), 10) / 10_000n
  return (amount * BigInt(1 + town.die.roll(100))) / 100n
}

/** One of the funds that a holder has a credential for. */
const admittedTo = (town: Town, holder: Holder): Fund | undefined => {
  const may = town.funds.filter(({ instrumentId }) =>
    Wallets.find(
      town,
      holder.party,
      "Credential",
      (one) => Wallets.member(one, "instrumentId") === instrumentId
    )
  )
  return may[town.die.roll(Math.max(1, may.length))]
}

/** An order is placed: by wire through the staff, on the ledger by the holder's own hand first. */
export const places = Effect.fnUntraced(function* (town: Town, holder: Holder) {
  const { die } = town
  const fund = die.once(8) ? anyFund(town) : admittedTo(town, holder)
  if (fund === undefined) return
  const held = spare(town, holder, fund.instrumentId)
  const kind = held > 0n && !die.once(3) ? "redemption" : "subscription"
  const payment = fund.marketed && die.once(2) ? "ledger" : "wire"
  const byUnits = kind === "redemption" ? !die.once(4) : die.once(5)
  const units = kind === "redemption" ? held : BigInt(1 + die.roll(900_000_000))
  // An amount that at any price of ours takes fewer units than there are.
  const cents = kind === "redemption" ? held / 20_000n : cashOf(town)
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
    priced: null
  }
  if (payment === "ledger") {
    const size = {
      amount: byUnits ? null : Decimal.of(plain(cents, 2)),
      units: byUnits ? Decimal.of(plain(units, 6)) : null
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
        ? `"units":${plain(ordered ?? 0n, 6)}`
        : `"amount":${plain(amount, 2)}`
  const act = `${kind}.claim`
  const said =
    payment === "ledger"
      ? { orderId: `order-${id}` }
      : amount === null
        ? { units: plain(ordered ?? 0n, 6) }
        : { amount: plain(amount, 2) }
  const asked = {
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
        }
      }
    })
  yield* Precheck.looked(town, asked, People.maker(town, act), acting)
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

/** Bank lines that pay an order: mostly exactly; too little, or a line of another's, now and then. */
const linesOf = (town: Town, cents: bigint): ReadonlyArray<readonly [number, bigint]> => {
  const { bank, die } = town
  const line = () => ++bank.lines
  switch (die.roll(10)) {
    case 0:
      return []
    case 1:
      return cents > 1n ? [[line(), cents - 1n]] : []
    case 2:
      return cents > 1n
        ? [
            [line(), cents / 2n],
            [line(), cents - cents / 2n]
          ]
        : [[line(), cents]]
    case 3:
      return [[1 + die.roll(Math.max(1, bank.lines)), cents]]
    default:
      return [[line(), cents]]
  }
}

/** A line of a bank's statement pays one order, once. */
const pays = (town: Town, order: Order, lines: ReadonlyArray<readonly [number, bigint]>) => () => {
  for (const [line] of lines) {
    const other = town.bank.used.get(String(line))
    B.holds(other === undefined || other === order.id, `line ${line} paid ${other} and ${order.id}`)
    town.bank.used.set(String(line), order.id)
  }
}

const moves = Effect.fnUntraced(function* (town: Town, order: Order, verb: string) {
  const { kind, payment } = order
  const act = `${kind}.${verb}`
  const asked = verb === "deliver" || verb === "settle"
  const paidLater = kind === "subscription" && verb === "settle"
  const lines = asked && payment === "wire" && !paidLater ? linesOf(town, dueOf(order)) : []
  const cash = lines
    .map(([line, cents]) => `{"statementId":"stmt","line":${line},"amount":${plain(cents, 2)}}`)
    .join(",")
  const closes = verb === "settle" && payment === "wire"
  const acting = (by: Caller.Caller) =>
    submit(town, {
      by,
      params: { [`${kind}Id`]: order.id },
      body: asked && payment === "wire" ? `{"cash":[${cash}]}` : "{}",
      act: {
        kind: act,
        asks: asked ? [asksOf(order, closes ? "close" : "exchange")] : [],
        ...(lines.length === 0 ? {} : { succeeds: pays(town, order, lines) })
      }
    })
  const { instrumentId } = order.fund
  const looks = asked && lines.length === 0
  const by = People.maker(town, act)
  const named = { act, instrumentId, [`${kind}Id`]: order.id }
  yield* looks ? Precheck.looked(town, named, by, acting) : acting(by)
})

/** The cash of an order as its price makes it. */
const dueOf = ({ amount, priced }: Order): bigint => priced?.cash ?? amount ?? 0n

const settlesFor = (order: Order) =>
  order.kind === "subscription" ? order.fund.fund : order.holder

/** Cash or units of an order are put in place for the venue to move. */
const lays = Effect.fnUntraced(function* (town: Town, order: Order, what: "cash" | "units") {
  const { fund, holder, kind } = order
  const by = what === "units" || kind === "subscription" ? holder : fund.fund
  const due = what === "units" ? (order.priced?.units ?? 0n) : dueOf(order)
  const amount = what === "units" ? plain(due, 6) : plain(due, 2)
  if (due === 0n) return
  const assetId = what === "units" ? fund.instrumentId : "USD"
  if (what === "cash" && Wallets.free(town, by.party, "USD", amount) === undefined) {
    return yield* Wallets.pays(town, by, due)
  }
  const to = what === "units" ? fund.fund.party : settlesFor(order).party
  yield* Wallets.allocates(town, by, { assetId, amount, to, reference: order.id })
})

const isAllocated = (town: Town, order: Order, assetId: string): boolean =>
  [
    ...town.eye
      .of(
        order.kind === "subscription" || assetId !== "USD"
          ? order.holder.party
          : order.fund.fund.party
      )
      .values()
  ].some(
    (one) =>
      one.entity === "Allocation" &&
      Wallets.member(one, "reference") === order.id &&
      Wallets.assetOf(one) === assetId
  )

/** The point that prices an order, as the oracle has it on the ledger. */
const pointOf = (town: Town, order: Order) => {
  const { cutOffAt, fund } = order
  if (cutOffAt === null) return undefined
  for (const one of town.eye.all("OraclePoint").values()) {
    if (Wallets.member(one, "instrumentId") !== fund.instrumentId) continue
    if (Instant.of(Wallets.member(one, "valuationTime")) === cutOffAt) return one
  }
  return undefined
}

/** The oracle publishes what a day's orders deal at; their cut-off has come, or it waits. */
const publishes = Effect.fnUntraced(function* (town: Town, order: Order) {
  const { cutOffAt, fund } = order
  const now = yield* Instant.now
  // An oracle knows what it has published, whoever sees it when.
  const day = `${fund.instrumentId} ${cutOffAt}`
  if (cutOffAt === null || cutOffAt > now || town.published.has(day)) return
  const par = fund.valuation === "par"
  const price = par ? 10_000n : BigInt(9_000 + town.die.roll(2_000))
  const done = yield* Wallets.act(
    town,
    fund.oracle,
    "publishes",
    Templates.create(Templates.OraclePoint, {
      oracle: fund.oracle.party,
      venue: town.venue,
      fund: fund.fund.party,
      registrar: fund.registrar.party,
      attestors: [fund.attestor.party],
      instrumentId: fund.instrumentId,
      metric: "price",
      value: Decimal.of(plain(price, 4)),
      valuationTime: Instant.fromNanos(cutOffAt),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
  if (done) town.published.add(day)
})

/** The oracle corrects a point of its own. */
export const corrects = Effect.fnUntraced(function* (town: Town) {
  const { die } = town
  const points = [...town.eye.all("OraclePoint").values()]
  const point = points[die.roll(Math.max(1, points.length))]
  const fund = town.funds.find(
    ({ instrumentId }) =>
      point !== undefined && Wallets.member(point, "instrumentId") === instrumentId
  )
  if (point === undefined || fund === undefined || fund.valuation === "par") return
  yield* Wallets.act(
    town,
    fund.oracle,
    "corrects",
    Templates.exercise(Templates.OraclePoint, point.cid, "Correct", {
      value: Decimal.of(plain(BigInt(9_000 + die.roll(2_000)), 4)),
      valuationTime: Instant.of(Wallets.member(point, "valuationTime")),
      period: null,
      withholdingRate: null,
      statementRef: null
    })
  )
})

/** What an order comes to at a price, by the books' own arithmetic. */
const comesTo = (order: Order, price: bigint) => {
  const { amount, fund, kind, ordered } = order
  const feeRate = fund.fees[kind]
  if (kind === "subscription") {
    if (amount !== null) return { units: B.bought(amount, price, feeRate), cash: amount }
    const units = ordered ?? 0n
    return { units, cash: B.costs(units, price, feeRate) }
  }
  if (amount !== null) return { units: B.sold(amount, price, feeRate), cash: amount }
  return { units: ordered ?? 0n, cash: B.paid(ordered ?? 0n, price, feeRate) }
}

const prices = Effect.fnUntraced(function* (town: Town, order: Order, claimCid: string) {
  const point = pointOf(town, order)
  if (point === undefined) return yield* publishes(town, order)
  const text = Wallets.member(point, "value")
  const priced = comesTo(order, parts(text, 10))
  if (priced.units === 0n || priced.cash === 0n) return yield* moves(town, order, "withdraw")
  const { fund, kind } = order
  const price = Decimal.of(text)
  const units = Decimal.of(plain(priced.units, 6))
  const pointCid = point.cid
  const done = yield* kind === "subscription"
    ? Wallets.act(
        town,
        fund.attestor,
        "attests",
        Templates.exercise(Templates.SubscriptionClaim, claimCid, "Attest", {
          attestor: fund.attestor.party,
          pointCid,
          price,
          units
        })
      )
    : Wallets.act(
        town,
        fund.oracle,
        "prices",
        Templates.exercise(Templates.RedemptionClaim, claimCid, "Price", {
          pointCid,
          price,
          units,
          proceeds: Decimal.of(plain(priced.cash, 2))
        })
      )
  if (done) order.priced = priced
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
  const amount = plain(order.priced?.units ?? 0n, 6)
  const holding = Wallets.free(town, holder.party, fund.instrumentId, amount)
  if (holding === undefined) return yield* moves(town, order, "release")
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

/** Where there is no market the registrar is asked for the units, and answers. */
const minted = Effect.fnUntraced(function* (town: Town, order: Order, lot: Contract) {
  const { fund, holder } = order
  const cid = Wallets.member(lot, "mintRequestCid")
  const request = cid === "" ? undefined : town.eye.standing(cid)
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
  const { holder, kind, payment } = order
  if (die.once(16)) {
    return yield* moves(
      town,
      order,
      die.pick(["withdraw", "release", "settle", kind === "subscription" ? "deliver" : "settle"])
    )
  }
  const idMember = `${kind}Id`
  const of = (entity: string) =>
    Wallets.find(town, holder.party, entity, (one) => Wallets.member(one, idMember) === order.id)
  if (kind === "subscription") {
    const claim = of("SubscriptionClaim")
    if (claim !== undefined) return yield* prices(town, order, claim.cid)
    const delivered = of("DeliveredLot")
    if (delivered !== undefined) return yield* minted(town, order, delivered)
    if (payment === "wire") return yield* moves(town, order, "deliver")
    if (!isAllocated(town, order, "USD")) return yield* lays(town, order, "cash")
    return yield* order.cycleId !== null && !die.once(10)
      ? Effect.void
      : moves(town, order, "settle")
  }
  const claim = of("RedemptionClaim")
  if (claim !== undefined) return yield* prices(town, order, claim.cid)
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
  // Whoever lost its key takes nothing more.
  if (holder === undefined || to === undefined || to.told === "succeeded") return
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
  const units = spare(town, holder, fund.instrumentId)
  const amount = plain(units, 6)
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
