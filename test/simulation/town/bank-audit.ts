/**
 * Audit of the bank of a town at rest: what orders took of each entry over all its copies, the findings
 * that runs have open, and the verdicts and holds that follow, against the books alone.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect, Stream } from "effect"
import { findings, type Finding } from "#core/findings/Finding.ts"
import { holds as openHolds } from "#core/restraints/hold/Hold.ts"
import * as StatementQueries from "#core/overviews/external-statement/StatementQueries.ts"
import * as Calls from "../../engine/calls.ts"
import * as Reconciling from "../../operations/reconciling.ts"
import { holds, same } from "../books.ts"
import * as Books from "./bank-books.ts"
import { cent, signedAtoms } from "./figures.ts"
import { mayRun, note, type Town } from "./town.ts"

const limit = 100_000

const centsOf = (figure: Decimal.Decimal): bigint => signedAtoms(Decimal.formatPlain(figure)) / cent

const size = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/** Sum that orders surely took of an entry, and the most that they may have. */
const takenOf = ({ bank, banking }: Town, id: number) => {
  const sum = (uses: ReadonlyArray<Books.Use>) =>
    uses.reduce((all, { cents, line }) => (line === id ? all + cents : all), 0n)
  const least = sum(bank.used)
  return { least, most: least + sum(banking.reservations) }
}

/** Every line in force shows the entry that it states: its first copy, what is taken of all, its reversal. */
const lines = Effect.fnUntraced(function* (town: Town, account: Books.Account) {
  const queries = yield* Queries
  const entries = Books.entriesOf(account)
  const reversals = Books.reversalsOf(entries)
  const byLine = new Map(
    entries.flatMap((entry) => entry.copies.map((copy) => [Books.nameOf(copy), entry] as const))
  )
  for (const statement of account.inForce.values()) {
    const { rows } = yield* queries.streamed(StatementQueries.get, {
      caller: Calls.operator,
      params: { externalStatementId: statement.id as never },
      point: {}
    })
    const views = rows === null ? [] : yield* Stream.runCollect(rows)
    same(views.length, statement.lines.length, `the lines of ${statement.id}`)
    for (const view of views) {
      if (view.kind !== "cash") throw new Error("no line of cash")
      const name = `${statement.id}:${view.line}`
      const entry = byLine.get(name)
      if (entry === undefined) throw new Error(`no entry of ${name}`)
      const [first] = entry.copies
      const reversal = reversals.get(entry)?.copies[0]
      const placed = (
        place: { readonly externalStatementId: string; readonly line: number } | null
      ) => (place === null ? null : `${place.externalStatementId}:${place.line}`)
      same(
        [placed(view.sameAs), placed(view.reversedBy)],
        [
          Books.nameOf(first) === name ? null : Books.nameOf(first),
          reversal === undefined ? null : Books.nameOf(reversal)
        ],
        `the entry of ${name}`
      )
      // A line that contradicts the bank's ledger is a copy of nothing, and nobody names it.
      const { least, most } =
        first.cents === first.entry.cents ? takenOf(town, first.entry.id) : { least: 0n, most: 0n }
      const taken = centsOf(view.taken)
      holds(
        taken >= least && taken <= most && taken <= first.cents,
        `${taken} of ${name} are taken, not ${least} to ${most} of ${first.cents}`
      )
      if (entry.copies.length > 1) note(town, "copies compared")
      if (entry.copies.length > 1 && taken > 0n) note(town, "taken copies compared")
      if (reversal !== undefined) note(town, "reversed entry compared")
    }
  }
})

const shownOf = ({ severity, subject, unexplained }: Finding): Books.Expected => ({
  subject: subject.id,
  severity: severity === "blocking" ? "blocking" : "warning",
  unexplained: centsOf(unexplained)
})

const sorted = (some: ReadonlyArray<Books.Expected>) =>
  some.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))

