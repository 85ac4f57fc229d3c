/** A town by chance: seeded, by a clock of its own, with faults and deaths; everything it does is audited. */
import { Engine, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { instruments } from "../../../packages/engine-core/src/instruments/instrument/Instrument.ts"
import * as Calls from "../../engine/calls.ts"
import { bodyOf } from "../../operations/instrumentBody.ts"
import * as Stage from "../../operations/stage.ts"
import { holds } from "../books.ts"
import * as Faults from "../faults.ts"
import * as Audit from "./audit.ts"
import * as Cycles from "./cycles.ts"
import * as Powers from "./powers.ts"
import * as Controls from "./controls.ts"
import * as Eye from "./eye.ts"
import { chain, plain } from "./figures.ts"
import * as Happenings from "./happenings.ts"
import * as Joining from "./joining.ts"
import { Model, type Window } from "./model.ts"
import * as Last from "./last.ts"
import * as Orders from "./orders.ts"
import * as People from "./people.ts"
import * as Town from "./town.ts"
import * as Wallets from "./wallets.ts"
import * as World from "./world.ts"

const start = "2026-07-31T12:00:00Z"

interface Founding {
  readonly instrumentId: string
  readonly valuation: "accumulating" | "par"
  readonly marketed: boolean
  readonly fees: { readonly subscription: bigint; readonly redemption: bigint }
}

const foundings: ReadonlyArray<Founding> = [
  {
    instrumentId: "fund-a",
    valuation: "accumulating",
    marketed: true,
    fees: { subscription: 50n, redemption: 35n }
  },
  {
    instrumentId: "fund-b",
    valuation: "accumulating",
    marketed: false,
    fees: { subscription: 0n, redemption: 0n }
  },
  {
    instrumentId: "fund-p",
    valuation: "par",
    marketed: true,
    fees: { subscription: 0n, redemption: 0n }
  }
]

/** Issuer and registrar agree the powers over an instrument from the start. */
const empowers = Effect.fnUntraced(function* (
  town: Town.Town,
  of: { readonly instrumentId: string; readonly fund: Town.Wallet; readonly registrar: Town.Wallet }
) {
  const { fund, instrumentId, registrar } = of
  const powers = ["force-transfer", "recover"]
  const asked = { issuer: fund.party, powers, consentRevocable: true }
  yield* Stage.write("issuer-powers-agreement.propose", { instrumentId }, asked)
  for (const side of [fund, registrar]) {
    const { cid } = yield* Stage.standing(Templates.IssuerPowersAgreementProposal)
    const said = Templates.exercise(Templates.IssuerPowersAgreementProposal, cid, "Accept", {
      party: side.party
    })
    yield* Wallets.act(town, side, "agrees", said)
    yield* Stage.settle
  }
})

/** An instrument is recorded, configured, agreed and, where it has one, given a market. */
const founds = Effect.fnUntraced(function* (town: Town.Town, of: Founding) {
  const { instrumentId, marketed } = of
  const bank = town.bankParty
  const [registrar, fund, oracle, attestor] = yield* Effect.forEach(
    ["registrar", "fund", "oracle", "attestor"],
    (name) => Wallets.party(`${name}-${instrumentId}`)
  )
  if (!registrar || !fund || !oracle || !attestor) throw new Error("no parties")
  const rate = (tenThousandths: bigint) => Number(plain(tenThousandths, 4))
  yield* Stage.write(
    "instrument.record",
    {},
    {
      ...bodyOf(),
      instrumentId,
      valuation: of.valuation,
      registrar: registrar.party,
      oracle: oracle.party,
      holderCap: 250,
      fees: { subscription: rate(of.fees.subscription), redemption: rate(of.fees.redemption) }
    }
  )
  const instrument = { admin: registrar.party, id: instrumentId }
  yield* Wallets.act(
    town,
    registrar,
    "configures",
    Templates.create(Templates.InstrumentConfiguration, {
      registrar: registrar.party,
      provider: town.venue,
      issuer: fund.party,
      instrument,
      defaultIdentifier: { source: "venue", id: instrumentId, scheme: "internal" },
      additionalIdentifiers: [],
      holderRequirements: [],
      issuerRequirements: []
    })
  )
  yield* Stage.settle
  const asked = { fund: fund.party, terms: "consent" }
  yield* Stage.write("admission-consent.propose", { instrumentId }, asked)
  const proposal = yield* Stage.standing(Templates.AdmissionConsentProposal)
  const accepts = Templates.exercise(Templates.AdmissionConsentProposal, proposal.cid, "Accept", {})
  yield* Wallets.act(town, registrar, "agrees", accepts)
  yield* Stage.settle
  if (marketed) {
    yield* Stage.write(
      "primary-market.propose",
      { instrumentId },
      {
        fund: fund.party,
        paymentAsset: { admin: bank.party, id: "USD" },
        terms: { attestors: [attestor.party], required: 1 }
      }
    )
    for (const side of [fund, registrar]) {
      const { cid } = yield* Stage.standing(Templates.PrimaryMarketProposal)
      const said = Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", {
        party: side.party
      })
      yield* Wallets.act(town, side, "agrees", said)
      yield* Stage.settle
    }
  }
  // Without a market the venue needs somebody to attest: its oracle does.
  const attests = marketed ? attestor : oracle
  if (marketed) yield* empowers(town, { instrumentId, fund, registrar })
  return { ...of, registrar, fund, oracle, attestor: attests, bank } satisfies Town.Fund
})

