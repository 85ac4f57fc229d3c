/**
 * Random histories of dealing: in any order of the parties' acts and with any refusals of the
 * ledger, no asset appears or vanishes, and every unit and cent moves for its order.
 */
import { Decimal, Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import type { Session } from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Dealing from "./dealing.ts"
import * as World from "./world.ts"

interface Step {
  readonly what: (typeof whats)[number]
  readonly who: number
  readonly which: number
  readonly much: number
}

const step = fc.record({
  what: fc.nat(),
  who: fc.nat(2),
  which: fc.nat(20),
  much: fc.integer({ min: 1, max: 400 })
})

/** The live contracts of one template that a party sees. */
const all = <T extends Templates.Template>(session: Session, template: T) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const at = yield* participant.ledgerEnd
    const filter = { templates: [template.typeRef], interfaces: [] }
    const active = yield* Stream.runCollect(session.acs({ at, filter }))
    return active.map(({ contractId, payload }) => {
      const read = Templates.decodePayload(template, payload)
      if (read._tag === "Failure") throw read.failure
      return { contractId, payload: read.success }
    })
  })

/** The step finds no contract to act on. */
const nothing = Effect.fail("nothing")

const pick = <A>(items: ReadonlyArray<A>, { which }: Step): A | undefined =>
  items[which % items.length]

type Act = (
  floor: Dealing.Floor,
  step: Step,
  name: string
) => Effect.Effect<unknown, unknown, SimulatedLedger.Participant>

const cashOf = (lots: ReadonlyArray<Templates.Payload<typeof Templates.Lot>>) =>
  Decimal.sum(lots.map(({ cash }) => cash ?? Decimal.zero))

/** The largest free holding of an asset, which may still be too small. */
const free = (session: Session, asset: Templates.Asset) =>
  Effect.map(
    Dealing.holdingsOf(session),
    (found) =>
      found
        .filter(
          ({ lock, instrument }) =>
            lock === null && instrument.id === asset.id && instrument.admin === asset.admin
        )
        .toSorted((a, b) => Decimal.compare(b.amount, a.amount))[0]?.contractId ?? "00"
  )

const allocationFor = (floor: Dealing.Floor, reference: string, asset: Templates.Asset) =>
  Effect.map(
    all(floor.sessionOf("venue"), Templates.Allocation),
    (found) =>
      found.find(
        ({ payload }) => payload.reference === reference && payload.instrument.id === asset.id
      )?.contractId ?? null
  )

const hintOf = (floor: Dealing.Floor, party: string): Dealing.Hint =>
  Dealing.hints.find((hint) => floor.sessionOf(hint).party === party) ?? "bank"

const put = (
  floor: Dealing.Floor,
  by: { readonly owner: Dealing.Hint; readonly to: Dealing.Hint; readonly reference: string },
  asset: Templates.Asset,
  amount: Decimal.Decimal
) =>
  Effect.flatMap(free(floor.sessionOf(by.owner), asset), (holding) =>
    Dealing.allocate(floor, { ...by, holding, amount: Decimal.formatPlain(amount) })
  )

const openCycleOf = (floor: Dealing.Floor, { much }: Step) =>
  Effect.map(all(floor.sessionOf("venue"), Templates.DealingCycle), (cycles) =>
    much % 2 === 0 ? (cycles[0]?.contractId ?? null) : null
  )

/** Of every other order whole units, so that some of its cash buys none. */
const unitsOf = (cash: Decimal.Decimal, { much }: Step) =>
  Decimal.formatPlain(
    Decimal.divideRounded(cash, Dealing.price, {
      places: much % 2 === 0 ? 0 : 6,
      rounding: "floor"
    })
  )

/** The whole cents that a lot's units leave of its cash. */
const changeOf = ({ cash, units, price }: Templates.Payload<typeof Templates.Lot>) => {
  const cost = Decimal.multiplyRounded(units, price, { places: 2, rounding: "ceiling" })
  return Decimal.subtract(cash ?? cost, cost)
}
const proceedsOf = (units: Decimal.Decimal) =>
  Decimal.multiplyRounded(units, Dealing.price, { places: 2, rounding: "floor" })

/** Arguments of a lot or a redemption for a settlement: allocation, credential and refund. */
const lotReady = (floor: Dealing.Floor, lot: Templates.Payload<typeof Templates.Lot>) =>
  Effect.map(allocationFor(floor, lot.subscriptionId, floor.cash), (allocationCid) => {
    const holder = hintOf(floor, lot.holder)
    const credentialCid =
      holder === "alice" || holder === "bob" || holder === "carol" ? floor.credentials[holder] : ""
    const change = changeOf(lot)
    const refund = Decimal.isPositive(change) ? change : null
    return { allocationCid, credentialCid, configurationCid: null, intentCid: null, refund }
  })

