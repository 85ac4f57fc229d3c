/**
 * The town's bank by chance: entries booked on the accounts of its funds, stated by overlapping
 * statements of several sources; seldom an entry is taken back, or statements contradict each other, do
 * not continue, or stay away, until the bank and the staff mend it. Draws from a stream of its own.
 */
import { Records } from "@bursar/engine-core"
import type { ConfiguredSource } from "@bursar/engine-core"
import { Date, Duration, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { findings } from "#core/findings/Finding.ts"
import { holds } from "#core/restraints/hold/Hold.ts"
import * as Accounts from "../../operations/accounts.ts"
import * as Intakes from "../../operations/intakes.ts"
import * as B from "../books.ts"
import * as Faults from "../faults.ts"
import { signs, submit } from "./asking.ts"
import * as Books from "./bank-books.ts"
import * as Files from "./bank-files.ts"
import { beginning, type Span } from "./model.ts"
import * as People from "./people.ts"
import { note, tell, type Town } from "./town.ts"

const hour = 3_600_000
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
  readonly asked: Array<Books.Use>
  /** Entries that pay no order, and files, so far. */
  others: number
  files: number
}

const accountOf = (instrumentId: string) => `cash-${instrumentId}`
const numberOf = (instrumentId: string) =>
  `00201555${[...instrumentId].map((c) => c.charCodeAt(0)).join("")}`
const sourceOf = (source: Books.SourceName, instrumentId: string) => `${source}-${instrumentId}`

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
    ...{ troubles: new Map(), stopped: new Map(), accepted: new Set(), asked: [] },
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

const millisNow = Effect.map(Instant.now, (now) => Number(now / 1_000_000n))
const dateOf = (millis: number): Date.Date =>
  Date.of(new globalThis.Date(millis).toISOString().slice(0, 10))

const accountAt = ({ banking }: Town, instrumentId: string): Books.Account => {
  const found = banking.accounts.get(instrumentId)
  if (found === undefined) throw new Error(`no account of ${instrumentId}`)
  return found
}

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

