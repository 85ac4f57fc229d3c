/** Steps that move the watermarks of the checks that judged all facts of the run's scope. */
import { Effect } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type CheckMark, checkMarks, idOf } from "./CheckMark.ts"
import { checks } from "../checks/AllChecks.ts"
import type { ComparedRun } from "./CompareSteps.ts"
import * as Rules from "./RunRules.ts"

/** Number of watermarks that are looked up together. */
const batchMax = 500

/**
 * Largest number of statements that a watermark names to be compared again; with more it stays, and the
 * next run reads all that came since.
 */
const againMax = 5_000

const marked: ReadonlyArray<string> = checks.flatMap(({ isMarked, name }) =>
  isMarked === true ? [name] : []
)

const isSame = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((id) => b.includes(id))

/**
 * Moves the watermark of each check that has one, for the instruments, or the venue, of which the
 * run judged all facts; of a check of statements also where it could not compare all, which it then
 * names. Must run inside `transact`.
 */
export const mark = Effect.fnUntraced(function* (
  {
    runId,
    compared,
    outcomes
  }: {
    readonly runId: string
    readonly compared: Pick<ComparedRun, "at">
    readonly outcomes: ReadonlyArray<Rules.ComparisonOutcome>
  },
  act: Act
) {
  const records = yield* Records
  const { pin } = compared.at
  const writtenBy = "instant" in pin.select ? pin.select.instant : pin.judgedAt
  const members = { runId, writtenBy, judgedAt: pin.judgedAt }
  const marks = outcomes
    .filter((outcome) =>
      outcome.feeds === null
        ? marked.includes(outcome.check) && Rules.isJudgedWhole(outcome)
        : Rules.hasFindingOfEach(outcome) && outcome.again.length <= againMax
    )
    .map(({ check, instrumentId, again, feeds, hasNew }) => ({
      self: { check, instrumentId, ...members, again } satisfies CheckMark,
      hasNew: feeds === null || hasNew
    }))
  const before = new Map<string, Stored<CheckMark>>()
  for (let from = 0; from < marks.length; from += batchMax) {
    const ids = marks.slice(from, from + batchMax).map(({ self }) => idOf(self))
    for (const stored of yield* records.many(checkMarks, ids)) before.set(idOf(stored), stored)
  }
  yield* Effect.forEach(
    marks,
    ({ hasNew, self }) => {
      const stored = before.get(idOf(self))
      // A watermark after which no statement came is where it would be moved to.
      if (stored !== undefined && !hasNew && isSame(stored.again, self.again)) return Effect.void
      // A run side by side has moved the venue's mark further.
      if (stored !== undefined && Instant.isAfter(stored.judgedAt, self.judgedAt))
        return Effect.void
      return stored === undefined
        ? Effect.orDie(records.open(checkMarks, self, act))
        : records.append(checkMarks, stored, { on: "move", ...members, again: self.again }, act)
    },
    { discard: true }
  )
})
