/** Stories of a venue whose store continues in a new ledger epoch: every record the ledger keeps, wherever it was away. */
import { Catalogue } from "@bursar/engine-core"
import type { Collection, Offset } from "@bursar/engine-core/kernel"
import { Feed, Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import * as HolderQueries from "#core/holders/holder/HolderQueries.ts"
import { contracts } from "#core/projection/Contract.ts"
import { lostRecords } from "#core/projection/LostRecord.ts"
import { mints } from "#core/reserves/reserve-order/Mint.ts"
import { reserveRedemptions } from "#core/reserves/reserve-order/ReserveRedemption.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { compare } from "#core/reconciliation/run/CompareSteps.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { isLong } from "../long-run.ts"
import { all, instance, type Sight } from "./away.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Cycles from "./cycles.ts"
import * as Minting from "./minting.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import { read } from "./venue.ts"
import { recordsTerms } from "./terms-again.ts"

const kept = Catalogue.collections.filter(({ keptBy }) => keptBy === "ledger")

/** Folded from contracts as from one update: each has tests of its own. */
const apart = new Set([
  "contract",
  "movement",
  "party-movement",
  "lot",
  "snapshot-taken",
  "lost-record",
  "unexpected-fact"
])

type Body = Readonly<Record<string, unknown>>

const bodiesOf = (collection: Collection.Collection) =>
  Effect.map(all(collection), (rows) =>
    rows.map((record) => ({
      id: `${collection.name} ${collection.id(record)}`,
      body: record as unknown as Body
    }))
  )

/** Each record by collection and id: its state, its units and the contracts that it names. */
const states = Effect.gen(function* () {
  const found = new Map<string, string>()
  for (const collection of kept) {
    if (apart.has(collection.name)) continue
    for (const { body, id } of yield* bodiesOf(collection)) {
      const members = Object.entries(body)
        .filter(([name]) => name === "state" || name.endsWith("Cid") || name === "units")
        .map(([name, value]) => `${name} ${String(value)}`)
      found.set(id, members.toSorted().join(", "))
    }
  }
  return found
})

/** The version of every record that the ledger keeps, but for that of the snapshot itself. */
const versions = Effect.gen(function* () {
  const found = new Map<string, unknown>()
  for (const collection of kept.filter(({ name }) => name !== "snapshot-taken")) {
    for (const { body, id } of yield* bodiesOf(collection)) found.set(id, body["version"])
  }
  return found
})

/** Events of the feed, each with how often it is there. */
const events = Effect.gen(function* () {
  const feed = yield* Feed
  const { events } = yield* feed.read({ order: "asc", limit: 100_000 })
  const counts = new Map<string, number>()
  for (const { payload, resourceId, type } of events) {
    const text = `${type} ${resourceId ?? ""} ${payload}`
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
})

const head = Effect.flatMap(ProjectionLog, (log) => log.head)

const stories = {
  "a month whose lines are delivered and rolled": Effect.gen(function* () {
    const { holders, point, stage } = yield* Month.founded(["h1", "h2", "h3"])
    const [h1, h2, h3] = holders
    yield* Cycles.at("2026-08-03T09:00:00Z")
    yield* Month.executes(stage, Month.termsOf(stage, point))
    yield* Month.adds("d-july", [
      Month.lineOf(1, h1!.party),
      Month.lineOf(2, h2!.party),
      Month.carried(3, h3!.party)
    ])
    yield* Month.seals("d-july", [
      Month.lineOf(1, h1!.party),
      Month.lineOf(2, h2!.party),
      Month.carried(3, h3!.party)
    ])
    yield* Month.turns("d-july", "Open")
    yield* Month.delivers(stage, "d-july", "d-july.1")
    yield* Month.rolls(["d-july.1"])
    yield* Month.delivers(stage, "d-july", "d-july.2")
  }),
  "a reserve whose terms are amended": Effect.gen(function* () {
    const scene = yield* Covered.covered()
    yield* Covered.issues(scene, "900")
    yield* Backed.amends("am-1", Backed.termsOf(scene, { haircut: 0.01 }))
    yield* Backed.answersAmendment(scene, "am-1")
    yield* Backed.amends("am-2", Backed.termsOf(scene, { haircut: 0.1 }))
    yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, { reportId: "rep-1" })
  }),
  "a mint and a redemption of a reserve, started and settled": Effect.gen(function* () {
    const scene = yield* Minting.base
    const { usd: asset } = scene
    yield* Minting.mintsFor(scene, { mintId: "m-more", asset, deposit: 50 })
    yield* Minting.redeems(scene, { reserveRedemptionId: "r-some", asset, units: 100 })
  }),
  "a holder that is admitted, agrees and is revoked": Effect.gen(function* () {
    const stage = yield* Fund.opened()
    yield* Fund.market(stage)
    yield* Fund.admitted(stage)
    yield* Calls.write(
      "issuer-powers-agreement.propose",
      { instrumentId: "fund-a" },
      { issuer: stage.fund.party, powers: ["recover"], until: "2027-07-31T12:00:00Z" }
    )
    yield* Fund.agreesToPowers(stage)
    yield* Calls.write("issuer-powers-consent.offer", { holderId: "h1" }, {})
    yield* Fund.answersPowers(stage.holder)
    yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
  })
} as const

const backed = "a mint and a redemption of a reserve, started and settled"
const month = "a month whose lines are delivered and rolled"
/** Without the orders of a reserve: one that began in the gap does not know the point of its price. */
const names = (Object.keys(stories) as ReadonlyArray<keyof typeof stories>).filter(
  (name) => name !== backed
)

/** Runs `judge` over the ledger that a story leaves. */
const after = <A, E, R>(name: keyof typeof stories, judge: Effect.Effect<A, E, R>) =>
  Effect.andThen(stories[name] as Effect.Effect<void>, judge)

/** Terms of the instrument, which no ledger keeps. */
const termsOf = Effect.gen(function* () {
  const instrument = (yield* all(instruments)).find(
    ({ instrumentId }) => instrumentId === "fund-a"
  )!
  const versions = yield* all(policyVersions)
  return {
    instrument,
    versions: versions.filter(({ instrumentId }) => instrumentId === "fund-a")
  }
})

/** Offsets between which a venue is away, a month in flight: the offsets of a ledger have gaps by chance. */
const gap = Effect.gen(function* () {
  const last = yield* (yield* Ledger.Ledger).ledgerEnd
  return { stop: Math.floor(last / 2), back: last - 3 }
})

/** Follows the ledger up to `stop`, having recorded the terms before its first update. */
const follows = (sight: Sight, stop: number, terms: Effect.Success<typeof termsOf>) =>
  Effect.gen(function* () {
    yield* Calls.catchUp
    yield* recordsTerms(terms)
    sight.end = stop
    yield* Calls.catchUp
  })

/** A ledger as one instance sees it: up to an end, and from a horizon on. */
const seeing = () => {
  const sight = { end: null as Offset.Offset | null, horizon: null as Offset.Offset | null }
  const sighted = (ledger: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
    ...ledger,
    ledgerEnd: Effect.suspend(() =>
      sight.end === null ? ledger.ledgerEnd : Effect.succeed(sight.end)
    ),
    horizon: Effect.suspend(() =>
      sight.horizon === null ? ledger.horizon : Effect.succeed(sight.horizon)
    )
  })
  return { sight, sighted }
}

