/**
 * Security test 24, the capacity of it: however many offers are made, planned, sent, refused, answered
 * and taken back at the same time by however many instances, an instrument never has more holders
 * admitted or offered than its holder cap; and a place that nobody has any more can be had again.
 */
import { Records, Workers } from "@bursar/engine-core"
import { Duration, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Layer, Semaphore, Stream } from "effect"
import * as fc from "fast-check"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { admissions } from "#core/admissions/Admission.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../../engine/calls.ts"
import * as Passing from "../../engine/passing.ts"
import { ports } from "../../engine/world.ts"
import { Catalogue, Engine } from "@bursar/engine-core"
import * as Cycles from "../../operations/cycles.ts"
import * as Fund from "../../operations/fund.ts"
import { actAs } from "./dealing-floor.ts"
import * as Interleaved from "./interleaved.ts"
import { runsOf } from "../../long-run.ts"

// Switched off in a copy and seen red: reserved places are counted, a failed operation gives its place
// back, a place is the admission's own once that is listed, an offer that ran out keeps its place and is
// taken off the ledger where that is needed (all PlaceSteps.ts); one that ran out and is declined
// is gone as well (AdmissionFromLedger.ts).

/** `RUNS=2000 SEED=7` walks further, or elsewhere. */
const runs = runsOf(25)
const seed = Number(process.env["SEED"] ?? 24)

const holderIds = ["h1", "h2", "h3", "h4"] as const
const operator = Calls.person("olga", "operator")

/** Number of offers that the ledger is still to refuse. */
interface Moods {
  refusals: number
}

const isOffer = ({ commands }: Ledger.Submission): boolean =>
  commands.some((one) => one._tag === "Exercise" && one.choice === "Offer")

const moody =
  (moods: Moods) =>
  (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) =>
      Effect.suspend(() => {
        if (moods.refusals === 0 || !isOffer(submission)) return port.submit(submission)
        moods.refusals -= 1
        return Effect.fail(refusal)
      })
  })

const refusal = new Ledger.Refused({
  code: "DAML_FAILURE",
  cause: "the ledger would not",
  category: 9,
  context: {},
  resources: []
})

const layer = (turns: Interleaved.Turns, moods: Moods) =>
  Layer.fresh(Engine.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        ports({
          storage: Interleaved.storage(turns),
          tamper: (port) => Interleaved.ledger(turns)(moody(moods)(port))
        }),
        Interleaved.ids
      )
    )
  )
type Here = Layer.Success<ReturnType<typeof layer>>

/** Contracts of one entity, read from the ledger as the venue sees it. */
const onLedger = (entity: string) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const active = yield* Stream.runCollect(
      ledger.acs({ at: yield* ledger.ledgerEnd, filter: { templates: [], interfaces: [] } })
    )
    return active.filter(({ template }) => template.entity === entity)
  })

/** Credentials, and offers that may still be accepted. */
const placesOnLedger = Effect.gen(function* () {
  const now = yield* Instant.now
  const offers = (yield* onLedger("AdmissionOffer")).filter(
    ({ payload: { expiresAt } }) =>
      typeof expiresAt !== "string" || Instant.isAfter(Instant.of(expiresAt), now)
  )
  return offers.length + (yield* onLedger("Credential")).length
})

const kindOf = (kind: string) => {
  const found = Catalogue.operations.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`no operation ${kind}`)
  return found
}

const offer = (holderId: string) =>
  Calls.slug(
    Calls.submit(kindOf("admission.offer"), operator, {
      params: { holderId },
      body: '{"instrumentId":"fund-a"}'
    })
  )

/** One that runs out within the hour. */
const offerShortly = (holderId: string) =>
  Effect.gen(function* () {
    const expiresAt = Instant.format(Instant.add(yield* Instant.now, Duration.of("PT30M")))
    return yield* Calls.slug(
      Calls.submit(kindOf("admission.offer"), operator, {
        params: { holderId },
        body: JSON.stringify({ instrumentId: "fund-a", expiresAt })
      })
    )
  })