/** A part of it, for a third of the redemptions. */
const fillOf = (redemption: Templates.Payload<typeof Templates.PricedRedemption>, name: string) => {
  if ((Decimal.atoms(redemption.units) / Decimal.atoms(Decimal.one)) % 3n !== 0n) return null
  const units = Decimal.divideRounded(redemption.units, Decimal.of("3"), {
    places: 6,
    rounding: "floor"
  })
  const proceeds = proceedsOf(units)
  return {
    units,
    proceeds,
    remainderId: `${name}-rest`,
    cutOffAt: Dealing.farDeadline,
    cycleCid: null
  }
}

const acts = {
  subscribe: (floor, step, name) =>
    Effect.gen(function* () {
      const holder = Dealing.holders[step.who] ?? "alice"
      const cycleCid = yield* openCycleOf(floor, step)
      return yield* Dealing.subscribe(floor, { holder, id: name, amount: `${step.much}`, cycleCid })
    }),
  attest: (floor, step) =>
    Effect.gen(function* () {
      const claim = pick(yield* all(floor.sessionOf("venue"), Templates.SubscriptionClaim), step)
      if (claim === undefined) return yield* nothing
      yield* Dealing.attest(
        floor,
        claim.contractId,
        unitsOf(claim.payload.cash ?? Decimal.one, step)
      )
    }),
  pay: (floor, step) =>
    Effect.gen(function* () {
      const lot = pick(yield* all(floor.sessionOf("venue"), Templates.Lot), step)
      if (lot === undefined) return yield* nothing
      const by = {
        owner: hintOf(floor, lot.payload.holder),
        to: "fund",
        reference: lot.payload.subscriptionId
      } as const
      yield* put(floor, by, floor.cash, lot.payload.cash ?? Decimal.one)
    }),
  settleLot: (floor, step) =>
    Effect.gen(function* () {
      const lot = pick(yield* all(floor.sessionOf("venue"), Templates.Lot), step)
      if (lot === undefined) return yield* nothing
      const { allocationCid, ...ready } = yield* lotReady(floor, lot.payload)
      yield* World.act(
        floor.sessionOf("venue"),
        Templates.exercise(Templates.Lot, lot.contractId, "Settle", {
          ...ready,
          marketCid: floor.market,
          allocationCid: allocationCid ?? "00"
        })
      )
    }),
  redeem: (floor, step, name) =>
    Effect.gen(function* () {
      const holder = Dealing.holders[step.who] ?? "alice"
      const cycleCid = yield* openCycleOf(floor, step)
      return yield* Dealing.redeem(floor, { holder, id: name, units: `${step.much}.5`, cycleCid })
    }),
  price: (floor, step) =>
    Effect.gen(function* () {
      const claim = pick(yield* all(floor.sessionOf("venue"), Templates.RedemptionClaim), step)
      if (claim === undefined) return yield* nothing
      const units = claim.payload.orderedUnits ?? Decimal.one
      yield* Dealing.priceAt(floor, claim.contractId, {
        units: Decimal.formatPlain(units),
        proceeds: Decimal.formatPlain(proceedsOf(units))
      })
    }),
  handOver: (floor, step) =>
    Effect.gen(function* () {
      const redemption = pick(
        yield* all(floor.sessionOf("venue"), Templates.PricedRedemption),
        step
      )
      if (redemption === undefined) return yield* nothing
      const { holder, units, redemptionId } = redemption.payload
      const by = { owner: hintOf(floor, holder), to: "fund", reference: redemptionId } as const
      yield* put(floor, by, floor.instrument, units)
    }),
  fund: (floor, step, name) =>
    Effect.gen(function* () {
      const redemption = pick(
        yield* all(floor.sessionOf("venue"), Templates.PricedRedemption),
        step
      )
      if (redemption === undefined) return yield* nothing
      const { holder, redemptionId, proceeds } = redemption.payload
      const by = { owner: "fund", to: hintOf(floor, holder), reference: redemptionId } as const
      const part = fillOf(redemption.payload, name)
      yield* put(floor, by, floor.cash, part?.proceeds ?? proceeds)
    }),
  settleRedemption: (floor, step, name) =>
    Effect.gen(function* () {
      const ready = yield* Effect.forEach(
        yield* all(floor.sessionOf("venue"), Templates.PricedRedemption),
        ({ contractId, payload }) =>
          Effect.gen(function* () {
            const { redemptionId } = payload
            return {
              redemptionCid: contractId,
              unitsAllocationCid: yield* allocationFor(floor, redemptionId, floor.instrument),
              allocationCid: yield* allocationFor(floor, redemptionId, floor.cash),
              fill: fillOf(payload, name)
            }
          })
      )
      const inPlace = ready.filter(
        ({ unitsAllocationCid, allocationCid }) =>
          unitsAllocationCid !== null && allocationCid !== null
      )
      const chosen = pick(inPlace.length === 0 ? ready : inPlace, step)
      if (chosen === undefined) return yield* nothing
      const { redemptionCid, ...handed } = chosen
      yield* World.act(
        floor.sessionOf("venue"),
        Templates.exercise(Templates.PricedRedemption, redemptionCid, "Settle", {
          ...handed,
          marketCid: floor.market,
          holdingCids: [],
          intentCid: null,
          evidence: null
        })
      )
    }),
  release: (floor, step) =>
    Effect.gen(function* () {
      const redemption = pick(
        yield* all(floor.sessionOf("venue"), Templates.PricedRedemption),
        step
      )
      if (redemption === undefined) return yield* nothing
      const { redemptionId } = redemption.payload
      yield* World.act(
        floor.sessionOf("venue"),
        Templates.exercise(Templates.PricedRedemption, redemption.contractId, "Release", {
          unitsAllocationCid: yield* allocationFor(floor, redemptionId, floor.instrument),
          allocationCid: yield* allocationFor(floor, redemptionId, floor.cash),
          intentCid: null
        })
      )
    }),
  open: (floor, _, name) => Dealing.openCycle(floor, name),
  settleCycle: (floor, _, name) =>
    Effect.gen(function* () {
      const venue = floor.sessionOf("venue")
      const [cycle] = yield* all(venue, Templates.DealingCycle)
      if (cycle === undefined) return yield* nothing
      const { cycleId } = cycle.payload
      const mine = <A extends { readonly payload: { readonly cycleId: string | null } }>(one: A) =>
        one.payload.cycleId === cycleId
      const lots = (yield* all(venue, Templates.Lot)).filter(mine)
      const redemptions = (yield* all(venue, Templates.PricedRedemption)).filter(mine)
      const readyLots = yield* Effect.forEach(lots, ({ contractId, payload }) =>
        Effect.map(lotReady(floor, payload), (ready) => ({ lotCid: contractId, ...ready, payload }))
      )
      const paid = readyLots.flatMap(({ allocationCid, ...rest }) =>
        allocationCid === null ? [] : [{ ...rest, allocationCid }]
      )
      const readyRedemptions = yield* Effect.forEach(redemptions, ({ contractId, payload }) =>
        Effect.gen(function* () {
          return {
            redemptionCid: contractId,
            unitsAllocationCid: yield* allocationFor(floor, payload.redemptionId, floor.instrument),
            allocationCid: yield* allocationFor(floor, payload.redemptionId, floor.cash),
            intentCid: null,
            fill: fillOf(payload, `${name}-${payload.redemptionId}`),
            payload
          }
        })
      )
      const handed = readyRedemptions.flatMap(({ unitsAllocationCid, ...rest }) =>
        unitsAllocationCid === null ? [] : [{ ...rest, unitsAllocationCid }]
      )
      const taken = Decimal.sum(handed.map(({ fill, payload }) => (fill ?? payload).proceeds))
      const refunds = Decimal.sum(paid.map(({ refund }) => refund ?? Decimal.zero))
      const brought = Decimal.subtract(cashOf(paid.map(({ payload }) => payload)), refunds)
      const net = Decimal.subtract(taken, brought)
      const own = Decimal.isPositive(net)
        ? [yield* put(floor, { owner: "fund", to: "fund", reference: cycleId }, floor.cash, net)]
        : []
      yield* World.act(
        venue,
        Templates.exercise(Templates.DealingCycle, cycle.contractId, "Settle", {
          marketCid: floor.market,
          lots: paid.map(({ payload: _, ...lot }) => lot),
          redemptions: handed.map(({ payload: _, ...redemption }) => redemption),
          allocations: own,
          provision: null
        })
      )
    }),
  burn: (floor, step, name) =>
    Effect.gen(function* () {
      const holder = Dealing.holders[step.who] ?? "alice"
      const source = yield* free(floor.sessionOf(holder), floor.instrument)
      const request = yield* World.make(
        floor.sessionOf(holder),
        "BurnRequest",
        Templates.exercise(Templates.Holding, source, "RequestBurn", {
          amount: Decimal.of(`${step.much}`),
          reference: { kind: "redemption", id: name },
          custodian: null,
          executeBefore: Dealing.farDeadline
        })
      )
      const choice = step.much % 2 === 0 ? "Accept" : "Reject"
      const answer = Templates.exercise(Templates.BurnRequest, request, choice, {})
      yield* World.act(floor.sessionOf("registrar"), answer)
    })
} satisfies { readonly [name: string]: Act }