/** Seconds, or hours now and then; what falls due has its turn. */
const passes = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const seconds = die.pick([1, 1, 2, 5, 20, 60, 600])
  const jump = die.once(6) ? die.pick([3_600, 4 * 3_600, 8 * 3_600, 24 * 3_600]) : 0
  Town.tell(town, `the clock moves ${seconds + jump} seconds`)
  yield* TestClock.adjust((seconds + jump) * 1_000)
  if (seconds < 60 && jump === 0) return
  yield* Town.turns
})

const breaks = (town: Town.Town) =>
  Effect.sync(() => {
    const plan = town.die.once(2) ? {} : Faults.plan(town.die)
    Town.tell(town, `faults ${JSON.stringify(plan)}`)
    Town.note(town, "faults")
    town.faults.replace(plan)
  })

/** An instance takes the work up and dies over one of its calls; half of the time nobody else was there. */
const dies = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const death = { at: 1 + die.roll(25), side: die.pick(["before", "after"] as const) }
  Town.tell(town, `an instance dies ${death.side} call ${death.at}`)
  const engine = yield* Town.instance(town, death)
  yield* Effect.exit(
    Effect.provideContext(
      Effect.flatMap(Engine.Engine, ({ settle }) => settle),
      engine
    )
  )
  town.kills += 1
  if (die.once(2)) town.engine = yield* Town.instance(town)
})

/** Another window or other limits for an instrument's orders. */
const sets = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const fund = Joining.anyFund(town)
  const { instrumentId } = fund
  const now = Number((yield* Instant.now) / 1_000_000n)
  const instrument = yield* Effect.flatMap(Records, (records) =>
    records.get(instruments, instrumentId)
  )
  const opensAt = die.once(4) ? now + die.pick([60_000, 3_600_000]) : null
  const closesAt = die.once(3) ? now + die.pick([60_000, 3_600_000, 86_400_000]) : null
  const at = (millis: number | null) => (millis === null ? {} : new Date(millis).toISOString())
  const window: Window = {
    instrumentId,
    opensAt,
    closesAt,
    span: {
      maybeFrom: Number.POSITIVE_INFINITY,
      from: Number.POSITIVE_INFINITY,
      maybeUntil: Number.POSITIVE_INFINITY,
      until: Number.POSITIVE_INFINITY
    }
  }
  const rate = (tenThousandths: bigint) => Number(plain(tenThousandths, 4))
  const kind = "policy.set"
  yield* Town.submit(town, {
    by: People.maker(town, kind),
    params: { instrumentId },
    ifMatch: String(die.once(12) ? 1 : (instrument.policyVersion ?? 0)),
    body: {
      window: {
        ...(opensAt === null ? {} : { opensAt: at(opensAt) }),
        ...(closesAt === null ? {} : { closesAt: at(closesAt) })
      },
      limits: die.once(3) ? { maxSubscription: 40_000 } : {},
      fees: { subscription: rate(fund.fees.subscription), redemption: rate(fund.fees.redemption) }
    },
    act: {
      kind,
      asks: [],
      approved: () => {
        window.span.maybeFrom = town.step
        town.model.windows.push(window)
      },
      succeeds: () => {
        for (const one of town.model.windows) {
          if (
            one.instrumentId === instrumentId &&
            one !== window &&
            one.span.maybeFrom < town.step
          ) {
            one.span.until = Math.min(one.span.until, town.step)
          }
        }
      },
      fails: () => {
        window.span.until = -1
      }
    }
  })
})

