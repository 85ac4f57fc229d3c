/**
 * Look-ups of successions in an instrument, all by the rule `successorOf`: the last successor of an
 * owed party, and the predecessors of a holder. Each takes a few look-ups for every link of the
 * longest chain, however many holders are asked about.
 */
import { Effect, Option, Stream } from "effect"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { holdersOfParties } from "../../holders/holder/HolderLookups.ts"
import { partyMovements } from "../../instruments/register/Movement.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { idOf, recoveries } from "../../powers/Recovery.ts"
import { Records } from "../../records/Records.ts"
import type { DistributionLine } from "./DistributionLine.ts"
import { isNamed, type PayeeSuccessor, successorOf } from "./PayeeRules.ts"

/** Largest number of holders in a chain of successors; a longer one is a loop, which is a defect. */
const chainMax = 100

const endless = (holderId: string) => new Error(`the successors of ${holderId} do not end`)

/** A holder, and the instrument whose income is asked about. */
interface SuccessionQuestion {
  readonly holder: Holder
  readonly instrumentId: string
}

/** Loads the successors of holders, each in its instrument and in the order asked; null: it has none. */
const successorsOf = Effect.fnUntraced(function* (
  questions: ReadonlyArray<SuccessionQuestion>,
  pin: Pin.ResolvedPin | undefined
) {
  // Units are recovered to a registered successor, so that a holder without one needs no look-up.
  const ids = questions.map(({ holder: { holderId, successor }, instrumentId }) =>
    successor === null ? null : idOf({ holderId, instrumentId })
  )
  const named = [...new Set(ids.flatMap((id) => id ?? []))]
  const records = yield* Records
  const found = named.length === 0 ? [] : yield* records.many(recoveries, named, pin)
  const byId = new Map(found.map((recovery) => [idOf(recovery), recovery]))
  const successors: Array<PayeeSuccessor | null> = []
  for (const [nth, { holder }] of questions.entries()) {
    successors.push(successorOf({ holder, recovery: byId.get(ids[nth] ?? "") ?? null }))
  }
  return successors
})

/** Finds those of these holders, by id, whose income of the instrument is a successor's. */
export const succeededIn = Effect.fnUntraced(function* (
  instrumentId: string,
  found: ReadonlyArray<Holder>,
  pin: Pin.ResolvedPin
) {
  const successors = yield* successorsOf(
    found.map((holder) => ({ holder, instrumentId })),
    pin
  )
  return new Set(
    found.flatMap(({ holderId }, nth) => (successors[nth] === null ? [] : [holderId as string]))
  )
})

/**
 * Finds the nearest predecessor of each of these holders whose units of the instrument were recovered
 * at an instant or later, by the holder's id: its days are in the holder's line.
 */
export const recoveredSince = Effect.fnUntraced(function* (
  instrumentId: string,
  successors: ReadonlyArray<Holder>,
  since: Instant.Instant
) {
  const records = yield* Records
  const found = new Map<string, string>()
  const succeeding = successors.filter(({ predecessor }) => predecessor !== null)
  if (succeeding.length === 0) return found
  for (const [holderId, [nearest]] of yield* predecessorsOf(instrumentId, succeeding)) {
    if (nearest === undefined) continue
    const where = { party: [nearest.party], instrumentId: [instrumentId], kind: ["recovery"] }
    const last = yield* records.stream(partyMovements, { where, direction: "desc" }).pipe(
      Stream.map(({ record }) => record),
      Stream.filter(({ from }) => from === nearest.party),
      Stream.runHead
    )
    const isSince = Option.match(last, {
      onNone: () => false,
      onSome: ({ ledgerTime }) => Instant.atOrAfter(ledgerTime, since)
    })
    if (isSince) found.set(holderId, nearest.holderId)
  }
  return found
})

/**
 * Loads the predecessors of holders in the instrument at the pin, the latest when absent: nearest
 * first, by the holder's id; a holder that succeeds nobody in it is left out.
 */