const said = <A, E>(exit: Exit.Exit<A, E>): string =>
  Exit.isSuccess(exit) ? "it started" : Cause.pretty(exit.cause)

/** A follower whose commit of a new epoch dies as often as `deaths` says, after all was written. */
const dying = (deaths: { left: number }) =>
  Memory.layer.pipe(
    Layer.flatMap((storage) =>
      Layer.effect(
        ProjectionLog,
        Effect.map(ProjectionLog, (log) =>
          ProjectionLog.of({
            ...log,
            bootstrap: (snapshot) =>
              Effect.andThen(
                log.bootstrap(snapshot),
                Effect.suspend(() =>
                  deaths.left-- > 0 ? Effect.die(new Error("killed")) : Effect.void
                )
              )
          })
        )
      ).pipe(Layer.provideMerge(Layer.succeedContext(storage)))
    )
  )

describe("a store that continues in a new ledger epoch", () => {
  it.effect.each(names)("has every record as a store that read every update: %s", (name) =>
    after(
      name,
      Effect.gen(function* () {
        const ledger = yield* Ledger.Ledger
        const last = yield* ledger.ledgerEnd
        const terms = yield* termsOf
        const readsOn = (away: { readonly stop: number; readonly back: number } | null) =>
          Effect.gen(function* () {
            const sight: Sight = { end: 0, horizon: 0 }
            return yield* Effect.gen(function* () {
              yield* follows(sight, away?.stop ?? last, terms)
              const [statesBefore, eventsBefore] = [yield* states, yield* events]
              if (away !== null) {
                sight.end = away.back
                sight.horizon = away.back
                yield* Calls.catchUp
                sight.end = last
                yield* Calls.catchUp
              }
              const lost = (yield* all(lostRecords)).map(
                ({ collection, recordId }) => `${collection} ${recordId}`
              )
              const active = (yield* all(contracts))
                .filter(({ archivedOffset }) => archivedOffset === null)
                .map(({ contractId }) => contractId)
                .toSorted()
              return {
                states: yield* states,
                events: yield* events,
                statesBefore,
                eventsBefore,
                active,
                lost
              }
            }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
          })
        const whole = yield* readsOn(null)
        for (let stop = 1; stop < last; stop += isLong ? 1 : 13) {
          for (const back of new Set([stop + 1, Math.floor((stop + last) / 2) + 1, last])) {
            const ours = yield* readsOn({ stop, back })
            const at = `from ${stop} to ${back} of ${last}`
            assert.deepStrictEqual(ours.active, whole.active, at)
            const lost = new Set(ours.lost)
            // A record that began and ended in the gap is absent; other differences are of lost records alone.
            const differing = [...whole.states].flatMap(([id, state]) => {
              const found = ours.states.get(id)
              const isUnseen = found === undefined && !ours.statesBefore.has(id)
              return found === state || isUnseen || lost.has(id)
                ? []
                : [`${id}: ${found}, not ${state}`]
            })
            const more = [...ours.states.keys()].filter((id) => !whole.states.has(id))
            assert.deepStrictEqual([...differing, ...more], [], at)
            // A record is lost only where it has moved on meanwhile.
            for (const id of lost)
              assert.notStrictEqual(ours.statesBefore.get(id), whole.states.get(id), id)
            for (const [text, count] of ours.eventsBefore) {
              assert.isAtLeast(ours.events.get(text) ?? 0, count, `${text} ${at}`)
            }
            for (const [text, count] of ours.events) {
              assert.isAtMost(count, whole.events.get(text) ?? 0, `${text} ${at}`)
            }
          }
        }
      })
    ).pipe(Effect.provide(world()))
  )

  it.effect(
    "changes no record and announces nothing where the ledger shows the same contracts",
    () =>
      after(
        month,
        Effect.gen(function* () {
          const ledger = yield* Ledger.Ledger
          const last = yield* ledger.ledgerEnd
          const terms = yield* termsOf
          for (let stop = 3; stop < last; stop += 6) {
            const sight: Sight = { end: 0, horizon: 0 }
            yield* Effect.gen(function* () {
              yield* follows(sight, stop, terms)
              const before = [yield* versions, yield* events]
              Object.assign(sight, { end: stop + 1, horizon: stop + 1, seen: stop })
              yield* Calls.catchUp
              assert.deepStrictEqual([yield* versions, yield* events], before)
              const { horizonOffset, ledgerEpoch, offset } = yield* head
              assert.deepStrictEqual([ledgerEpoch, offset, horizonOffset], [2, stop + 1, stop + 1])
            }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
          }
        })
      ).pipe(Effect.provide(world()))
  )

  it.effect.each([null, 1, 3])(
    "begins no epoch that nobody asked for: rebootstrap %s",
    (rebootstrap) =>
      after(
        month,
        Effect.gen(function* () {
          const ledger = yield* Ledger.Ledger
          const { back, stop } = yield* gap
          const terms = yield* termsOf
          const sight: Sight = { end: 0, horizon: 0 }
          yield* Effect.gen(function* () {
            yield* follows(sight, stop, terms)
            const before = yield* versions
            sight.end = back
            sight.horizon = back
            const refused = said(yield* Effect.exit(Calls.catchUp))
            assert.include(refused, "set rebootstrap (ledger.rebootstrap of the host) to 2")
            assert.deepStrictEqual(yield* versions, before)
            const { ledgerEpoch, offset } = yield* head
            assert.deepStrictEqual([ledgerEpoch, offset], [1, stop])
          }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer, rebootstrap })))
        })
      ).pipe(Effect.provide(world()))
  )

  it.effect(
    "shows nothing of an epoch that was killed before its commit, and begins it again",
    () =>
      after(
        month,
        Effect.gen(function* () {
          const ledger = yield* Ledger.Ledger
          const { back, stop } = yield* gap
          const terms = yield* termsOf
          const begun = (deaths: number) =>
            Effect.gen(function* () {
              const sight: Sight = { end: 0, horizon: 0 }
              const storage = dying({ left: deaths })
              return yield* Effect.gen(function* () {
                yield* follows(sight, stop, terms)
                const before = [yield* versions, yield* events]
                sight.end = back
                sight.horizon = back
                for (let death = 0; death < deaths; death++) {
                  assert.include(said(yield* Effect.exit(Calls.catchUp)), "killed")
                  assert.deepStrictEqual([yield* versions, yield* events], before)
                  const { ledgerEpoch, offset } = yield* head
                  assert.deepStrictEqual([ledgerEpoch, offset], [1, stop])
                }
                yield* Calls.catchUp
                assert.strictEqual((yield* head).ledgerEpoch, 2)
                return [yield* versions, yield* states, yield* events]
              }).pipe(Effect.provide(instance(ledger, { sight, storage })))
            })
          assert.deepStrictEqual(yield* begun(2), yield* begun(0))
        })
      ).pipe(Effect.provide(world()))
  )

  it.effect("answers at no offset of an earlier epoch", () =>
    after(
      month,
      Effect.gen(function* () {
        const ledger = yield* Ledger.Ledger
        const { back, stop } = yield* gap
        const terms = yield* termsOf
        const sight: Sight = { end: 0, horizon: 0 }
        yield* Effect.gen(function* () {
          yield* follows(sight, stop, terms)
          const at = (offset: number) =>
            Effect.exit(
              read(
                HolderQueries.get,
                { holderId: "h1" as never },
                { point: { at: offset as never } }
              )
            )
          assert.isTrue(Exit.isSuccess(yield* at(stop)))
          sight.end = back
          sight.horizon = back
          yield* Calls.catchUp
          assert.isTrue(Exit.isSuccess(yield* at(back)))
          for (const offset of [stop, back - 1]) {
            assert.include(said(yield* at(offset)), "offset-unavailable")
          }
        }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
      })
    ).pipe(Effect.provide(world()))
  )

  it.effect(
    "lets a holder be closed whose only order it has lost, and none whose order is open",
    () => {
      const { sight, sighted } = seeing()
      return Effect.gen(function* () {
        yield* Cycles.opened(["h1"])
        const claimed = yield* Calls.write(
          "subscription.claim",
          {},
          {
            ...{ instrumentId: "fund-a", holderId: "h1", subscriptionId: "s1" },
            ...{ payment: "wire", amount: 100 }
          }
        )
        assert.strictEqual(claimed.why, "")
        const closes = Calls.write("holder.close", { holderId: "h1" }, {})
        assert.strictEqual((yield* closes).why, "rule-refused policy no-open-order")
        const ledger = yield* Ledger.Ledger
        sight.end = yield* ledger.ledgerEnd
        const claim = yield* Fund.newestContract(Templates.SubscriptionClaim)
        const ending = { allocationCid: null, intentCid: null }
        yield* Month.venueActs([
          Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Withdraw", ending)
        ])
        assert.strictEqual((yield* closes).why, "rule-refused policy no-open-order")
        sight.end = null
        sight.horizon = yield* ledger.ledgerEnd
        yield* TestClock.adjust("1 minute")
        yield* Calls.settle
        const order = (yield* all(subscriptions)).find(
          ({ subscriptionId }) => subscriptionId === "s1"
        )
        assert.deepStrictEqual([order?.lost, order?.state], [true, "claimed"])
        for (const kind of ["subscription.withdraw", "subscription.release"] as const) {
          const { state } = yield* Calls.write(kind, { subscriptionId: "s1" }, {})
          assert.notStrictEqual(state, "succeeded")
        }
        assert.strictEqual((yield* closes).why, "")
        assert.strictEqual((yield* Powers.holder("h1")).state, "closed")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world({ settings: { rebootstrap: 2 }, tamper: sighted })))
    }
  )

  it.effect("ends an operation whose step committed in the gap", () => {
    const { sight, sighted } = seeing()
    return Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const ledger = yield* Ledger.Ledger
      sight.end = yield* ledger.ledgerEnd
      const written = yield* Calls.write(
        "holder.register",
        {},
        { holderId: "h1", party: stage.holder.party, taxResidences: [] }
      )
      assert.strictEqual(written.state, "running")
      // The ledger has the invitation, and forgets the update that made it before it is read.
      sight.end = null
      sight.horizon = yield* ledger.ledgerEnd
      yield* TestClock.adjust("1 minute")
      yield* Calls.settle
      assert.strictEqual((yield* head).ledgerEpoch, 2)
      const ended = (yield* all(operations)).find(({ kind }) => kind === "holder.register")
      assert.deepStrictEqual(ended?.state, "succeeded")
      const holder = (yield* read(HolderQueries.get, { holderId: "h1" as never })).value
      assert.strictEqual(holder.state, "pending")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world({ settings: { rebootstrap: 2 }, tamper: sighted })))
  })

  it.effect.each([month, backed] as const)(
    "shows a record whose end is unknown as lost, and waits for nobody to move it: %s",
    (name) =>
      after(
        name,
        Effect.gen(function* () {
          const ledger = yield* Ledger.Ledger
          const last = yield* ledger.ledgerEnd
          const terms = yield* termsOf
          const met = new Set<string>()
          const judged = new Set<string>()
          for (let stop = isLong ? 5 : last - 30; stop < last; stop++) {
            const sight: Sight = { end: 0, horizon: 0 }
            yield* Effect.gen(function* () {
              yield* follows(sight, stop, terms)
              Object.assign(sight, { end: last, horizon: last })
              yield* Calls.catchUp
              const noted = (yield* all(lostRecords)).filter(({ isEnded }) => !isEnded)
              const lost = new Set(noted.map(({ recordId }) => recordId))
              const lostCids: Array<string> = []
              const rolled = (yield* all(distributionLines)).filter(
                ({ rolledUid }) => rolledUid === "snapshot"
              )
              if (rolled.length > 0) met.add("rolled line")
              for (const { deliveredUid, lost, state } of rolled) {
                assert.deepStrictEqual(
                  [state, lost, deliveredUid === null],
                  ["rolled", false, false]
                )
              }
              for (const collection of [distributionLines, mints, reserveRedemptions] as const) {
                for (const { body, id } of yield* bodiesOf(collection as never)) {
                  const { due, filters, waitingOn } = collection as Collection.Collection
                  const isLost = lost.has(id.slice(collection.name.length + 1))
                  assert.strictEqual(body["lost"], isLost, `${id} from ${stop}`)
                  if (!isLost) continue
                  met.add(collection.name)
                  lostCids.push(String(body["lineCid"] ?? body["orderCid"]))
                  assert.deepStrictEqual([waitingOn(body), due(body)], [[], undefined])
                  for (const column of [
                    "undirected",
                    "owedTo",
                    "open",
                    "openUntil",
                    "openOf",
                    "openIn",
                    "heldCid"
                  ]) {
                    assert.strictEqual(filters[column]?.(body) ?? null, null, `${column} of ${id}`)
                  }
                }
              }
              // Past every deadline the engine opens no write of its own for what is lost: once for each set.
              const set = [...lost].toSorted().join()
              if (lost.size === 0 || judged.has(set)) return
              judged.add(set)
              yield* TestClock.adjust("30 days")
              yield* Cycles.turns
              const written = (yield* all(operations)).map(({ request, step }) =>
                JSON.stringify([request, step?.commands ?? []])
              )
              for (const name of [...lost, ...lostCids]) {
                assert.isFalse(
                  written.some((text) => text.includes(`"${name}"`)),
                  name
                )
              }
            }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
          }
          assert.deepStrictEqual(
            [...met].toSorted(),
            name === month ? ["distribution-line", "rolled line"] : ["mint", "reserve-redemption"]
          )
        })
      ).pipe(Effect.provide(world()))
  )

  it.effect(
    "blocks an instrument by an order or a line whose end is unknown, and makes no run incomplete",
    () =>
      after(
        month,
        Effect.gen(function* () {
          const ledger = yield* Ledger.Ledger
          const last = yield* ledger.ledgerEnd
          const terms = yield* termsOf
          let lines = 0
          const unknown = new Set([
            "subscription",
            "redemption",
            "dealing-cycle",
            "distribution-line"
          ])
          for (let stop = 5; stop < last; stop += 4) {
            const sight: Sight = { end: 0, horizon: 0 }
            yield* Effect.gen(function* () {
              yield* follows(sight, stop, terms)
              Object.assign(sight, { end: last, horizon: last })
              yield* Calls.catchUp
              const lost = yield* all(lostRecords)
              const compared = yield* compare({ instrumentIds: null, checks: ["projection-drift"] })
              const outcomes = [
                ...compared.venue,
                ...compared.covered.flatMap((each) => each.outcomes)
              ]
              assert.isTrue(outcomes.every(({ ran }) => ran))
              assert.deepStrictEqual(
                outcomes
                  .flatMap(({ differences }) => differences)
                  .map(({ instrumentId, severity, subject, unit }) => [
                    ...[instrumentId, subject.id, severity, unit]
                  ])
                  .toSorted(),
                lost
                  .map(({ collection, instrumentId, isEnded, recordId }) => [
                    ...[instrumentId, recordId],
                    unknown.has(collection) && !isEnded ? "blocking" : "warning",
                    "lost"
                  ])
                  .toSorted()
              )
              lines += lost.filter(({ collection }) => collection === "distribution-line").length
            }).pipe(Effect.provide(instance(ledger, { sight, storage: Memory.layer })))
          }
          assert.isAbove(lines, 0)
        })
      ).pipe(Effect.provide(world()))
  )
})