type Doing = (town: Town.Town) => Effect.Effect<unknown, unknown, Town.Services | World.Ports>

/** A holder does what has come to its wallet, or moves its units by itself. */
const walks: Doing = (town) => {
  const holder = Joining.anyHolder(town)
  if (holder === undefined) return Joining.onboards(town)
  const answered = Effect.flatMap(Joining.answers(town, holder), (done) =>
    done ? Effect.succeed(true) : Powers.consents(town, holder)
  )
  return Effect.flatMap(answered, (done) =>
    done ? Effect.void : town.die.once(12) ? Orders.gives(town) : Orders.places(town, holder)
  )
}

/** Somebody who has units, on its own way out. */
const sells: Doing = (town) => {
  const holder = Powers.owner(town)
  return holder === undefined ? Effect.void : Orders.places(town, holder)
}

/** What may happen, and how often of a thousand. */
const doings: ReadonlyArray<readonly [number, Doing]> = [
  [60, Joining.onboards],
  [240, walks],
  [60, (town) => Joining.countersigns(town)],
  [25, (town) => Joining.offers(town)],
  [4, Joining.withdraws],
  [10, Joining.describes],
  [4, (town) => Joining.names(town)],
  [2, Joining.closes],
  [40, Orders.takesUp],
  [320, Orders.goesOn],
  [4, Orders.corrects],
  [10, (town) => Controls.restricts(town)],
  [2, Controls.restrictsMany],
  [25, Controls.lifts],
  [2, Controls.pauses],
  [10, Controls.releases],
  [20, Cycles.goesOn],
  [12, Powers.agrees],
  [30, Powers.asksConsent],
  [14, Powers.forces],
  [6, (town) => Powers.recovers(town)],
  [50, Powers.follows],
  [20, sells],
  [110, Controls.decides],
  [5, sets],
  [60, passes],
  [16, breaks],
  [6, dies]
]
const total = doings.reduce((sum, [weight]) => sum + weight, 0)

const draws = (town: Town.Town): Doing => {
  let at = town.die.roll(total)
  for (const [weight, doing] of doings) {
    at -= weight
    if (at < 0) return doing
  }
  throw new Error("nothing to do")
}

/** One act: where there was nothing to do after all, another one is drawn. */
const does = Effect.fnUntraced(function* (town: Town.Town) {
  const before = town.said.head()
  for (let tries = 0; tries < 20 && town.said.head() === before; tries++) yield* draws(town)(town)
})

export interface Options {
  readonly seed: number
  readonly steps: number
  readonly trace?: boolean
}

export interface Summary {
  readonly seed: number
  readonly steps: number
  /** The same for the same seed and steps: everything that was done and answered, in order. */
  readonly transcript: string
  readonly holders: number
  readonly transactions: number
  readonly kills: number
  readonly seen: Readonly<Record<string, number>>
}

const settled = Effect.fnUntraced(function* (town: Town.Town, happenings: Happenings.Happenings) {
  town.faults.replace({})
  for (let round = 0; round < 400; round++) {
    yield* Town.work(town)
    yield* town.eye.look(town.step)
    yield* happenings.hear(town)
    if (town.pending.size === 0 && town.level === town.step && round > 2) return
    yield* TestClock.adjust("10 seconds")
    yield* Town.turns
  }
  throw new Error(`audit: ${[...town.pending.keys()].join(" ")} have not ended`)
})

/** How often everything is looked at whole. */
const auditEvery = 250

