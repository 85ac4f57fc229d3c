/**
 * The accounts of a town's bank: its sources, what it is in trouble about, and what orders asked for and
 * took of its entries.
 */
import type { ConfiguredSource } from "@bursar/engine-core"
import { Date, Duration, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import * as Accounts from "../../operations/accounts.ts"
import * as Intakes from "../../operations/intakes.ts"
import * as Faults from "../faults.ts"
import type * as Books from "./bank-books.ts"
import * as Files from "./bank-files.ts"
import type { Span } from "./model.ts"
import type { Town } from "./town.ts"

export const hour = 3_600_000
const day = 24 * hour

/** An act of the bank that leaves a finding which blocks a fund, until it is mended. */
export type Trouble =
  | { readonly kind: "contradiction"; readonly statementId: string }
  | { readonly kind: "broken" | "reversal" }
  | { readonly kind: "missing"; readonly date: Date.Date }

/** The bank of a town. */
export interface Bank {
  readonly die: Faults.Dice
  /** By instrument. */
  readonly accounts: Map<string, Books.Account>
  /** Troubles of funds that nobody has mended, by instrument; one fund at a time has one. */
  readonly troubles: Map<string, Trouble>
  /** Funds on which a run may have opened a hold, with the span of it in the model. */
  readonly stopped: Map<string, Span>
  /** Orders whose finding a release accepted. */
  readonly accepted: Set<string>
  /** Cash that orders may have reserved by acts that did not succeed. */
  readonly reservations: Array<Books.Use>
  /** Entries that pay no order, and files, so far. */
  others: number
  files: number
}

const accountOf = (instrumentId: string) => `cash-${instrumentId}`
export const numberOf = (instrumentId: string) =>
  `00201555${[...instrumentId].map((c) => c.charCodeAt(0)).join("")}`
export const sourceOf = (source: Books.SourceName, instrumentId: string) =>
  `${source}-${instrumentId}`

/**
 * The second feed states each date with entries, and owes the dates of its calendar without any, too:
 * in a town whose months pass two a week, in another one every day.
 */
const feedOf = (distributes: boolean) =>
  distributes
    ? { calendar: ["monday", "thursday"] as const, grace: 10 * day }
    : { calendar: Date.weekdays, grace: 2 * day }

/** Sources of the bank, as the deployment names them. */
export const sources = (
  fundIds: ReadonlyArray<string>,
  distributes: boolean
): ReadonlyArray<ConfiguredSource.ConfiguredSource> => {
  const { calendar, grace } = feedOf(distributes)
  return fundIds.flatMap((instrumentId) => {
    const common = {
      ...{ kind: "cash" as const, instruments: [instrumentId], account: accountOf(instrumentId) },
      ...{ accountIs: null, calendar: [], dueBy: { time: "06:00", zone: "UTC", daysAfter: 1 } }
    }
    const named = (source: Books.SourceName) => sourceOf(source, instrumentId)
    return [
      Intakes.source({ ...common, externalSourceId: named("bank"), adapter: "camt.053" }),
      Intakes.source({
        ...{ ...common, externalSourceId: named("feed"), adapter: "json" as const },
        ...{ calendar: [...calendar], grace: Duration.millis(grace) }
      }),
      Intakes.source({
        ...{ ...common, externalSourceId: named("table"), adapter: "csv" as const },
        ...{ balances: "none" as const, zone: tableZone },
        csv: {
          ...{ encoding: "utf-8", delimiter: ",", decimal: ".", group: null },
          ...{ dateFormat: "yyyy-MM-dd", columns: Files.columns }
        }
      })
    ]
  })
}

/** Zone of tables: its days end at 10:00 UTC, so that a day's table may lie beside its statements. */
const tableZone = "Pacific/Kiritimati"

export const make = (
  seed: number,
  {
    distributes,
    fundIds
  }: { readonly fundIds: ReadonlyArray<string>; readonly distributes: boolean }
): Bank => {
  const { calendar, grace } = feedOf(distributes)
  return {
    die: Faults.dice(seed ^ 0xba4c),
    accounts: new Map(
      fundIds.map((instrumentId) => [
        instrumentId,
        {
          ...{ instrumentId, externalAccountId: accountOf(instrumentId), calendar },
          ...{ overdueAfter: 6 * hour + grace, ledger: [], inForce: new Map() },
          ...{ takenBack: new Map(), stated: 0, sequence: 0, feedDate: null, feedStated: 0 }
        }
      ])
    ),
    ...{ troubles: new Map(), stopped: new Map(), accepted: new Set(), reservations: [] },
    ...{ others: 0, files: 0 }
  }
}

/** Maps the accounts of the funds. */
export const opens = ({ accounts }: Bank) =>
  Effect.forEach(
    accounts.values(),
    ({ externalAccountId, instrumentId }) =>
      Accounts.plants(
        {
          externalAccountId: externalAccountId as never,
          instrumentId: instrumentId as never,
          currency: "USD"
        },
        numberOf(instrumentId)
      ),
    { discard: true }
  )

export const millisNow = Effect.map(Instant.now, (now) => Number(now / 1_000_000n))
export const dateOf = (millis: number): Date.Date =>
  Date.of(new globalThis.Date(millis).toISOString().slice(0, 10))

export const accountAt = ({ banking }: Town, instrumentId: string): Books.Account => {
  const found = banking.accounts.get(instrumentId)
  if (found === undefined) throw new Error(`no account of ${instrumentId}`)
  return found
}

export const pick = <A>({ die }: Bank, from: ReadonlyArray<A>): A | undefined =>
  from[die.roll(Math.max(1, from.length))]

/** The line by which the staff name an entry: any copy in force, by chance; null: no statement has it. */
export const placeOf = (
  { banking }: Town,
  id: number
): { readonly statementId: string; readonly line: number } | null => {
  const places = [...banking.accounts.values()].flatMap(({ inForce }) =>
    [...inForce.values()].flatMap((statement) =>
      statement.lines.flatMap(({ cents, entry }, index) =>
        entry.id === id && cents === entry.cents
          ? [{ statementId: statement.id, line: index + 1, source: statement.source }]
          : []
      )
    )
  )
  const found = pick(banking, places)
  return found === undefined ? null : { statementId: found.statementId, line: found.line }
}

/** The step from which statements in force say that an entry was taken back; null: they do not. */
export const takenBackSince = ({ accounts }: Bank, id: number): number | null => {
  for (const { takenBack } of accounts.values()) {
    const since = takenBack.get(id)
    if (since !== undefined) return since
  }
  return null
}

/** Orders ask for cash of entries; until their acts succeed they may have reserved it. */
export const asks = ({ reservations }: Bank, uses: ReadonlyArray<Books.Use>): void => {
  reservations.push(...uses)
}

/** An act has taken what it asked for. */
export const uses = ({ reservations }: Bank, { by, cents, line }: Books.Use): void => {
  const at = reservations.findIndex(
    (use) => use.by === by && use.line === line && use.cents === cents
  )
  if (at >= 0) reservations.splice(at, 1)
}

/** An order that ended returns what it had reserved. */
export const returns = ({ reservations }: Bank, orderId: string): void => {
  reservations.splice(0, reservations.length, ...reservations.filter(({ by }) => by !== orderId))
}

/** Now and then the staff name an entry again that an order took: by a copy, they would not see it. */
export const usedAgain = (
  { bank, banking }: Town,
  given: Pick<Books.Booked, "cents" | "direction"> & { readonly instrumentId: string }
): readonly [number, bigint] | null => {
  if (!banking.die.once(3)) return null
  const { ledger } = banking.accounts.get(given.instrumentId) ?? { ledger: [] }
  const used = new Set(bank.used.map(({ line }) => line))
  const found = pick(
    banking,
    ledger.filter(
      ({ cents, direction, id }) =>
        used.has(id) && direction === given.direction && cents >= given.cents && given.cents > 0n
    )
  )
  return found === undefined ? null : [found.id, given.cents]
}
