/** Opens a hold for blocking findings of a reconciliation run, or adds them to the open one. */
import { Effect, Option, Schema } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import { Ids } from "../../ports/Ids.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Finding, findings } from "../../findings/Finding.ts"
import { type Cover, type Hold, HoldId, holds } from "./Hold.ts"
import { blocksOf, reasonOf, type RunSource, stopping } from "./HoldOpeningRules.ts"
import { type HoldSlot, holdSlots, slotIdOf } from "./HoldSlot.ts"

/** Findings of a run on one instrument, and the source of the hold. */
export type HoldOpening = {
  readonly instrument: Pick<Instrument, "instrumentId" | "registrar">
  /** The run's findings; those that block nothing are ignored. */
  readonly findings: ReadonlyArray<Stored<Finding>>
  readonly runId: string
} & ({ readonly source: "reconciliation" } | { readonly source: "cover"; readonly cover: Cover })

/**
 * Opens a hold of the source on the instrument for its blocking findings, or adds them to the open
 * one (docs/domain/restraints.md#holds-of-reconciliation). Returns the hold; none without blocking
 * findings. Must run inside `transact`.
 */
export const openFor = (
  opening: HoldOpening,
  act: Act
): Effect.Effect<Option.Option<Stored<Hold>>, Unavailable, Records | Ids> =>
  Effect.gen(function* () {
    const { instrumentId } = opening.instrument
    const stops = stopping(opening.findings, { instrumentId, source: opening.source })
    if (stops.length === 0) return Option.none()
    const slot = yield* slotOf(instrumentId, opening.source)
    const current = yield* holdIn(slot)
    const hold = Option.isSome(current)
      ? yield* join(current.value, stops, opening, act)
      : yield* open({ slot, stops }, opening, act)
    yield* Effect.forEach(
      stops.filter(({ holdId }) => holdId !== hold.holdId),
      (finding) => stop(finding, hold, act),
      { discard: true }
    )
    return Option.some(hold)
  })

/**
 * Serialises the opening of holds on an instrument with the runs that clear what holds stop: a run
 * that has found no open hold is not overtaken by one. Must run inside `transact`.
 */
export const lockOf = (instrumentId: string): Effect.Effect<void, Unavailable, Records> =>
  Effect.flatMap(Records, (records) => records.lock(`holds:${instrumentId}`))

/** Loads the slot of this source on the instrument. */
const slotOf = (instrumentId: string, source: RunSource) =>
  Effect.flatMap(Records, (records) => records.find(holdSlots, slotIdOf({ instrumentId, source })))

/** Loads the open hold of a slot. */
const holdIn = Effect.fnUntraced(function* (slot: Option.Option<HoldSlot>) {
  const records = yield* Records
  const holdId = Option.isSome(slot) ? slot.value.holdId : null
  return holdId === null ? Option.none<Stored<Hold>>() : yield* records.find(holds, holdId)
})

/**
 * Adds findings to an open hold. Recorded even without new ones: the new version makes a release
 * that was judged before this run conflict, and be judged again.
 */
const join = (
  hold: Stored<Hold>,
  stops: ReadonlyArray<Finding>,
  { runId }: HoldOpening,
  act: Act
): Effect.Effect<Stored<Hold>, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    records.append(
      holds,
      hold,
      { on: "join", runId, findings: stops.map(({ findingId }) => findingId) },
      act
    )
  )

const open = Effect.fnUntraced(function* (
  {
    slot,
    stops
  }: {
    readonly slot: Option.Option<Stored<HoldSlot>>
    readonly stops: ReadonlyArray<Finding>
  },
  opening: HoldOpening,
  act: Act
) {
  const records = yield* Records
  const ids = yield* Ids
  const { source, runId, instrument } = opening
  const { instrumentId, registrar } = instrument
  const holdId = Schema.decodeSync(HoldId)(yield* ids.make("hold"))
  yield* Option.isSome(slot)
    ? records.append(holdSlots, slot.value, { on: "set", holdId }, act)
    : asNew(records.open(holdSlots, { instrumentId, source, holdId }, act))
  return yield* asNew(
    records.open(
      holds,
      {
        holdId,
        instrumentId,
        registrar,
        source,
        blocks: blocksOf[source],
        reason: reasonOf(stops),
        findings: stops.map(({ findingId }) => findingId),
        runId,
        cover: opening.source === "cover" ? opening.cover : null,
        state: "open",
        openedAt: act.now,
        by: null,
        until: null,
        releasedAt: null,
        releasedBy: [],
        override: null
      },
      act
    )
  )
})

const stop = (
  finding: Stored<Finding>,
  { holdId }: Hold,
  act: Act
): Effect.Effect<Stored<Finding>, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    records.append(findings, finding, { on: "stop", holdId }, act)
  )

/** Opens a record whose id is new; a taken id is a defect. */
const asNew = <A>(
  opened: Effect.Effect<A, Refused<"already-exists"> | Unavailable>
): Effect.Effect<A, Unavailable> =>
  Effect.catchTag(opened, "Refused", () => Effect.die(new Error("a hold was opened twice")))
