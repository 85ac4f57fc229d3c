/** Draws and plays one random step of a town: an act of a person, a move of the clock, a fault or the death of a process. */
import { Engine, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import * as Faults from "../faults.ts"
import * as Asking from "./asking.ts"
import * as Cycles from "./cycles.ts"
import * as Powers from "./powers.ts"
import * as Distributing from "./distributing.ts"
import * as Controls from "./controls.ts"
import { cycleCapacities, plain } from "./figures.ts"
import * as Joining from "./joining.ts"
import type { Window } from "./model.ts"
import * as Orders from "./orders.ts"
import * as Paying from "./paying.ts"
import * as Placing from "./placing.ts"
import * as Pricing from "./pricing.ts"
import * as People from "./people.ts"
import * as Town from "./town.ts"
import type * as World from "./world.ts"

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
  town.diedAt = Number((yield* Instant.now) / 1_000_000n)
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
  const opensAt = die.once(town.deals ? 16 : 4) ? now + die.pick([60_000, 3_600_000]) : null
  const closesAt = die.once(town.deals ? 16 : 3)
    ? now + die.pick([60_000, 3_600_000, 86_400_000])
    : null
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
  yield* Asking.submit(town, {
    by: People.maker(town, kind),
    params: { instrumentId },
    ifMatch: String(die.once(12) ? 1 : (instrument.policyVersion ?? 0)),
    body: {
      window: {
        ...(opensAt === null ? {} : { opensAt: at(opensAt) }),
        ...(closesAt === null ? {} : { closesAt: at(closesAt) })
      },
      limits: {
        ...(die.once(3) ? { maxSubscription: 40_000 } : {}),
        // A small gate, now and then.
        ...(die.once(town.deals ? 1 : 2) ? { cycleCapacity: die.pick([...cycleCapacities]) } : {})
      },
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

type RandomStep = (town: Town.Town) => Effect.Effect<unknown, unknown, Town.Services | World.Ports>

/** A holder performs a request in its wallet, or moves its units by itself. */
const walks: RandomStep = (town) => {
  const holder = Joining.anyHolder(town)
  if (holder === undefined) return Joining.onboards(town)
  const answered = Effect.flatMap(Joining.answers(town, holder), (done) =>
    done ? Effect.succeed(true) : Powers.consents(town, holder)
  )
  return Effect.flatMap(answered, (done) =>
    done ? Effect.void : town.die.once(12) ? Orders.gives(town) : Placing.places(town, holder)
  )
}

/** A holder of units places an order of its own. */
const sells: RandomStep = (town) => {
  const holder = Powers.owner(town)
  return holder === undefined ? Effect.void : Placing.places(town, holder)
}

/** Weights of the random steps: how often of a thousand. */
const steps: ReadonlyArray<readonly [number, RandomStep]> = [
  [60, Joining.onboards],
  [240, walks],
  [60, (town) => Joining.countersigns(town)],
  [25, (town) => Joining.offers(town)],
  [4, Joining.withdraws],
  [10, Joining.describes],
  [4, (town) => Joining.names(town)],
  [2, Joining.closes],
  [40, Placing.takesUp],
  [320, Orders.goesOn],
  [4, Pricing.corrects],
  [12, Pricing.indexes],
  [10, (town) => Controls.restricts(town)],
  [2, Controls.restrictsMany],
  [25, Controls.lifts],
  [2, Controls.pauses],
  [10, Controls.releases],
  [40, Cycles.goesOn],
  [12, Paying.repays],
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

/** Weights in a town that deals: fewer holders come, fewer are restricted, more orders go both ways, in cycles. */
const stepsWhileDealing: ReadonlyArray<readonly [number, RandomStep]> = [
  [25, Joining.onboards],
  [170, walks],
  [30, (town) => Joining.countersigns(town)],
  [10, (town) => Joining.offers(town)],
  [60, Placing.takesUp],
  [420, Orders.goesOn],
  [2, (town) => Controls.restricts(town)],
  [15, Controls.lifts],
  [1, Controls.pauses],
  [10, Controls.releases],
  [8, Pricing.indexes],
  [180, Cycles.goesOn],
  [20, Paying.repays],
  [150, sells],
  [110, Controls.decides],
  [20, sets],
  [110, passes],
  [10, breaks],
  [6, dies]
]

/** Weights while a town that distributes begins: its holders come, and have units before months pass. */
const stepsOfTheFirst: ReadonlyArray<readonly [number, RandomStep]> = [
  [40, Joining.arrives],
  [20, walks],
  [25, Distributing.opensAccount]
]
const joiningUntil = 45

/** Weights in a town that distributes: months pass, lines are executed, delivered and rolled, and their holders restricted. */
const stepsWhileDistributing: ReadonlyArray<readonly [number, RandomStep]> = [
  [25, Joining.onboards],
  [170, walks],
  [40, (town) => Joining.countersigns(town)],
  [20, (town) => Joining.offers(town)],
  [3, Joining.withdraws],
  [12, Joining.describes],
  [4, (town) => Joining.names(town)],
  [2, Joining.closes],
  [30, Placing.takesUp],
  [170, Orders.goesOn],
  [14, (town) => Controls.restricts(town)],
  [2, Controls.restrictsMany],
  [30, Controls.lifts],
  [4, Controls.pauses],
  [16, Controls.releases],
  [8, Powers.agrees],
  [25, Powers.asksConsent],
  [8, Powers.forces],
  [8, (town) => Powers.recovers(town)],
  [40, Powers.follows],
  [10, sells],
  [130, Controls.decides],
  [3, sets],
  [300, Distributing.goesOn],
  [30, passes],
  [12, breaks],
  [6, dies]
]

const weightsOf = (town: Town.Town) => {
  if (town.distributions === null) return town.deals ? stepsWhileDealing : steps
  return town.step < joiningUntil ? stepsOfTheFirst : stepsWhileDistributing
}

const draws = (town: Town.Town): RandomStep => {
  const mayDo = weightsOf(town)
  let at = town.die.roll(mayDo.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, step] of mayDo) {
    at -= weight
    if (at < 0) return step
  }
  throw new Error("nothing to do")
}

/** One act: where there was nothing to do after all, another one is drawn. */
export const takeRandomStep = Effect.fnUntraced(function* (town: Town.Town) {
  const before = town.said.head()
  for (let tries = 0; tries < 20 && town.said.head() === before; tries++) yield* draws(town)(town)
})