const whats = [
  "subscribe",
  "attest",
  "pay",
  "settleLot",
  "redeem",
  "price",
  "handOver",
  "fund",
  "settleRedemption",
  "release",
  "open",
  "settleCycle",
  "burn"
] as const satisfies ReadonlyArray<keyof typeof acts>

/** Later acts of an order's life are drawn more often, so that they happen at all. */
const drawn = [...whats, "attest", "price", "handOver", "handOver", "fund", "fund", "pay"] as const

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  step.map((one) => ({ ...one, what: drawn[one.what % drawn.length] ?? "open" })),
  { minLength: 60, maxLength: 110 }
)

interface Played {
  readonly floor: Dealing.Floor
  readonly done: ReadonlyArray<string>
}

/** Plays a script; every party begins with assets, and many of the acts are refused. */
const play = (script: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const floor = yield* Dealing.floor
    for (const holder of Dealing.holders) {
      yield* Dealing.give(floor, holder, "1000")
      yield* Dealing.mint(floor, holder, "1000")
    }
    yield* Dealing.give(floor, "fund", "1000")
    const done: Array<string> = []
    for (const [index, one] of script.entries()) {
      const act = acts[one.what]
      const outcome = yield* Effect.result(act(floor, one, `n${index}`))
      if (outcome._tag === "Success") done.push(one.what)
    }
    return { floor, done } satisfies Played
  })