const reverses = (
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
const feeds = Effect.fnUntraced(function* (
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

/** What the balances of a broken statement are off by. */
const offBy = 10_000n

/** The second feed states each date that has ended; seldom with wrong balances, or it leaves one out. */
const catchesUp = Effect.fnUntraced(function* (town: Town, account: Books.Account) {
  const { banking } = town
  const { instrumentId } = account
  const today = dateOf(yield* millisNow)
  account.feedDate ??= Date.addDays(today, -1)
  for (let date = Date.next(account.feedDate); Date.isBefore(date, today); date = Date.next(date)) {
    const unstated = account.ledger
      .slice(account.feedStated)
      .some((entry) => !Date.isBefore(date, entry.date))
    account.feedDate = date
    const isOwed = account.calendar.includes(Date.weekday(date))
    if (!unstated && !isOwed) continue
    const distributes = town.distributions !== null
    const hasOne = [...account.inForce.values()].some(({ source }) => source === "feed")
    const isOdd = hasOne && banking.troubles.size === 0 && banking.die.once(distributes ? 30 : 8)
    // Where the first feed has not stated them either, the next balance does not continue.
    const isUnknown = account.ledger
      .slice(Math.max(account.feedStated, account.stated))
      .some((entry) => !Date.isBefore(date, entry.date))
    if (isOdd && isUnknown && (isOwed || banking.die.once(3))) {
      const upTo = account.ledger.filter((entry) => !Date.isBefore(date, entry.date)).length
      account.feedStated = upTo
      troubles(town, instrumentId, { kind: "missing", date })
      continue
    }
    yield* feeds(town, account, { date, off: isOdd ? offBy : 0n })
    if (isOdd) troubles(town, instrumentId, { kind: "broken" })
  }
})

/** From now on a run may stop the fund. */
const stops = (town: Town, instrumentId: string) => {
  const { stopped } = town.banking
  if (stopped.has(instrumentId)) return
  const span = beginning(town.step)
  stopped.set(instrumentId, span)
  town.model.suspect({ holdId: "of findings", instrumentId, blocks: "distribution", span })
}

const troubles = (town: Town, instrumentId: string, trouble: Trouble) => {
  const { banking } = town
  banking.troubles.set(instrumentId, trouble)
  stops(town, instrumentId)
  tell(town, `the bank of ${instrumentId} is in trouble: ${trouble.kind}`)
  note(town, `bank trouble ${trouble.kind}`)
}

/** The date of the newest table that may be sent. */
const tableDate = (now: number): Date.Date => dateOf(now - 10 * hour - 1)

/** The table states the entries of some days; another one of the date corrects it. */
const tables = Effect.fnUntraced(function* (
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
const reorders = Effect.fnUntraced(function* (town: Town, account: Books.Account) {
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

// ---- acts

const pick = <A>({ die }: Bank, from: ReadonlyArray<A>): A | undefined =>
  from[die.roll(Math.max(1, from.length))]

const anyAccount = ({ banking }: Town): Books.Account => {
  const found = pick(banking, [...banking.accounts.values()])
  if (found === undefined) throw new Error("no accounts")
  return found
}

/** Reference of the bank's fee, which is the same amount each time: only its dates tell one from another. */
const feeReference = "FEE"

/** Interest, or a fee: an entry that pays no order and is stated with the next one that does. */
const earns = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  const account = anyAccount(town)
  const id = -++banking.others
  const date = dateOf(yield* millisNow)
  const common = { id, date, payer: null, takesBack: null }
  account.ledger.push(
    banking.die.once(3)
      ? { ...common, cents: 500n, direction: "debit", reference: feeReference }
      : {
          ...{ ...common, cents: BigInt(1 + banking.die.roll(500)), reference: `I${-id}` },
          direction: banking.die.pick(["credit", "credit", "debit"])
        }
  )
})

/** The bank takes an entry back that it has stated. */
const takesBack = Effect.fnUntraced(function* (town: Town) {
  const { bank, banking } = town
  const account = anyAccount(town)
  const contradicted = Books.contradictionsOf(account)
  const all = account.ledger.filter(
    (entry) =>
      entry.id > 0 &&
      (entry.reference !== null || entry.payer !== null) &&
      !contradicted.has(entry.reference ?? "") &&
      !account.ledger.some((other) => other.takesBack === entry.id)
  )
  const booked = pick(banking, banking.die.once(2) ? all : all.slice(-4))
  if (booked === undefined) return
  const usedBy = [...bank.used, ...banking.asked].filter(({ line }) => line === booked.id)
  if (usedBy.length > 0) {
    const isAccepted = usedBy.some(({ by }) => banking.accepted.has(by))
    if (banking.troubles.size > 0 || isAccepted) return
  }
  reverses(town, account, { booked, date: dateOf(yield* millisNow) })
  yield* sends(town, account.instrumentId)
  note(town, usedBy.length > 0 ? "reversed after an order took" : "reversed before an order took")
  if (usedBy.length > 0) troubles(town, account.instrumentId, { kind: "reversal" })
})

/** The table states another amount of an entry than the bank's own statements. */
const contradicts = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  const account = anyAccount(town)
  if (banking.troubles.size > 0) return
  const date = tableDate(yield* millisNow)
  const reversed = new Set(account.ledger.map((entry) => entry.takesBack))
  const id = yield* tables(
    town,
    account,
    (lines) => {
      const known = [...account.inForce.values()].flatMap((statement) =>
        statement.source === "bank" ? statement.lines.map(({ entry }) => entry.id) : []
      )
      const possible = lines.filter(
        ({ entry }) =>
          entry.reference !== null &&
          entry.reference !== feeReference &&
          entry.takesBack === null &&
          !reversed.has(entry.id) &&
          known.includes(entry.id)
      )
      const wrong = pick(banking, possible)
      return wrong === undefined
        ? []
        : lines.map((line) => (line === wrong ? { ...line, cents: line.cents + 1n } : line))
    },
    { date }
  )
  if (id !== null) troubles(town, account.instrumentId, { kind: "contradiction", statementId: id })
})

/** The table comes without an entry that other statements have. */
const leavesOut = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  yield* tables(town, anyAccount(town), (lines) => {
    const referenced = lines.filter(({ entry }) => entry.reference !== null)
    const gone = pick(banking, referenced)
    return lines.filter((line) => line !== gone)
  })
})

/** Ends the trouble of a fund, where the bank can: its statement comes right, or comes after all. */
const mends = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  for (const [instrumentId, trouble] of [...banking.troubles]) {
    // Nobody misses a statement for a while.
    if (trouble.kind === "missing" && !banking.die.once(6)) continue
    const account = accountAt(town, instrumentId)
    const statements = [...account.inForce.values()]
    switch (trouble.kind) {
      case "contradiction": {
        const wrong = statements.find(({ id }) => id === trouble.statementId)
        if (wrong !== undefined) yield* tables(town, account, undefined, { date: wrong.date })
        break
      }
      case "broken": {
        const broken = statements.find(
          (one) => one.source === "feed" && one.balances !== null && isOff(account, one)
        )
        if (broken !== undefined) {
          yield* feeds(town, account, { date: broken.date, off: -offBy, corrects: broken })
        }
        break
      }
      case "missing":
        yield* comesLate(town, account, trouble.date)
        break
      case "reversal":
        break
    }
    banking.troubles.delete(instrumentId)
    tell(town, `the trouble of the bank of ${instrumentId} is mended: ${trouble.kind}`)
    note(town, `bank mends ${trouble.kind}`)
  }
})

/** Whether a statement's opening is none that the bank's ledger ever had before the date. */
const isOff = (account: Books.Account, { balances, date }: Books.Stated): boolean => {
  const count = account.ledger.filter((entry) => Date.isBefore(entry.date, date)).length
  const openings = Array.from({ length: count + 1 }, (_, at) => Books.balanceAfter(account, at))
  return !openings.includes(balances?.opening ?? 0n)
}

