/** Direction of a change of restrictions: whether it permits more or less. */
import * as Direction from "../../kernel/Direction.ts"
import * as Instant from "../../kernel/Instant.ts"
import { everything } from "./Restriction.ts"
import { lets, type Passing, passings, type Restricting } from "./RestrictionRules.ts"

/** A restriction in force, and when it ends by itself. */
export interface Ending extends Restricting {
  readonly autoReleaseAt: Instant.Instant | null
}

type Restrictions = ReadonlyArray<Ending>

/**
 * What changes when these restrictions take the place of those, at whatever instant from `now` on: a
 * mode by what it lets pass, a scope by the instruments it is on, a date by how long it still stops.
 * Each change is at `/<holder>/<instrument>/<passing>`; `*` is every instrument that is not named. What
 * is stopped for longer and for shorter at once, as by two dates that change places, loosens.
 */
export const changesOf = (
  { from, to }: Direction.Pair<Restrictions>,
  now: Instant.Instant
): ReadonlyArray<Direction.Change> => {
  const both = [...from, ...to]
  const turns = turnsOf(both, now)
  const instrumentIds = namesOf(both.map(({ instrumentId }) => instrumentId ?? everything))
  return namesOf(both.map(({ holderId }) => holderId)).flatMap((holderId) => {
    const own = { from: of(holderId, from), to: of(holderId, to) }
    return namesOf([...instrumentIds, everything]).flatMap((instrumentId) =>
      passings.flatMap((passing) => {
        const asked = { holderId, instrumentId, passing }
        const scale = Direction.by(
          (all: Restrictions) => openAt(all, asked, turns),
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

const of = (holderId: string, all: Restrictions): Restrictions =>
  all.filter((one) => one.holderId === holderId)

/** The instants from `now` on at which what is permitted changes. */
const turnsOf = (all: Restrictions, now: Instant.Instant): ReadonlyArray<Instant.Instant> => [
  now,
  ...all.flatMap(({ autoReleaseAt: at }) =>
    at === null || Instant.atOrBefore(at, now) ? [] : [at]
  )
]

/** The instants from which on it is permitted, as texts. */
const openAt = (
  all: Restrictions,
  asked: { readonly holderId: string; readonly instrumentId: string; readonly passing: Passing },
  turns: ReadonlyArray<Instant.Instant>
): ReadonlyArray<string> =>
  turns
    .filter((turn) =>
      lets(
        all.filter(({ autoReleaseAt: at }) => at === null || Instant.isAfter(at, turn)),
        asked
      )
    )
    .map(Instant.format)