/** Findings of a fund that are to be open, and no other that blocks. */
const found = Effect.fnUntraced(function* (town: Town, account: Books.Account) {
  const { bank, banking } = town
  const { instrumentId } = account
  const records = yield* Records
  const now = Number((yield* Instant.now) / 1_000_000n)
  const all = (yield* records.list(findings, { limit }))
    .map(({ record }) => record)
    .filter((record) => record.instrumentId === instrumentId && record.state === "open")
  const ofCheck = (check: string) => all.filter((record) => record.check === check)
  const discontinued = Books.discontinued(account, now)
  same(
    sorted(ofCheck("cash-balance").map(shownOf)),
    sorted(discontinued),
    `the balances of ${instrumentId} that do not continue`
  )
  // Cash that an act reserved and has not consumed counts as taken in a run; the books do not know whether
  // the act reserved it, so the rest of such an entry is not compared.
  const unknown = new Set(banking.reservations.map(({ line }) => line))
  const unsure = new Set(
    account.ledger
      .filter(({ id, takesBack }) => unknown.has(id) || unknown.has(takesBack ?? 0))
      .map(({ date, reference }) => `${account.externalAccountId}:${reference ?? `:${date}`}`)
  )
  const isSure = ({ severity, subject }: Books.Expected) =>
    severity === "blocking" || !unsure.has(subject)
  const unmatched = Books.unmatched(account, bank.used)
  const sized = (some: ReadonlyArray<Books.Expected>) =>
    sorted(some.filter(isSure)).map((one) =>
      // Of a contradiction either statement may be the first.
      one.severity === "blocking" ? { ...one, unexplained: size(one.unexplained) } : one
    )
  same(
    sized(ofCheck("cash-unmatched").map(shownOf)),
    sized(unmatched),
    `what no order took at the bank of ${instrumentId}`
  )
  const surely = Books.ordersTakenBack(account, bank.used)
  const possibly = Books.ordersTakenBack(account, banking.reservations)
  const settlements = ofCheck("cash-settlement").filter(({ severity }) => severity === "blocking")
  for (const { subject } of settlements) {
    holds(
      surely.has(subject.id) || possibly.has(subject.id),
      `${subject.id} is found short of cash, and the bank took nothing back`
    )
  }
  const short = new Set(settlements.map(({ subject }) => subject.id))
  const left = [...surely].filter((id) => !short.has(id) && !banking.accepted.has(id))
  same(left, [], `orders of ${instrumentId} whose cash the bank took back, and nobody found`)
  same(
    ofCheck("statement-gap").map(({ unexplained }) =>
      size(signedAtoms(Decimal.formatPlain(unexplained)))
    ),
    Books.gapsOf(account) === 0 ? [] : [BigInt(Books.gapsOf(account)) * 10n ** 10n],
    `the dates that the bank of ${instrumentId} left out`
  )
  const blocking = all.filter(({ severity }) => severity === "blocking")
  const other = blocking.filter(
    ({ check }) => !["cash-balance", "cash-unmatched", "cash-settlement"].includes(check)
  )
  same(
    other.map(({ check, subject }) => `${check} ${subject.id}`),
    [],
    `what else stops ${instrumentId}`
  )
  for (const { check, severity } of all) {
    if (check.startsWith("cash-")) note(town, `found ${check} ${severity}`)
  }
  const expected = [...discontinued, ...unmatched].some(({ severity }) => severity === "blocking")
  const isShort = left.length > 0 || short.size > 0
  return expected || isShort
})

/** A run of a fund finds what the books say, and its verdict and the hold follow from it. */
const judged = Effect.fnUntraced(function* (town: Town, account: Books.Account) {
  const { banking } = town
  const records = yield* Records
  const { instrumentId } = account
  const body = JSON.stringify({ scope: { instrumentIds: [instrumentId] } })
  const { value } = yield* Reconciling.run(body, { key: `bank-${++town.count}` })
  // While the ledger is away a run clears nothing.
  if (value.checks.some(({ ran }) => !ran)) return "not compared" as const
  const isBlocked = yield* found(town, account)
  same(value.verdict === "blocked", isBlocked, `whether ${instrumentId} is blocked`)
  note(town, `bank verdict ${value.verdict}`)
  const isHeld = (yield* records.list(openHolds, { limit })).some(
    ({ record }) =>
      record.state === "open" &&
      record.source === "reconciliation" &&
      record.instrumentId === instrumentId
  )
  const span = banking.stopped.get(instrumentId)
  holds(!isBlocked || isHeld, `${instrumentId} is blocked, and no hold is open`)
  holds(!isHeld || span !== undefined, `${instrumentId} is held, and nothing was found`)
  if (isHeld && span !== undefined) span.from = Math.min(span.from, town.step)
  if (isHeld) note(town, "hold of the bank compared")
  return isHeld ? ("held" as const) : ("free" as const)
})

/** Audits the funds whose bank is in trouble, while the town goes on; not while the ledger is away. */
export const inPassing = Effect.fnUntraced(function* (town: Town) {
  const { accounts, troubles } = town.banking
  if (!(yield* mayRun(town))) return
  for (const instrumentId of troubles.keys()) {
    const account = accounts.get(instrumentId)
    if (account !== undefined) yield* judged(town, account)
  }
})

/** Audits every fund once nothing is left to do: a hold that is not open by then never was. */
export const atRest = Effect.fnUntraced(function* (town: Town) {
  const { banking } = town
  for (const account of banking.accounts.values()) {
    const { instrumentId } = account
    const how = yield* judged(town, account)
    holds(how !== "not compared", `the bank of ${instrumentId} is not compared at rest`)
    yield* lines(town, account)
    const span = banking.stopped.get(instrumentId)
    if (how === "held" || span === undefined || banking.troubles.has(instrumentId)) continue
    span.until = town.step
    banking.stopped.delete(instrumentId)
  }
})
