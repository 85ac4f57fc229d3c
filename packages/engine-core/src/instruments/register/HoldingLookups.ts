/** Look-ups of the register: units of a party, number of holders. */
import { Effect, Option, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { instruments, isRecorded } from "../instrument/Instrument.ts"
import { assetKeyOf } from "./Holding.ts"
import { idOf, registerEntries } from "./RegisterEntry.ts"
import { supplies } from "./Supply.ts"

export interface Held {
  readonly units: Decimal.Decimal
  /** Of these units, how many are locked. */
  readonly locked: Decimal.Decimal
}

/** Units of a party at the pin; zero where the register does not list it. */
export const heldBy = Effect.fnUntraced(function* (
  of: {
    readonly registrar: Party.Party
    readonly instrumentId: string
    readonly party: Party.Party
  },
  pin?: Pin.Resolved
) {
  const records = yield* Records
  const entry = yield* records.find(registerEntries, idOf(of), pin)
  return Option.match(entry, {
    onNone: (): Held => ({ units: Decimal.zero, locked: Decimal.zero }),
    onSome: ({ units, locked }): Held => ({ units, locked })
  })
})

/** Lines of the register that are looked at in one go. */
const linesMax = 500

/**
 * The instruments of this venue that a party holds units of, locked ones too, by their ids; what it
 * has elsewhere, its cash and the like, is no affair of the venue's. It reads what is committed.
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
            (known) =>
              known
                .filter((one) => isRecorded(one))
                .filter((one) => entries.some((entry) => assetKeyOf(entry) === assetKeyOf(one)))
                .map(({ instrumentId }) => instrumentId as string)
          )
        ),
        Stream.flatMap((ids) => Stream.fromIterable(ids))
      )
    )
  )

/**
 * How many parties hold units of each of these instruments at the pin, by the instrument's name on
 * the ledger (`assetKeyOf`); one look-up for all. What nobody ever held is not in it.
 */
export const holderCounts = Effect.fnUntraced(function* (
  assets: ReadonlyArray<{ readonly registrar: string; readonly instrumentId: string }>,
  pin?: Pin.Resolved
) {
  const records = yield* Records
  const found = yield* records.many(supplies, assets.map(assetKeyOf), pin)
  return new Map(found.map((supply) => [assetKeyOf(supply), supply.holders]))
})
