/** Entries and statements of the town's bank: what it books, and the files by which its sources state it. */
import { Date } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import * as Intakes from "../../operations/intakes.ts"
import * as B from "../books.ts"
import { accountAt, dateOf, hour, millisNow, numberOf, sourceOf } from "./bank-accounts.ts"
import * as Books from "./bank-books.ts"
import * as Files from "./bank-files.ts"
import { note, tell, type Town } from "./town.ts"

// ---- entries

/** Books a payment of an order; how its bank names it is by chance. */
export const books = Effect.fnUntraced(function* (
  town: Town,
  instrumentId: string,
  given: Pick<Books.Booked, "id" | "cents" | "direction">
) {
  const { die } = town.banking
  const naming = die.pick(["bank", "bank", "bank", "payer", "nothing"] as const)
  const date = dateOf(yield* millisNow)
  const account = accountAt(town, instrumentId)
  const booked: Books.Booked = {
    ...{ ...given, date, takesBack: null },
    reference: naming === "bank" ? `B${given.id}` : null,
    payer: naming === "payer" ? `P${given.id}` : null
  }
  account.ledger.push(booked)
  note(town, `entry named by ${naming}`)
  // Seldom it is taken back before its statement is sent.
  if (naming !== "nothing" && die.once(25)) reverses(town, account, { booked, date })
})

export const reverses = (
  town: Town,
  account: Books.Account,
  { booked, date }: { readonly booked: Books.Booked; readonly date: Date.Date }
) => {
  const direction = booked.direction === "credit" ? ("debit" as const) : ("credit" as const)
  const id = -++town.banking.others
  account.ledger.push({ ...booked, id, date, direction, takesBack: booked.id })
  tell(town, `the bank takes entry ${booked.id} back`)
}

// ---- statements

/** Hands a file in; returns its statements, oldest first. */
const hands = Effect.fnUntraced(function* (
  text: string,
  given: {
    readonly source: string
    readonly mediaType: "application/xml" | "application/json" | "text/csv"
    readonly businessDate?: Date.Date
    readonly corrects?: string
  }
) {
  const { value } = yield* Intakes.receive(new TextEncoder().encode(text), {
    mediaType: given.mediaType,
    named: {
      externalSourceId: given.source,
      businessDate: given.businessDate ?? null,
      corrects: (given.corrects ?? null) as never
    }
  })
  return value["statements"] as ReadonlyArray<{
    readonly externalStatementId: string
    readonly recorded: boolean
  }>
})

/** Puts a statement into the books, in the place of the one that it corrects. */
const stated = (town: Town, account: Books.Account, statement: Books.Stated, corrects?: string) => {
  if (corrects !== undefined) account.inForce.delete(corrects)
  account.inForce.set(statement.id, statement)
  const backs = new Set(
    [...account.inForce.values()].flatMap(({ lines }) =>
      lines.flatMap(({ entry }) => entry.takesBack ?? [])
    )
  )
  for (const id of account.takenBack.keys()) if (!backs.has(id)) account.takenBack.delete(id)
  for (const id of backs) if (!account.takenBack.has(id)) account.takenBack.set(id, town.step)
  const { balances, date, lines, place, source } = statement
  const how = corrects === undefined ? "states" : "corrects"
  const entries = lines.map(
    ({ cents, entry }) => `${entry.id}=${Books.signed({ ...entry, cents })}`
  )
  const from = balances === null ? "" : ` from ${balances.opening}`
  tell(
    town,
    `${source} of ${account.instrumentId} ${how} ${date}/${place}${from}: ${entries.join(" ")}`
  )
  note(town, `${source} ${how}`)
}

const linesOf = (entries: ReadonlyArray<Books.Booked>): ReadonlyArray<Books.Line> =>
  entries.map((entry) => ({ entry, cents: entry.cents }))

const contentOf = ({ asOf, balances, date, lines, sequence }: Books.Stated): Files.Content => ({
  ...{ asOf, date, lines, sequence },
  opening: balances?.opening ?? 0n,
  closing: balances?.closing ?? 0n
})

/** Moment of a statement's figures: now, or the end of its date. */
const momentOf = ({ date }: Pick<Books.Stated, "date">, now: number): string =>
  date === dateOf(now) ? new globalThis.Date(now).toISOString() : `${date}T23:59:59Z`

/**
 * The first feed states what it has not stated: one statement for each booking date, in one file. The
 * file may repeat the statement before.
 */
export const sends = Effect.fnUntraced(function* (town: Town, instrumentId: string) {
  const { banking } = town
  const account = accountAt(town, instrumentId)
  const fresh = account.ledger.slice(account.stated)
  if (fresh.length === 0) return
  const now = yield* millisNow
  const drafts: Array<Books.Stated> = []
  for (const entries of Map.groupBy(fresh, ({ date }) => date).values()) {
    const date = entries[0]?.date ?? dateOf(now)
    const opening = Books.balanceAfter(account, account.stated)
    const lines = linesOf(entries)
    const closing = entries.reduce((sum, entry) => sum + Books.signed(entry), opening)
    const ofDay = [...account.inForce.values(), ...drafts].filter(
      (other) => other.source === "bank" && other.date === date
    )
    account.stated += entries.length
    drafts.push({
      ...{ id: "", source: "bank", date, place: ofDay.length + 1, receivedAt: now, lines },
      ...{ balances: { opening, closing }, sequence: ++account.sequence },
      asOf: momentOf({ date }, now)
    })
  }
  const contents = drafts.map(contentOf)
  const last = account.sequence - drafts.length
  const before = [...account.inForce.values()].find(
    ({ sequence, source }) => source === "bank" && sequence === last
  )
  const isRepeating = before !== undefined && banking.die.once(4)
  const repeated = isRepeating ? [contentOf(before)] : []
  const file = Files.camt([...repeated, ...contents], {
    account: numberOf(instrumentId),
    name: `F${++banking.files}`
  })
  const source = sourceOf("bank", instrumentId)
  const answered = yield* hands(file, { source, mediaType: "application/xml" })
  B.same(
    answered.map(({ recorded }) => recorded),
    [...repeated.map(() => false), ...drafts.map(() => true)],
    `which statements of a file of ${source} were recorded`
  )
  const ids = answered.slice(repeated.length).map(({ externalStatementId }) => externalStatementId)
  for (const [index, each] of drafts.entries()) {
    stated(town, account, { ...each, id: ids[index] ?? "" })
  }
  if (isRepeating) note(town, "statement repeated in the next file")
  if (drafts.length > 1) note(town, "file of several statements")
})

