/**
 * Look-ups of distribution lines: by payee, by holder, and lines for which the next distribution
 * leaves their holder out.
 */
import { Effect, Option, Stream } from "effect"
import type * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as UnitOfWork from "../../records/UnitOfWork.ts"
import {
  type DistributionLine,
  distributionLines,
  inStates,
  isOwed,
  isUnrolled,
  owed,
  paid,
  payeeKeyOf,
  tallyOf,
  unrolled
} from "./DistributionLine.ts"
import { executedOf } from "./DistributionLookups.ts"

type Lines = ReadonlyArray<Stored<DistributionLine>>

const pinned = (pin: Pin.ResolvedPin | null) => (pin === null ? {} : { pin })

/** A holder with its party: a line from before the party became a holder has the party alone. */
export interface Payee {
  readonly holderId: string | null
  readonly party: string
}

const namesOf = ({ holderId, party }: Payee): ReadonlyArray<string> =>
  holderId === null ? [party] : [holderId, party]

/**
 * Loads the lines that these payees have in these distributions, with one statement for a chunk of
 * payees. A payee with a carry has a line in every distribution, so that the carryIn of a payee is
 * the sum of the carryOut of its lines in the last distribution; a recovery may give it two.
 */
export const linesOfPayees = (
  distributionIds: ReadonlyArray<string>,
  payees: ReadonlyArray<Payee>,
  pin: Pin.ResolvedPin | null
): Effect.Effect<Lines, Unavailable, Records> =>
  Effect.gen(function* () {
    const keys = distributionIds.flatMap((distributionId) =>
      payees.flatMap(namesOf).map((payee) => payeeKeyOf(distributionId, payee))
    )
    if (keys.length === 0) return []
    const records = yield* Records
    const found = records.stream(distributionLines, { where: { payee: keys }, ...pinned(pin) })
    return yield* Stream.runCollect(Stream.map(found, ({ record }) => record))
  })

/**
 * Counts the lines of an instrument that are due, suspended or delivered, by distribution: until they
 * are rolled, the next distribution leaves their holders out or is blocked.
 */
export const unrolledIn = (
  instrumentId: string,
  pin: Pin.ResolvedPin | null
): Effect.Effect<ReadonlyMap<string, number>, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    records.countBy(distributionLines, "distributionId", {
      where: { open: [instrumentId] },
      ...pinned(pin)
    })
  )

/** Finds the first of these lines that is due, suspended or delivered. Lost ones are passed over. */
const firstUnrolled = (
  where: Readonly<Record<string, ReadonlyArray<string>>>,
  pin: Pin.ResolvedPin | null
): Effect.Effect<Option.Option<Stored<DistributionLine>>, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    records.stream(distributionLines, { where, ...pinned(pin) }).pipe(
      Stream.map(({ record }) => record),
      Stream.filter(isUnrolled),
      Stream.runHead
    )
  )

/** Checks whether a line of the instrument is due, suspended or delivered. */
export const hasUnrolled = (
  instrumentId: string,
  pin: Pin.ResolvedPin | null
): Effect.Effect<boolean, Unavailable, Records> =>
  Effect.map(firstUnrolled({ open: [instrumentId] }, pin), Option.isSome)

/**
 * Loads the lines of these payees that are due, suspended or delivered, out of the distributions that
 * `unrolledIn` names, with one statement for a chunk of payees.
 */
export const unrolledOf = (
  distributionIds: ReadonlyArray<string>,
  payees: ReadonlyArray<Payee>,
  pin: Pin.ResolvedPin | null
): Effect.Effect<Lines, Unavailable, Records> =>
  Effect.map(linesOfPayees(distributionIds, payees, pin), (lines) => lines.filter(isUnrolled))

/** Finds the id of a line of the holder that is due, suspended or delivered; null: it has none. */
export const unrolledOfHolder = (
  holderId: string
): Effect.Effect<string | null, Unavailable, Records> =>
  Effect.map(
    firstUnrolled({ holderId: [holderId], state: [...unrolled] }, null),
    Option.match({ onNone: () => null, onSome: ({ lineId }) => lineId })
  )

/**
 * Loads the due or suspended lines of holders, and of parties that are no holders yet, with the
 * changes of this transaction. Only inside `Records.transact`.
 */
export const owedTo = (payees: ReadonlyArray<Payee>): Effect.Effect<Lines, Unavailable, Records> =>
  Effect.gen(function* () {
    if (payees.length === 0) return []
    const anyOf = [...new Set(payees.flatMap(namesOf))]
    const records = yield* Records
    const listed = yield* Stream.runCollect(
      records.ids(distributionLines, { where: { owedTo: anyOf } })
    )
    const written = yield* records.uncommitted(distributionLines, { column: "owedTo", anyOf })
    const ids = [...new Set([...listed, ...written])]
    if (ids.length === 0) return []
    const lines = yield* records.many(distributionLines, ids)
    return lines
      .filter(isOwed)
      .toSorted((a, b) =>
        distributionLines.sortKey(a, a.createdAt) < distributionLines.sortKey(b, b.createdAt)
          ? -1
          : 1
      )
  })

/**
 * Memo, by transaction, of whether any line was due or suspended before it. Exact for the
 * projection, which alone adds lines, so that all later ones are in its own transaction.
 */