export const predecessorsOf = (
  instrumentId: string,
  successors: ReadonlyArray<Holder>,
  pin?: Pin.ResolvedPin
) =>
  Effect.map(
    chainsOf(
      successors.map((holder) => ({ holder, instrumentId })),
      pin
    ),
    (chains) =>
      new Map(
        [...chains].map(([{ holder }, found]): [string, ReadonlyArray<Holder>] => [
          holder.holderId,
          found
        ])
      )
  )

/** Loads the predecessors of one holder, by the instrument; one that it succeeds nobody in is left out. */
export const predecessorsByInstrument = (
  holder: Holder,
  instrumentIds: ReadonlyArray<string>,
  pin?: Pin.ResolvedPin
) =>
  Effect.map(
    chainsOf(
      instrumentIds.map((instrumentId) => ({ holder, instrumentId })),
      pin
    ),
    (chains) =>
      new Map(
        [...chains].map(([{ instrumentId }, found]): [string, ReadonlyArray<Holder>] => [
          instrumentId,
          found
        ])
      )
  )

/** Loads the predecessors of each of these holders, nearest first. */
const chainsOf = Effect.fnUntraced(function* (
  questions: ReadonlyArray<SuccessionQuestion>,
  pin: Pin.ResolvedPin | undefined
) {
  const records = yield* Records
  const chains = new Map<SuccessionQuestion, ReadonlyArray<Holder>>()
  let ends = questions.map((question) => ({ question, end: question.holder }))
  for (let length = 0; ends.length > 0; length++) {
    if (length === chainMax) throw endless(ends[0]!.end.holderId)
    const ids = [...new Set(ends.flatMap(({ end }) => end.predecessor ?? []))]
    const found = ids.length === 0 ? [] : yield* records.many(holders, ids, pin)
    const holderOf = new Map(found.map((holder) => [holder.holderId as string, holder]))
    const links = ends.flatMap((link) => {
      const before = holderOf.get(link.end.predecessor ?? "")
      return before === undefined ? [] : [{ ...link, before }]
    })
    const successors = yield* successorsOf(
      links.map(({ question: { instrumentId }, before: holder }) => ({ holder, instrumentId })),
      pin
    )
    ends = links.flatMap(({ question, end, before }, nth) => {
      if (!isNamed(end, successors[nth] ?? null)) return []
      chains.set(question, [...(chains.get(question) ?? []), before])
      return [{ question, end: before }]
    })
  }
  return chains
})

/**
 * Loads the payees of lines, in the order of the lines: the last successor of the party's holder, or
 * that holder; null for a party that is no holder. Includes the changes of this transaction.
 */
export const payeesOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Pick<DistributionLine, "party" | "instrumentId">>
) {
  const records = yield* Records
  const first = yield* holdersOfParties(lines.map(({ party }) => party))
  const payees = lines.map(({ party }): Holder | null => first.get(party) ?? null)
  let ends = lines.flatMap(({ instrumentId }, nth) => {
    const holder = payees[nth] ?? null
    return holder === null ? [] : [{ nth, holder, instrumentId }]
  })
  for (let length = 0; ends.length > 0; length++) {
    if (length === chainMax) throw endless(ends[0]!.holder.holderId)
    const successors = yield* successorsOf(ends, undefined)
    const ids = successors.flatMap((named) => (named?.by === "holder" ? [named.holderId] : []))
    const parties = successors.flatMap((named) => (named?.by === "party" ? [named.party] : []))
    const byId = new Map(
      (ids.length === 0 ? [] : yield* records.many(holders, [...new Set(ids)])).map((holder) => [
        holder.holderId as string,
        holder
      ])
    )
    const byParty = yield* holdersOfParties(parties)
    ends = ends.flatMap((end, place) => {
      const named = successors[place] ?? null
      const holder =
        named === null
          ? undefined
          : named.by === "holder"
            ? byId.get(named.holderId)
            : byParty.get(named.party)
      if (holder === undefined) return []
      payees[end.nth] = holder
      return [{ ...end, holder }]
    })
  }
  return payees
})