const withdraw = (holderId: string) =>
  Calls.slug(
    Calls.submit(kindOf("admission.withdraw"), operator, {
      params: { holderId, instrumentId: "fund-a" }
    })
  )

let newcomers = 0
/** Onboards a new holder with an offer of admission. */
const onboard = Effect.suspend(() => {
  const holderId = `new-${++newcomers}`
  const party = `${holderId}::1220${"ab".repeat(32)}`
  return Calls.slug(
    Calls.submit(kindOf("holder.onboard"), operator, {
      params: {},
      body: JSON.stringify({ holderId, party, admissions: [{ instrumentId: "fund-a" }] })
    })
  )
})

/** The wallet that an offer waits for answers it, if there is one. */
const answer = (choice: "Accept" | "Decline", nth: number) =>
  Effect.gen(function* () {
    const offers = yield* onLedger("AdmissionOffer")
    const one = offers[nth % Math.max(1, offers.length)]
    if (one === undefined) return "none"
    const command = Templates.exercise(Templates.AdmissionOffer, one.contractId, choice, {})
    return yield* Calls.slug(actAs(String(one.payload["holder"]) as never, command))
  })

const renounce = Effect.gen(function* () {
  const [one] = yield* onLedger("Credential")
  if (one === undefined) return "none"
  const command = Templates.exercise(Templates.Credential, one.contractId, "Renounce", {})
  return yield* Calls.slug(actAs(String(one.payload["holder"]) as never, command))
})

/** An instrument with room for so many, and holders that may be admitted to it. */
const open = (holderCap: number) =>
  Effect.gen(function* () {
    yield* Fund.opened({ holderCap })
    for (const holderId of holderIds) {
      const wallet = yield* Fund.outsider(`wallet-${holderId}`)
      yield* Calls.write("holder.register", {}, { holderId, party: wallet.party })
      yield* Cycles.registers(wallet, holderId)
    }
    const reading = yield* Semaphore.make(1)
    const second = yield* Layer.build(Layer.fresh(Engine.layer))
    const working = Effect.andThen(reading.withPermit(Calls.catchUp), Workers.runOnce("operations"))
    const unread = Workers.runOnce("operations")
    return [working, Effect.provide(working, second), unread] as const
  })

type Instances = Effect.Success<ReturnType<typeof open>>

interface Real {
  readonly instances: Instances
  readonly moods: Moods
  readonly audit: () => Promise<void>
  readonly begin: (what: Effect.Effect<unknown, unknown, Here>) => void
}

const command = (label: string, what: (real: Real) => Effect.Effect<unknown, unknown, Here>) =>
  fc.constant<fc.AsyncCommand<object, Real>>({
    check: () => true,
    run: async (_, real) => {
      await real.audit()
      real.begin(what(real))
    },
    toString: () => label
  })

const each = holderIds.flatMap((holderId) => [
  command(`${holderId} is offered`, () => offer(holderId)),
  command(`${holderId} is offered`, () => offer(holderId)),
  command(`${holderId} is offered for a while`, () => offerShortly(holderId)),
  command(`${holderId} is withdrawn`, () => withdraw(holderId))
])
const every = [
  ...each,
  command("a newcomer is onboarded", () => onboard),
  command("a newcomer is onboarded", () => onboard),
  command("the first offer is accepted", () => answer("Accept", 0)),
  command("the second offer is declined", () => answer("Decline", 1)),
  command("a credential is renounced", () => renounce),
  command("an hour passes", () => TestClock.adjust("1 hour")),
  command("the ledger refuses the next offer", ({ moods }) =>
    Effect.sync(() => {
      moods.refusals += 1
    })
  ),
  command("the first runs what is queued, and reads nothing", ({ instances }) => instances[2]),
  ...[0, 1].flatMap((index) => [
    command(`instance ${index} works`, ({ instances }) => instances[index] ?? Effect.void),
    command(`instance ${index} works`, ({ instances }) => instances[index] ?? Effect.void)
  ])
]