const nodesOf = (session: Session) =>
  Effect.gen(function* () {
    const participant = yield* SimulatedLedger.Participant
    const through = yield* participant.ledgerEnd
    const updates = yield* Stream.runCollect(
      session.updates({ after: Offset.zero, through, filter: World.everything })
    )
    return updates.flatMap((update) => (update._tag === "Transaction" ? update.events : []))
  })

const amountOf = (payload: Ledger.LfRecord, name: string): Decimal.Decimal => {
  const amount = payload[name]
  return typeof amount === "string" ? Decimal.of(amount) : Decimal.zero
}

const receivedIn = (argument: Ledger.LfValue): Decimal.Decimal => {
  const read = Templates.decodeArgument(Templates.Credential, "Receive", argument)
  if (read._tag === "Failure") throw read.failure
  return read.success.amount
}

const refundIn = (argument: Ledger.LfValue): Decimal.Decimal => {
  const read = Templates.decodeArgument(Templates.Lot, "Settle", argument)
  if (read._tag === "Failure") throw read.failure
  return read.success.refund ?? Decimal.zero
}

/** Payload of every contract that the transactions created, by its id. */
const saidBy = (nodes: ReadonlyArray<Ledger.Created | Ledger.Exercised>) =>
  new Map(
    nodes.flatMap((node) => (node._tag === "Created" ? [[node.contractId, node.payload]] : []))
  )

const held = (played: Played, asset: Templates.Asset) =>
  Effect.map(
    Effect.forEach(Dealing.hints, (hint) => Dealing.balance(played.floor.sessionOf(hint), asset)),
    (balances) => Decimal.formatPlain(Decimal.sum(balances.map(Decimal.of)))
  )

const run = <A, E>(effect: Effect.Effect<A, E, SimulatedLedger.Participant>): Promise<A> =>
  Effect.runPromise(
    effect.pipe(
      Effect.provide(SimulatedLedger.layerMemory(World.options)),
      Effect.provide(TestClock.layer())
    )
  )

const law = (
  holds: (played: Played) => Effect.Effect<void, unknown, SimulatedLedger.Participant>
) =>
  fc.assert(
    fc.asyncProperty(steps, (script) => run(Effect.flatMap(play(script), holds))),
    { numRuns: 25 }
  )

