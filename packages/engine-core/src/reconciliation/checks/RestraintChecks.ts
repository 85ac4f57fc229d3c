/** Checks of reconciliation that find movements which a restriction forbade. */
import { Effect, Stream } from "effect"
import { compare } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { type PartyMovement, partyMovements } from "../../instruments/register/Movement.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import {
  everything,
  type Restriction,
  restrictions
} from "../../restraints/restriction/Restriction.ts"
import { type MovementDirection, permits } from "../../restraints/restriction/RestrictionRules.ts"
import type { MovementKind } from "../../vocabulary/sets.ts"
import * as Check from "./Check.ts"

/** The units of one holder that left although a restriction forbade it. */
interface DepartedUnits {
  readonly instrumentId: string
  readonly holderId: string
  readonly units: Decimal.Decimal
}

export const restrictionEffect = Check.define("restriction-effect", {
  doc: "Finds units that left a holder while a restriction forbade it.",
  rule: "movements-against-restrictions",
  needs: "A holder that was ever restricted on the instrument.",
  cannot: {},
  facts: (instrument, at) => departedUnits(instrument, at),
  differences: ({ instrumentId, holderId, units }: DepartedUnits, tolerance) =>
    compare({
      instrumentId,
      subject: { resourceKind: "holder", id: holderId },
      holderId,
      severity: "blocking",
      unit: "units",
      expected: Decimal.zero,
      actual: units,
      tolerance
    })
})

/** Number of holders that are judged together. */
const holdersMax = 500

/**
 * Streams the units that left each holder of an instrument while a restriction forbade it, also where
 * the restriction has ended since; holders that were never restricted are left out. A holder with
 * several restrictions is judged once, at the first of them.
 */
const departedUnits = (
  { instrumentId }: Pick<Instrument, "instrumentId">,
  { pin }: Check.Point
): Stream.Stream<DepartedUnits, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Records, (records) => {
      const reach = [instrumentId, everything]
      return records.stream(restrictions, { pin, where: { reach } }).pipe(
        Stream.grouped(holdersMax),
        Stream.mapEffect((rows) =>
          Effect.gen(function* () {
            const holderId = [...new Set(rows.map(({ record }) => record.holderId))]
            const all = yield* Stream.runCollect(
              records.stream(restrictions, { pin, where: { reach, holderId } })
            )
            const firstIds = new Set(rows.map(({ record }) => record.restrictionId))
            const ofHolder = Map.groupBy(
              all.map(({ record }) => record),
              (restriction) => restriction.holderId
            )
            const judged = [...ofHolder.values()].filter(([first]) =>
              first === undefined ? false : firstIds.has(first.restrictionId)
            )
            return yield* leftOf(instrumentId, judged, pin)
          })
        ),
        Stream.flatMap((facts) => Stream.fromIterable(facts))
      )
    })
  )

/**
 * Sums the units that left these holders against their restrictions, which are sorted by creation.
 */
const leftOf = Effect.fnUntraced(function* (
  instrumentId: string,
  judged: ReadonlyArray<ReadonlyArray<Restriction>>,
  pin: Check.Point["pin"]
) {
  const all = judged.flat()
  const earliest = all.map(({ from }) => from).toSorted(Instant.compare)[0]
  if (earliest === undefined) return []
  const records = yield* Records
  const byParty = Map.groupBy(all, ({ party }) => party as string)
  const sums = new Map<string, Decimal.Decimal>()
  yield* records
    .stream(partyMovements, {
      pin,
      where: { instrumentId: [instrumentId], party: [...byParty.keys()] },
      ranges: { at: { from: Instant.sortable(earliest) } }
    })
    .pipe(
      Stream.runForEach(({ record }) =>
        Effect.sync(() => {
          const own = byParty.get(record.party) ?? []
          const holderId = own[0]?.holderId
          if (holderId === undefined) return
          const units = leftAgainst(own, { ...record, holderId })
          sums.set(holderId, Decimal.add(sums.get(holderId) ?? Decimal.zero, units))
        })
      )
    )
  return judged.flatMap(
    ([first]): ReadonlyArray<DepartedUnits> =>
      first === undefined
        ? []
        : [
            {
              instrumentId,
              holderId: first.holderId,
              units: sums.get(first.holderId) ?? Decimal.zero
            }
          ]
  )
})

/** Kinds of movements that restrictions do not stop: an issuer moved the units, not their holder. */
const forced: ReadonlyArray<MovementKind> = ["forced-transfer", "recovery"]

/** Directions of movements; any other kind goes out to whom it likes. */
const passingOf: Readonly<Partial<Record<MovementKind, MovementDirection>>> = {
  redemption: "units-back"
}

type Period = Pick<
  Restriction,
  "restrictionId" | "holderId" | "instrumentId" | "mode" | "from" | "endedAt"
>

/** Checks whether a restriction was in force at an instant after its first. */
const isInForce = ({ from, endedAt }: Period, at: Instant.Instant): boolean =>
  Instant.isAfter(at, from) && (endedAt === null || Instant.isBefore(at, endedAt))

/**
 * Returns the units of a movement that left the holder's party while one of its restrictions forbade
 * it; 0 for units that came in, that stayed, or that an issuer moved by force.
 */
export const leftAgainst = (
  restrictions: ReadonlyArray<Period>,
  movement: Pick<
    PartyMovement,
    "instrumentId" | "at" | "kind" | "from" | "to" | "units" | "party"
  > & { readonly holderId: string }
): Decimal.Decimal => {
  const { at, from, to, kind, party, holderId, instrumentId, units } = movement
  if (from !== party || to === party || forced.includes(kind)) return Decimal.zero
  const inForce = restrictions.filter((restriction) => isInForce(restriction, at))
  const passing = passingOf[kind] ?? "units-out"
  return permits(inForce, { holderId, instrumentId, passing }) ? Decimal.zero : units
}