/** Tally of outcomes over all walks: a walk in which nothing happens proves nothing. */
const tally = new Map<string, number>()
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1)

const walk = (
  holderCap: number,
  commands: Iterable<fc.AsyncCommand<object, Real>>,
  scheduler: fc.Scheduler
) => {
  const turns: Interleaved.Turns = { scheduler: null }
  const moods: Moods = { refusals: 0 }
  return Calls.runCase(
    Effect.gen(function* () {
      const instances = yield* open(holderCap)
      const run = Effect.runPromiseWith(yield* Effect.context<Here>())
      const broken: Array<unknown> = []
      let underWay = 0
      const audited = Effect.map(placesOnLedger, (places) =>
        expect(places, "places taken on the ledger").toBeLessThanOrEqual(holderCap)
      )
      const real: Real = {
        instances,
        moods,
        audit: () => run(Effect.asVoid(audited)),
        begin: (what) => {
          underWay += 1
          run(what).then(
            () => {
              underWay -= 1
            },
            (error) => broken.push(error)
          )
        }
      }
      turns.scheduler = scheduler
      yield* Effect.promise(() =>
        fc.scheduledModelRun(scheduler, () => ({ model: {}, real }), commands)
      )
      turns.scheduler = null
      const rest = Effect.andThen(
        Calls.settle,
        Effect.map(unended, (left) => left === 0)
      )
      const atRest = yield* Passing.until(
        Effect.map(rest, (isAtRest) => isAtRest && underWay === 0),
        60
      )
      expect(broken).toEqual([])
      expect(atRest, "everything ends").toBe(true)
      moods.refusals = 0
      yield* audited
      yield* tallied
      yield* filled(holderCap)
    }).pipe(Effect.provide(layer(turns, moods)))
  )
}

const all = Effect.flatMap(Records, (records) =>
  Effect.map(records.list(operations, { limit: 1_000 }), (rows) => rows.map(({ record }) => record))
)
const unended = Effect.map(
  all,
  (found) => found.filter(({ state }) => state === "queued" || state === "running").length
)

const tallied = Effect.gen(function* () {
  for (const { kind, state, problem } of yield* all) {
    const refusalBody = (problem ?? {}) as { readonly check?: unknown }
    count([kind, state, refusalBody.check ?? ""].join(" ").trim())
  }
})

/** Holders can be onboarded up to the cap, one by one, and none beyond it. */
const filled = (holderCap: number) =>
  Effect.gen(function* () {
    const taken = yield* placesOnLedger
    const outcomes: Array<string> = []
    for (let n = taken; n <= holderCap; n++) {
      yield* onboard
      yield* Calls.settle
      outcomes.push(String(yield* placesOnLedger))
    }
    const rest = Array.from({ length: holderCap - taken }, (_, n) => String(taken + n + 1))
    expect(outcomes).toEqual([...rest, String(holderCap)])
    const records = yield* Records
    // Admissions that expired are closed where their places were needed.
    const listed = yield* records.list(admissions, {
      where: { state: ["offered", "admitted"] },
      limit: 100
    })
    expect(listed.length).toBe(holderCap)
  })

describe("everybody offers at once", () => {
  it("admit and offer as many holders as there may be, and lose no place", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.commands([...every], { maxCommands: 40, size: "max" }),
        fc.scheduler({ act: Interleaved.act }),
        walk
      ),
      { numRuns: runs, seed }
    )
    if (process.env["TALLY"] !== undefined) console.log(tally)
    const telling = [
      "admission.offer succeeded",
      "admission.offer failed holder-cap",
      "admission.offer failed choice",
      "holder.onboard succeeded",
      "holder.onboard failed holder-cap"
    ]
    expect(Object.fromEntries(telling.map((what) => [what, tally.has(what)]))).toEqual(
      Object.fromEntries(telling.map((what) => [what, true]))
    )
  })
})