/** The statement of a date that the second feed left out comes after all. */
const comesLate = Effect.fnUntraced(function* (
  town: Town,
  account: Books.Account,
  date: Date.Date
) {
  const { feedStated } = account
  const before = [...account.inForce.values()]
    .filter((one) => one.source === "feed" && Date.isBefore(one.date, date))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1))
    .at(-1)
  if (before === undefined) return
  account.feedStated = account.ledger.filter(
    (entry) => !Date.isBefore(before.date, entry.date)
  ).length
  yield* feeds(town, account, { date, off: 0n })
  account.feedStated = feedStated
})

const [operator, ...signers] = ["operator-1", "approver-1", "approver-2"].map((sub) => {
  const found = People.staff.find((person) => person.sub === sub)
  if (found === undefined) throw new Error(`nobody is ${sub}`)
  return found
})

/** The staff release a hold of findings, once the bank has mended them; what a reversal left they accept. */
const releases = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  const records = yield* Records
  for (const { instrumentId } of town.funds) {
    if (banking.troubles.has(instrumentId)) continue
    const open = (yield* records.list(holds, {
      where: { instrumentId: [instrumentId], state: ["open"] },
      limit: 100
    })).find(({ record }) => record.source === "reconciliation")?.record
    const span = banking.stopped.get(instrumentId)
    if (open === undefined || operator === undefined) continue
    const behind = yield* records.many(findings, [...open.findings])
    const causes = behind.map(({ check, subject }) => `${check} ${subject.id}`)
    B.holds(span !== undefined, `${open.holdId} has no cause: ${causes.join(", ")}`)
    const isAsked = [...town.pending.values()].some(({ act }) => act.kind === "hold.release")
    if (isAsked) continue
    const accepted = behind.filter(
      ({ check, state, severity }) =>
        check === "cash-settlement" && state === "open" && severity === "blocking"
    )
    const accept = accepted.map(({ findingId }) => findingId)
    const kind = "hold.release"
    const { holdId } = open
    yield* submit(town, {
      by: operator,
      params: { holdId },
      body: { reason: "the bank was asked", ...(accept.length === 0 ? {} : { accept }) },
      act: {
        kind,
        asks: [],
        approved: () => {
          if (span !== undefined) span.maybeUntil = Math.min(span.maybeUntil, town.step)
        },
        succeeds: () => {
          for (const { subject } of accepted) banking.accepted.add(subject.id)
          note(town, accept.length === 0 ? "bank hold released" : "reversal accepted")
          if (banking.stopped.get(instrumentId) !== span || span === undefined) return
          span.until = town.step
          banking.stopped.delete(instrumentId)
          // The run of the release may find what came meanwhile.
          if (banking.troubles.has(instrumentId)) stops(town, instrumentId)
        }
      }
    })
    const made = town.awaiting.findLast(
      ({ act, maker }) => act.kind === kind && maker === operator.sub
    )
    if (made === undefined) continue
    for (const by of signers) yield* signs(town, made, by)
  }
})

const acts = [
  [30, (town: Town) => tables(town, anyAccount(town))],
  [12, leavesOut],
  [40, earns],
  [8, (town: Town) => sends(town, anyAccount(town).instrumentId)],
  [8, (town: Town) => reorders(town, anyAccount(town))],
  [8, takesBack],
  [4, contradicts]
] as const satisfies ReadonlyArray<readonly [number, (town: Town) => unknown]>

/** What the bank, and the staff who ask it, do beside a step of the town. */
export const goesOn = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  for (const account of banking.accounts.values()) yield* catchesUp(town, account)
  if (banking.troubles.size > 0 && banking.die.once(8)) yield* mends(town)
  if (banking.die.once(3)) yield* releases(town)
  if (!banking.die.once(5)) return
  let left = banking.die.roll(acts.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, act] of acts) {
    left -= weight
    if (left < 0) {
      yield* act(town)
      return
    }
  }
})

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
export const asks = ({ asked }: Bank, uses: ReadonlyArray<Books.Use>): void => {
  asked.push(...uses)
}

/** An act has taken what it asked for. */
export const uses = ({ asked }: Bank, { by, cents, line }: Books.Use): void => {
  const at = asked.findIndex((use) => use.by === by && use.line === line && use.cents === cents)
  if (at >= 0) asked.splice(at, 1)
}

/** An order that ended returns what it had reserved. */
export const returns = ({ asked }: Bank, orderId: string): void => {
  asked.splice(0, asked.length, ...asked.filter(({ by }) => by !== orderId))
}

/** Now and then the staff name an entry again that an order took: by a copy, they would not see it. */
export const usedAgain = (
  { bank, banking }: Town,
  given: Pick<Books.Booked, "cents" | "direction"> & { readonly instrumentId: string }
): readonly [number, bigint] | null => {
  if (!banking.die.once(6)) return null
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