const owedBefore = new WeakMap<object, boolean>()

/**
 * Checks whether any line is due or suspended, with the changes of this transaction; asks the store
 * once in a transaction. Only in a transaction of the projection.
 */
export const isAnyOwed: Effect.Effect<boolean, Unavailable, Records> = Effect.gen(function* () {
  const records = yield* Records
  const anyOf = [...owed]
  const written = yield* records.uncommitted(distributionLines, { column: "state", anyOf })
  if (written.length > 0) return true
  const transaction = yield* UnitOfWork.within
  const memo = owedBefore.get(transaction)
  if (memo !== undefined) return memo
  const found = yield* records.list(distributionLines, { where: { state: anyOf }, limit: 1 })
  owedBefore.set(transaction, found.length > 0)
  return found.length > 0
})

/** Number of lines of a distribution in each state. */
export type LineCounts = Readonly<Record<DistributionLine["state"], number>>

/** Counts the lines of these distributions by state, with one statement for all. */
export const countsOf = (
  distributionIds: ReadonlyArray<string>,
  pin: Pin.ResolvedPin | null
): Effect.Effect<ReadonlyMap<string, LineCounts>, Unavailable, Records> =>
  Effect.gen(function* () {
    if (distributionIds.length === 0) return new Map()
    const records = yield* Records
    const counted = yield* records.countBy(distributionLines, "tally", {
      where: { distributionId: distributionIds },
      ...pinned(pin)
    })
    return new Map(
      distributionIds.map((distributionId) => {
        const count = (state: DistributionLine["state"]) =>
          counted.get(tallyOf(distributionId, state)) ?? 0
        return [
          distributionId,
          {
            due: count("due"),
            suspended: count("suspended"),
            delivered: count("delivered"),
            rolled: count("rolled"),
            carried: count("carried"),
            void: count("void")
          }
        ]
      })
    )
  })

/**
 * Counts the lines of these distributions by state without those that an epoch of the ledger lost: no
 * payment waits for a lost line, and no hold stops one.
 */
export const waitedCountsOf = (
  distributionIds: ReadonlyArray<string>,
  pin: Pin.ResolvedPin | null
): Effect.Effect<ReadonlyMap<string, LineCounts>, Unavailable, Records> =>
  Effect.gen(function* () {
    const counts = yield* countsOf(distributionIds, pin)
    if (distributionIds.length === 0) return counts
    const records = yield* Records
    const tallies = distributionIds.flatMap((distributionId) =>
      [...unrolled].map((state) => tallyOf(distributionId, state))
    )
    const lost = yield* records.countBy(distributionLines, "lostTally", {
      where: { lostTally: tallies },
      ...pinned(pin)
    })
    return new Map(
      [...counts].map(([distributionId, all]) => {
        const waited = (state: (typeof unrolled)[number]) =>
          all[state] - (lost.get(tallyOf(distributionId, state)) ?? 0)
        return [
          distributionId,
          {
            ...all,
            due: waited("due"),
            suspended: waited("suspended"),
            delivered: waited("delivered")
          }
        ]
      })
    )
  })

/** Payment of a delivered line: its amount and its day. */
interface Payment extends Pick<DistributionLine, "net"> {
  readonly paidOn: Date.Date
}

/**
 * Streams what the delivered lines of an instrument paid in a form, the last executed distribution
 * first, each in the order of its lines. Lines that are owed or suspended, or pay nothing, are left
 * out.
 */
export const paymentsOf = (
  instrumentId: string,
  form: DistributionLine["payout"],
  pin: Pin.ResolvedPin | null
): Stream.Stream<Payment, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(Stream.runCollect(executedOf(instrumentId, pin)), (executed) =>
      Stream.fromIterable(executed.filter(({ payout }) => payout === form)).pipe(
        Stream.flatMap(({ distributionId }) => deliveredIn(distributionId, pin)),
        Stream.filter(({ net }) => Decimal.isPositive(net))
      )
    )
  )

const deliveredIn = (distributionId: string, pin: Pin.ResolvedPin | null) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(distributionLines, {
          where: inStates(distributionId, paid),
          ...pinned(pin)
        })
        .pipe(
          Stream.map(({ record: { net, paidOn } }): Payment => {
            if (paidOn === null) throw new Error("a delivered line has no day of payment")
            return { net, paidOn }
          })
        )
    )
  )

/** Finds a line by its id, where the distribution has it. */
export const lineOf = (
  distributionId: string,
  lineId: string,
  pin: Pin.ResolvedPin | null
): Effect.Effect<Stored<DistributionLine> | null, Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.find(distributionLines, lineId, pin ?? undefined)
    const line = Option.getOrNull(found)
    return line?.distributionId === distributionId ? line : null
  })

/** Loads the first lines of a distribution in a state, in the order of their numbers. */
export const linesIn = (
  {
    distributionId,
    state
  }: { readonly distributionId: string; readonly state: DistributionLine["state"] },
  limit: number
): Effect.Effect<Lines, Unavailable, Records> =>
  Effect.flatMap(Records, (records) =>
    Effect.map(
      records.list(distributionLines, {
        where: inStates(distributionId, [state]),
        limit
      }),
      (found) => found.map(({ record }) => record)
    )
  )
