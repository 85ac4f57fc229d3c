/** In-memory store of the simulated ledger. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import type * as Entry from "./Entry.ts"
import type { Head, Range, SimStore, StoredContract } from "./SimStore.ts"
import type * as Users from "./Users.ts"

/** Index of the first row after an offset, in rows ordered by offset. */
const indexAfter = (rows: ReadonlyArray<{ readonly offset: number }>, offset: number): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.offset ?? Number.POSITIVE_INFINITY) <= offset) low = middle + 1
    else high = middle
  }
  return low
}

type Place = Pick<Entry.Contract, "createdOffset" | "contractId">

const inOrder = (left: Place, right: Place): number =>
  left.createdOffset - right.createdOffset ||
  (left.contractId < right.contractId ? -1 : left.contractId > right.contractId ? 1 : 0)

/** Index of the first contract after a place, in contracts that are in order. */
const placeAfter = (contracts: ReadonlyArray<Place>, place: Place): number => {
  let low = 0
  let high = contracts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = contracts[middle]
    if (found !== undefined && inOrder(found, place) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

const slice = <R extends { readonly offset: number }>(
  rows: ReadonlyArray<R>,
  { after, through, limit }: Range
): ReadonlyArray<R> => {
  const from = indexAfter(rows, after)
  return rows.slice(from, Math.min(indexAfter(rows, through), from + limit))
}

/** Store of a simulated ledger in memory. */
export const make = (names: {
  readonly ledgerId: string
  readonly participantId: string
}): SimStore => {
  let head: Head = {
    ...names,
    offset: Offset.zero,
    clockFloor: Instant.fromNanos(0n),
    prunedOffset: Offset.zero
  }
  const transactions: Array<Entry.Transaction> = []
  const completions: Array<Entry.Completion> = []
  const byUpdateId = new Map<string, Entry.Transaction>()
  const contracts = new Map<string, StoredContract>()
  /** In the order of their offsets, so that pruning reads no contract that stays. */
  const archivals: Array<{ readonly offset: number; readonly contractId: string }> = []
  /** Memo of the last list of active contracts, which is read page by page. */
  let listed: { readonly at: Offset.Offset; readonly all: ReadonlyArray<Entry.Contract> } | null =
    null
  const parties = new Map<string, Users.PartyRecord>()
  const users = new Map<string, Users.User>()

  const append = (entry: Entry.Entry): void => {
    const { transaction, completion, offset } = entry
    completions.push(completion)
    if (transaction !== null) {
      transactions.push(transaction)
      byUpdateId.set(transaction.updateId, transaction)
    }
    for (const contract of entry.created) {
      contracts.set(contract.contractId, { contract, archivedOffset: null })
    }
    for (const contractId of entry.archived) {
      const stored = contracts.get(contractId)
      if (stored === undefined) continue
      contracts.set(contractId, { ...stored, archivedOffset: offset })
      archivals.push({ offset, contractId })
    }
    head = {
      ...head,
      offset,
      clockFloor: Instant.max(head.clockFloor, completion.recordTime)
    }
  }

  /** Ordered by (createdOffset, contractId), as in the database. */
  const ordered = (at: Offset.Offset): ReadonlyArray<Entry.Contract> =>
    [...contracts.values()]
      .filter(
        ({ contract, archivedOffset }) =>
          contract.createdOffset <= at && (archivedOffset === null || archivedOffset > at)
      )
      .map(({ contract }) => contract)
      .sort(inOrder)

  /** An archived contract is pruned with its archival. */
  const prune = (upTo: Offset.Offset): void => {
    for (const transaction of transactions.splice(0, indexAfter(transactions, upTo))) {
      byUpdateId.delete(transaction.updateId)
    }
    for (const { contractId } of archivals.splice(0, indexAfter(archivals, upTo))) {
      contracts.delete(contractId)
    }
    head = { ...head, prunedOffset: upTo }
  }

  return {
    load: (since) =>
      Effect.sync(() => {
        const committed = completions.filter(({ outcome }) => outcome._tag === "Committed")
        const old = committed.filter(({ recordTime }) => recordTime < since)
        return {
          head,
          contracts: ordered(head.offset),
          forgottenOffset: old.at(-1)?.offset ?? Offset.zero,
          commits: committed
            .slice(old.length)
            .flatMap((completion) =>
              completion.outcome._tag === "Committed"
                ? [
                    [
                      completion.changeId,
                      { ...completion, updateId: completion.outcome.updateId }
                    ] as const
                  ]
                : []
            )
        }
      }),
    commit: (entries) => Effect.sync(() => entries.forEach(append)),
    transactions: (range) => Effect.sync(() => slice(transactions, range)),
    transaction: (by) =>
      Effect.sync(() => {
        if ("updateId" in by) return Option.fromUndefinedOr(byUpdateId.get(by.updateId))
        const found = transactions[indexAfter(transactions, by.offset - 1)]
        return found?.offset === by.offset ? Option.some(found) : Option.none()
      }),
    completions: (range) => Effect.sync(() => slice(completions, range)),
    activeAt: ({ at, after, limit }) =>
      Effect.sync(() => {
        const all = listed?.at === at ? listed.all : ordered(at)
        const from = after === null ? 0 : placeAfter(all, after)
        const page = all.slice(from, from + limit)
        listed = page.length < limit ? null : { at, all }
        return page
      }),
    contract: (contractId) => Effect.sync(() => Option.fromUndefinedOr(contracts.get(contractId))),
    prune: (upTo) => Effect.sync(() => prune(upTo)),
    parties: Effect.sync(() => [...parties.values()]),
    putParty: (party) => Effect.sync(() => void parties.set(party.party, party)),
    users: Effect.sync(() => [...users.values()]),
    userByToken: (tokenHash) =>
      Effect.sync(() =>
        Option.fromUndefinedOr([...users.values()].find((user) => user.tokenHash === tokenHash))
      ),
    putUser: (user) => Effect.sync(() => void users.set(user.userId, user))
  }
}