const story = Effect.fnUntraced(function* (
  of: Options,
  faults: SimulatedLedger.Faults.Faults,
  source: { current: (holderId: string) => World.Finding }
) {
  yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(start)))
  const participant = yield* SimulatedLedger.Participant
  const venue = (yield* participant.admin.parties).find(({ hint }) => hint === "venue")?.party
  if (venue === undefined) throw new Error("no venue")
  const bankParty = yield* Wallets.party("bank")
  const registrars = foundings.map(({ instrumentId }) =>
    SimulatedLedger.Identifiers.party({
      hint: `registrar-${instrumentId}`,
      publicKey: World.keyOf(`registrar-${instrumentId}`)
    })
  )
  const eye = Eye.make([venue, bankParty.party, ...registrars])
  const model = new Model(eye)
  const scope = yield* Effect.scope
  const die = Faults.dice(of.seed)
  const engine = yield* Town.instance({ scope })
  const funds: Array<Town.Fund> = []
  const town: Town.Town = {
    die,
    faults,
    eye,
    model,
    source: { listVersion: "1", say: (holderId) => source.current(holderId) },
    funds,
    venue,
    bankParty,
    holders: [],
    byParty: new Map(),
    byId: new Map(),
    seen: new Map(),
    said: chain(),
    recent: [],
    pending: new Map(),
    awaiting: [],
    orders: new Map(),
    signed: [],
    burned: new Set(),
    burnt: new Set(),
    published: new Set(),
    requested: new Set(),
    cycles: new Map(),
    bank: { lines: 0, used: new Map() },
    ended: new Map(),
    scope,
    trace: of.trace ?? false,
    engine,
    step: 0,
    level: 0,
    count: 0,
    kills: 0
  }
  const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Town.within(town, effect)
  for (const founding of foundings) funds.push(yield* run(founds(town, founding)))
  for (const { instrumentId } of funds) {
    const span = { maybeFrom: 0, from: 0, maybeUntil: Infinity, until: Infinity }
    model.windows.push({ instrumentId, opensAt: null, closesAt: null, span })
  }
  yield* eye.look(0)
  const happenings = Happenings.make()
  eye.hears(Powers.watches(town))
  eye.hears(({ choice, contract, entity }) => {
    if (entity !== "MintRequest" || choice !== "Accept" || contract === undefined) return
    town.requested.add(String(contract.payload["holder"]))
  })
  // What founded the town is nobody's to audit.
  yield* run(happenings.skip)
  source.current = (holderId) => {
    const found = die.once(12)
      ? die.pick(["nothing-yet", "possible", "confirmed"] as const)
      : ("none" as const)
    if (found !== "nothing-yet") {
      model.answered(holderId, { step: town.step, isClear: found === "none" })
      Town.note(town, `screened ${found}`)
    }
    Town.tell(town, `${holderId} is screened: ${found}`)
    return found
  }
  const oneStep = Effect.gen(function* () {
    yield* does(town)
    if (!die.once(4)) yield* Town.work(town)
    yield* eye.look(town.step)
    yield* happenings.hear(town)
    if (town.step % auditEvery !== 0) return
    yield* settled(town, happenings)
    yield* Audit.whole(town)
  })
  for (town.step = 1; town.step <= of.steps; town.step++) {
    yield* run(oneStep).pipe(Effect.catchCause((cause) => Effect.die(finding(town, of, cause))))
  }
  yield* run(
    Effect.gen(function* () {
      yield* settled(town, happenings)
      yield* Audit.whole(town)
      yield* Last.audit(town)
    })
  ).pipe(Effect.catchCause((cause) => Effect.die(finding(town, of, cause))))
  return {
    seed: of.seed,
    steps: of.steps,
    transcript: town.said.head(),
    holders: town.holders.length,
    transactions: eye.transactions(),
    kills: town.kills,
    seen: Object.fromEntries([...town.seen].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  } satisfies Summary
})

/** What went wrong, what happened before, and how to see it again. */
const finding = (town: Town.Town, of: Options, cause: unknown) =>
  new Error(
    [
      `seed ${of.seed}, step ${town.step}: ${String(cause)}`,
      ...town.recent,
      `again: npm run sim -- --seed ${of.seed} --steps ${town.step} --trace`
    ].join("\n")
  )

/** Walks so many steps by the seed; dies with what the audit found. A step is one act of one person or party, or one move of the clock, a fault or a death. */
export const walk = (of: Options) => {
  const faults = SimulatedLedger.Faults.make()
  const source: { current: (holderId: string) => World.Finding } = { current: () => "none" }
  const told: World.Source = { listVersion: "1", say: (holderId) => source.current(holderId) }
  return story(of, faults, source).pipe(
    Effect.provide(Layer.fresh(World.ports({ seed: of.seed, faults, source: told })))
  )
}

export const play = (of: Options): Promise<Summary> => Calls.runCase(walk(of))
export { holds }