describe("after any history of orders, cycles, burns and releases", () => {
  it("neither makes nor loses cash", () =>
    law((played) =>
      Effect.map(held(played, played.floor.cash), (sum) => {
        expect(sum).toBe("4000")
      })
    ))

  it("has the units that were minted and not burned", () =>
    law((played) =>
      Effect.gen(function* () {
        const { floor } = played
        const nodes = yield* nodesOf(floor.sessionOf("registrar"))
        const said = saidBy(nodes)
        const exercised = nodes.filter((node) => node._tag === "Exercised")
        const minted = exercised
          .filter(({ choice }) => choice === "Receive")
          .map(({ contractId }) => contractId)
        expect(minted.length).toBeGreaterThanOrEqual(3)
        const received = Decimal.sum(
          exercised.flatMap(({ choice, arg }) => (choice === "Receive" ? [receivedIn(arg)] : []))
        )
        const burned = Decimal.sum(
          exercised
            .filter(({ choice }) => choice === "Burn")
            .map(({ contractId }) => amountOf(said.get(contractId) ?? {}, "amount"))
        )
        expect(yield* held(played, floor.instrument)).toBe(
          Decimal.formatPlain(Decimal.subtract(received, burned))
        )
      })
    ))

  it("a holder has what it began with, less what its units cost and with what they brought", () =>
    law((played) =>
      Effect.gen(function* () {
        const { floor } = played
        for (const holder of Dealing.holders) {
          const { party } = floor.sessionOf(holder)
          const nodes = yield* nodesOf(floor.sessionOf(holder))
          const said = saidBy(nodes)
          let cash = Decimal.of("1000")
          for (const node of nodes) {
            if (node._tag !== "Exercised" || node.choice !== "Settle") continue
            const payload = said.get(node.contractId) ?? {}
            if (payload["holder"] !== party) continue
            if (node.template.entity === "Lot") {
              const paid = Decimal.subtract(amountOf(payload, "cash"), refundIn(node.arg))
              cash = Decimal.subtract(cash, paid)
            }
            if (node.template.entity !== "PricedRedemption") continue
            const read = Templates.decodeArgument(Templates.PricedRedemption, "Settle", node.arg)
            if (read._tag === "Failure") throw read.failure
            cash = Decimal.add(cash, read.success.fill?.proceeds ?? amountOf(payload, "proceeds"))
          }
          expect(yield* Dealing.balance(floor.sessionOf(holder), floor.cash)).toBe(
            Decimal.formatPlain(cash)
          )
        }
      })
    ))

  it("leaves the fund the cash that its lots brought and its redemptions left", () =>
    law((played) =>
      Effect.gen(function* () {
        const { floor } = played
        const nodes = yield* nodesOf(floor.sessionOf("fund"))
        const said = saidBy(nodes)
        let cash = Decimal.of("1000")
        for (const node of nodes) {
          if (node._tag !== "Exercised" || node.choice !== "Settle") continue
          const payload = said.get(node.contractId) ?? {}
          if (node.template.entity === "Lot") {
            cash = Decimal.subtract(
              Decimal.add(cash, amountOf(payload, "cash")),
              refundIn(node.arg)
            )
          }
          if (node.template.entity !== "PricedRedemption") continue
          const read = Templates.decodeArgument(Templates.PricedRedemption, "Settle", node.arg)
          if (read._tag === "Failure") throw read.failure
          const { fill } = read.success
          cash = Decimal.subtract(cash, fill?.proceeds ?? amountOf(payload, "proceeds"))
        }
        expect(yield* Dealing.balance(floor.sessionOf("fund"), floor.cash)).toBe(
          Decimal.formatPlain(cash)
        )
      })
    ))

  it("these histories do enough to prove something", async () => {
    const done = new Map<string, number>()
    let refunds = 0
    const refundsIn = ({ floor }: Played) =>
      Effect.map(
        nodesOf(floor.sessionOf("fund")),
        (nodes) =>
          nodes.filter(
            (node) =>
              node._tag === "Exercised" &&
              node.template.entity === "Lot" &&
              node.choice === "Settle" &&
              Decimal.isPositive(refundIn(node.arg))
          ).length
      )
    for (const script of fc.sample(steps, { numRuns: 25, seed: 11 })) {
      const played = Effect.flatMap(play(script), (all) =>
        Effect.map(refundsIn(all), (found) => ({ ...all, found }))
      )
      const { done: these, found } = await run(played)
      refunds += found
      for (const what of these) done.set(what, (done.get(what) ?? 0) + 1)
    }
    for (const what of whats) expect(done.get(what) ?? 0, what).toBeGreaterThan(5)
    expect(refunds).toBeGreaterThan(5)
  })
})
