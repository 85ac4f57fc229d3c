/**
 * Chance acts of the town's bank: seldom the bank takes an entry back, or its statements contradict each
 * other, do not continue, or stay away, until the bank and the venue's staff mend it. The acts are drawn
 * from a stream of their own, so that the town's other chances fall as they would without the bank.
 */
import { Records } from "@bursar/engine-core"
import { Date } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { findings } from "#core/findings/Finding.ts"
import { holds } from "#core/restraints/hold/Hold.ts"
import * as B from "../books.ts"
import { signs, submit } from "./asking.ts"
import { accountAt, dateOf, millisNow, pick, type Trouble } from "./bank-accounts.ts"
import * as Books from "./bank-books.ts"
import { feeds, reorders, reverses, sends, tableDate, tables } from "./bank-statements.ts"
import { beginning } from "./model.ts"
import * as People from "./people.ts"
import { note, tell, type Town } from "./town.ts"

/** Cents by which the opening and closing balance of a broken statement are wrong. */
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
  const usedBy = [...bank.used, ...banking.reservations].filter(({ line }) => line === booked.id)
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
      const recordedEntryIds = [...account.inForce.values()].flatMap((statement) =>
        statement.source === "bank" ? statement.lines.map(({ entry }) => entry.id) : []
      )
      const possible = lines.filter(
        ({ entry }) =>
          entry.reference !== null &&
          entry.reference !== feeReference &&
          entry.takesBack === null &&
          !reversed.has(entry.id) &&
          recordedEntryIds.includes(entry.id)
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
    // The staff notice a missing statement later than another trouble.
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

/** Acts of the bank, and of the venue's staff who ask the bank, beside one step of the town. */
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
