/** Loads holdings for forced moves, each with the contract that locks it. */
import { Effect, Stream } from "effect"
import { assetKeyOf, type Holding, holdings } from "../instruments/register/Holding.ts"
import type * as Instant from "../kernel/Instant.ts"
import { contracts, standsOn } from "../projection/Contract.ts"
import { Records } from "../records/Records.ts"
import { Allocation, BurnRequest, TransferOffer } from "../templates/Registry.ts"
import { StandingCommitment } from "../templates/Standing.ts"
import { key } from "../templates/Template.ts"
import type { Lock, MovePosition } from "./ForcedMoveRules.ts"

/** Largest number of ids in one query. */
const idsMax = 500

/** Splits a list into groups that fit one query. */
export const grouped = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / idsMax) }, (_, nth) =>
    all.slice(nth * idsMax, (nth + 1) * idsMax)
  )

/** Key of one owner's holdings of one instrument. */
export const lineOf = (asset: Parameters<typeof assetKeyOf>[0], owner: string): string =>
  `${assetKeyOf(asset)} ${owner}`

/** Loads the active holdings of these owners and assets with their locks, by the key `lineOf`. */
export const positionsOf = Effect.fnUntraced(function* (
  where: { readonly owner: ReadonlyArray<string>; readonly asset: ReadonlyArray<string> },
  now: Instant.Instant
) {
  const records = yield* Records
  const found = (yield* Stream.runCollect(records.stream(holdings, { where }))).map(
    ({ record }) => record
  )
  const locks = yield* locksOf(
    found.flatMap(({ contractId, lock }) => (lock === null ? [] : [contractId]))
  )
  const positions = new Map<string, Array<MovePosition>>()
  for (const holding of found) {
    const line = lineOf(holding, holding.owner)
    const ofLine = positions.get(line) ?? []
    positions.set(line, ofLine)
    const { amount, contractId: holdingCid } = holding
    ofLine.push({ holdingCid, amount, lock: lockOf(holding, locks.get(holdingCid), now) })
  }
  return positions
})

const lockOf = (
  { lock }: Holding,
  found: Lock | undefined,
  now: Instant.Instant
): MovePosition["lock"] => {
  if (lock === null) return "free"
  if (found !== undefined) return found
  return lock.expiresAt !== null && lock.expiresAt <= now
    ? { lockedBy: "lapsed", contractId: null }
    : "stuck"
}

const kinds: Readonly<Record<string, Lock["lockedBy"]>> = {
  [key(Allocation.typeRef)]: "allocation",
  [key(BurnRequest.typeRef)]: "burn-request",
  [key(TransferOffer.typeRef)]: "transfer-offer",
  [key(StandingCommitment.typeRef)]: "standing-commitment"
}

/** Loads the active contracts that lock or refer to these contracts. */
const contractsOn = Effect.fnUntraced(function* (contractIds: ReadonlyArray<string>) {
  const records = yield* Records
  const found = yield* Effect.forEach(grouped(contractIds), (standsOn) =>
    Stream.runCollect(records.stream(contracts, { where: { standsOn } }))
  )
  return found.flat().map(({ record }) => record)
})

/**
 * Loads the contract that releases each locked holding: the contract that locks it, or the standing
 * commitment of an allocation that is committed.
 */
const locksOf = Effect.fnUntraced(function* (holdingCids: ReadonlyArray<string>) {
  const first = yield* contractsOn(holdingCids)
  const behind = yield* contractsOn(first.map(({ contractId }) => contractId))
  const committed = new Map(behind.map((contract) => [standsOn(contract), contract]))
  return new Map(
    first.flatMap((contract): ReadonlyArray<readonly [string, Lock]> => {
      const holdingCid = standsOn(contract)
      const { contractId, template } = committed.get(contract.contractId) ?? contract
      const lockedBy = kinds[template]
      return holdingCid === null || lockedBy === undefined
        ? []
        : [[holdingCid, { lockedBy, contractId }]]
    })
  )
})
