/** Loads figures of the register: units of a party, its instruments, number of holders. */
import { Effect, Option, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { instruments, isRecorded } from "../instrument/Instrument.ts"
import { assetKeyOf } from "./Holding.ts"
import { idOf, registerEntries } from "./RegisterEntry.ts"
import { supplies } from "./Supply.ts"

interface HeldUnits {
  readonly units: Decimal.Decimal
  /** Locked part of the units. */
  readonly locked: Decimal.Decimal
}

/** Loads the units of a party at the pin; zero where the register does not list it. */
export const heldBy = Effect.fnUntraced(function* (
  line: {
    readonly registrar: Party.Party
    readonly instrumentId: string
    readonly party: Party.Party
  },
  pin?: Pin.ResolvedPin
) {
  const records = yield* Records
  const entry = yield* records.find(registerEntries, idOf(line), pin)
  return Option.match(entry, {
    onNone: (): HeldUnits => ({ units: Decimal.zero, locked: Decimal.zero }),
    onSome: ({ units, locked }): HeldUnits => ({ units, locked })
  })
})

/** Largest number of register entries in one query. */
const linesMax = 500

/**
 * Streams the ids of the venue's instruments that a party holds units of, locked units included.
 * Other assets of the party, such as cash, are left out. Reads committed records only.
 */
export const instrumentsOf = ({ party }: { readonly party: Party.Party }) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(registerEntries, { where: { party: [party] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.grouped(linesMax),
        Stream.mapEffect((entries) =>
          Effect.map(
            records.many(
              instruments,
              entries.map(({ instrumentId }) => instrumentId)
            ),
            (found) =>
              found
                .filter((instrument) => isRecorded(instrument))
                .filter((instrument) =>
                  entries.some((entry) => assetKeyOf(entry) === assetKeyOf(instrument))
                )
                .map(({ instrumentId }) => instrumentId as string)
          )
        ),
        Stream.flatMap((ids) => Stream.fromIterable(ids))
      )
    )
  )

/**
 * Loads the number of parties that hold units of each of these instruments at the pin, by
 * `assetKeyOf`, with one query. Instruments that were never held are left out.
 */
export const holderCounts = Effect.fnUntraced(function* (
  assets: ReadonlyArray<{ readonly registrar: string; readonly instrumentId: string }>,
  pin?: Pin.ResolvedPin
) {
  const records = yield* Records
  const found = yield* records.many(supplies, assets.map(assetKeyOf), pin)
  return new Map(found.map((supply) => [assetKeyOf(supply), supply.holders]))
})
