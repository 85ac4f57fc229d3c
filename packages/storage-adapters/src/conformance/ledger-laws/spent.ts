/**
 * Laws of spent command ids: the marker that the runner commits under the command id of a step before
 * it abandons the step (docs/domain/ledger-writes.md#spent-command-ids).
 */
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

/** A step of the venue, and the marker that spends its command id. */
const stepAndMarker = (scene: Scene.Scene) => {
  const step = Scene.submission(scene, Scene.proposal(scene))
  const { venue } = scene.venue
  const { commandId } = step
  return { step, marker: { ...step, commands: [Templates.spend({ venue, commandId })] as const } }
}

/** The updates under a command id, as the venue reads them: whether each is a marker. */
const updatesUnder = (scene: Scene.Scene, commandId: string) =>
  Effect.gen(function* () {
    const through = yield* scene.venue.ledgerEnd
    const all = yield* Scene.transactions(scene.venue, { after: scene.since, through })
    return all
      .filter((update) => Option.getOrNull(update.commandId) === commandId)
      .map(({ events }) => (Templates.isSpending(events) ? "marker" : "step"))
  })

/** Commit that `outcome` shows of a command id: the marker, the step, or none. */
const outcomeOf = (scene: Scene.Scene, commandId: string) =>
  Effect.gen(function* () {
    const through = yield* scene.venue.ledgerEnd
    const found = yield* scene.venue.outcome({ commandId, from: scene.since, through })
    return Option.map(
      found,
      ({ transaction }) =>
        Option.isSome(transaction) && Templates.isSpending(transaction.value.events)
    )
  })

export const laws: ReadonlyArray<Law> = grouped("spent command ids", [
  {
    id: "L35",
    name: "under a spent commandId nothing else commits, and the outcome shows the marker",
    proves: "A step that ended failed never commits later.",
    mistake: "Deduplication of equal commands alone.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const { marker, step } = stepAndMarker(scene)
      const spent = yield* scene.venue.submit(marker)
      expect(spent.duplicate, "whether the first marker counts as a repeat").toBe(false)
      yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      const late = yield* scene.venue.submit(step)
      expect(
        [late.duplicate, late.updateId],
        "the answer to a step whose commandId is spent"
      ).toEqual([true, spent.updateId])
      expect(
        yield* updatesUnder(scene, step.commandId),
        "the updates under a spent commandId"
      ).toEqual(["marker"])
      expect(
        yield* outcomeOf(scene, step.commandId),
        "whether the outcome of a spent commandId shows the marker"
      ).toEqual(Option.some(true))
    })
  },
  {
    id: "L35",
    name: "a marker leaves no contract behind",
    proves: "Markers cost the venue no contracts.",
    mistake: "`CreateAndExercise` sent as two submissions.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const before = yield* Scene.active(scene.venue, yield* scene.venue.ledgerEnd)
      yield* scene.venue.submit(stepAndMarker(scene).marker)
      expect(
        yield* Scene.active(scene.venue, yield* scene.venue.ledgerEnd),
        "the contracts that are active after a marker"
      ).toEqual(before)
    })
  },
  {
    id: "L35",
    name: "a commandId that has committed is not spent: its marker is a repeat of the step",
    proves: "The engine learns that the step had committed after all.",
    mistake: "A marker that commits beside the step.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const { marker, step } = stepAndMarker(scene)
      const committed = yield* scene.venue.submit(step)
      const late = yield* scene.venue.submit(marker)
      expect(
        [late.duplicate, late.updateId],
        "the answer to a marker of a step that has committed"
      ).toEqual([true, committed.updateId])
      expect(
        yield* outcomeOf(scene, step.commandId),
        "whether the outcome of a committed step shows a marker"
      ).toEqual(Option.some(false))
    })
  },
  {
    id: "L35",
    name: "of a step and its marker at the same time exactly one commits",
    proves: "A paused worker that wakes does no harm.",
    mistake: "Two submissions in flight under one id that both commit.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const { marker, step } = stepAndMarker(scene)
      yield* Effect.all(
        [step, marker, step, marker].map((each) => Effect.result(scene.venue.submit(each))),
        { concurrency: "unbounded" }
      )
      expect(
        yield* updatesUnder(scene, step.commandId),
        "the updates of a step and its marker"
      ).toHaveLength(1)
    })
  }
])