/** The second feed states a date that has ended, from the end of the last one that it has passed. */
export const feeds = Effect.fnUntraced(function* (
  town: Town,
  account: Books.Account,
  given: { readonly date: Date.Date; readonly off: bigint; readonly corrects?: Books.Stated }
) {
  const { banking } = town
  const { corrects, date, off } = given
  const now = yield* millisNow
  const previous = corrects?.balances?.opening
  const upTo = account.ledger.filter((entry) => !Date.isBefore(date, entry.date)).length
  const lines = corrects?.lines ?? linesOf(account.ledger.slice(account.feedStated, upTo))
  const opening = (previous ?? Books.balanceAfter(account, account.feedStated)) + off
  const closing = lines.reduce(
    (sum, { cents, entry }) => sum + Books.signed({ ...entry, cents }),
    opening
  )
  const statement: Books.Stated = {
    ...{ id: "", source: "feed", date, place: 1, receivedAt: now, lines },
    ...{ balances: { opening, closing }, sequence: 0, asOf: `${date}T23:59:59Z` }
  }
  const content = contentOf(statement)
  const [answered] = yield* hands(Files.json(content, { name: `F${++banking.files}` }), {
    ...{ source: sourceOf("feed", account.instrumentId), mediaType: "application/json" as const },
    ...(corrects === undefined ? {} : { corrects: corrects.id })
  })
  stated(town, account, { ...statement, id: answered?.externalStatementId ?? "" }, corrects?.id)
  if (corrects === undefined) account.feedStated = upTo
})

/** The date of the newest table that may be sent. */
export const tableDate = (now: number): Date.Date => dateOf(now - 10 * hour - 1)

/** The table states the entries of some days; another one of the date corrects it. */
export const tables = Effect.fnUntraced(function* (
  town: Town,
  account: Books.Account,
  change: (lines: ReadonlyArray<Books.Line>) => ReadonlyArray<Books.Line> = (lines) => lines,
  given: { readonly date?: Date.Date } = {}
) {
  const { die } = town.banking
  const now = yield* millisNow
  const date = given.date ?? Date.addDays(tableDate(now), -die.roll(2))
  const before = [...account.inForce.values()].find(
    (other) => other.source === "table" && other.date === date
  )
  const from = Date.addDays(date, -2)
  const entries = account.ledger.filter(
    (entry) => !Date.isBefore(entry.date, from) && !Date.isBefore(date, entry.date)
  )
  const lines = change(linesOf(entries))
  if (lines.length === 0) return null
  const file = Files.table(lines)
  if (before !== undefined && Files.table(before.lines) === file) return null
  const [answered] = yield* hands(file, {
    ...{ source: sourceOf("table", account.instrumentId), mediaType: "text/csv" as const },
    ...{ businessDate: date, ...(before === undefined ? {} : { corrects: before.id }) }
  })
  const id = answered?.externalStatementId ?? ""
  const statement = { id, source: "table", date, place: 1, receivedAt: now, lines } as const
  stated(town, account, { ...statement, balances: null, sequence: 0, asOf: "" }, before?.id)
  return id
})

const isAlike = (one: Books.Line, other: Books.Line) =>
  one.entry.reference === null &&
  other.entry.reference === null &&
  one.entry.payer === other.entry.payer &&
  one.entry.date === other.entry.date &&
  one.entry.direction === other.entry.direction &&
  one.cents === other.cents

/** A statement of the first feed comes again as its own correction, with its entries in another order. */
export const reorders = Effect.fnUntraced(function* (town: Town, account: Books.Account) {
  const all = [...account.inForce.values()].filter(
    ({ lines, source }) =>
      source === "bank" &&
      lines.length > 1 &&
      // Equal entries are told by their order alone.
      lines.every((one) => lines.every((other) => one === other || !isAlike(one, other)))
  )
  const before = all[town.banking.die.roll(Math.max(1, all.length))]
  if (before === undefined) return
  const now = yield* millisNow
  const lines = before.lines.toReversed()
  const reordered = { ...before, lines, asOf: momentOf(before, now), receivedAt: now }
  const { instrumentId } = account
  const name = `F${++town.banking.files}`
  const file = Files.camt([contentOf(reordered)], { account: numberOf(instrumentId), name })
  const source = sourceOf("bank", instrumentId)
  const [answered] = yield* hands(file, {
    ...{ source, mediaType: "application/xml" as const, corrects: before.id }
  })
  const id = answered?.externalStatementId ?? ""
  stated(town, account, { ...reordered, id }, before.id)
})
