/** Direction of a change of restrictions: loosening or tightening. */
import * as Direction from "../../kernel/Direction.ts"
import * as Instant from "../../kernel/Instant.ts"
import { everything } from "./Restriction.ts"
import {
  permits,
  type MovementDirection,
  passings,
  type RestrictionInForce
} from "./RestrictionRules.ts"

/** A restriction in force, and the instant at which the clock ends it. */
export interface EndingRestriction extends RestrictionInForce {
  readonly autoReleaseAt: Instant.Instant | null
}

type Restrictions = ReadonlyArray<EndingRestriction>

/**
 * Changes between two sets of restrictions at any instant from `now` on: modes compare by the acts
 * they permit, scopes by their instruments, dates by how long acts stay forbidden. Each change is
 * at `/<holder>/<instrument>/<passing>`; `*` is every instrument that is not named. An act that is
 * forbidden both for longer and for shorter, as by two dates that are swapped, counts as loosening.
 */
export const changesOf = (
  { from, to }: Direction.Pair<Restrictions>,
  now: Instant.Instant
): ReadonlyArray<Direction.Change> => {
  const both = [...from, ...to]
  const turns = turnsOf(both, now)
  const instrumentIds = namesOf(both.map(({ instrumentId }) => instrumentId ?? everything))
  return namesOf(both.map(({ holderId }) => holderId)).flatMap((holderId) => {
    const own = { from: restrictionsOf(holderId, from), to: restrictionsOf(holderId, to) }
    return namesOf([...instrumentIds, everything]).flatMap((instrumentId) =>
      passings.flatMap((passing) => {
        const passage = { holderId, instrumentId, passing }
        const scale = Direction.by(
          (all: Restrictions) => openAt(all, passage, turns),
          Direction.inclusion
        )
        return scale
          .changes(own)
          .map(({ direction }) => ({ path: [holderId, instrumentId, passing], direction }))
      })
    )
  })
}

const namesOf = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(names)].toSorted()

const restrictionsOf = (holderId: string, all: Restrictions): Restrictions =>
  all.filter((restriction) => restriction.holderId === holderId)

/** Instants from `now` on at which permissions change. */
const turnsOf = (all: Restrictions, now: Instant.Instant): ReadonlyArray<Instant.Instant> => [
  now,
  ...all.flatMap(({ autoReleaseAt: at }) =>
    at === null || Instant.atOrBefore(at, now) ? [] : [at]
  )
]

/** Instants from which on the act is permitted, as texts. */
const openAt = (
  all: Restrictions,
  question: {
    readonly holderId: string
    readonly instrumentId: string
    readonly passing: MovementDirection
  },
  turns: ReadonlyArray<Instant.Instant>
): ReadonlyArray<string> =>
  turns
    .filter((turn) =>
      permits(
        all.filter(({ autoReleaseAt: at }) => at === null || Instant.isAfter(at, turn)),
        question
      )
    )
    .map(Instant.format)
