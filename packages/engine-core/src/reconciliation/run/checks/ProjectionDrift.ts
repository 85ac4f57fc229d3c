/**
 * Check `projection-drift`, pure: compares what the projection keeps of the active contracts with the
 * contracts that are active on the ledger (docs/domain/reconciliation.md#projection-against-the-ledger).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import { type Plain, canonical } from "../../../kernel/PlainJson.ts"
import { ResourceKind } from "../../../vocabulary/ResourceKind.ts"
import { compare, type Difference, withoutAmounts } from "../../../findings/FindingRules.ts"

const check = "projection-drift"

/**
 * Digest of a set of contracts that does not depend on their order: their number, and the sum of the
 * SHA-256 of each one's canonical JSON, modulo 2^256.
 */
export interface Digest {
  readonly count: number
  readonly sum: bigint
}

export const nothing: Digest = { count: 0, sum: 0n }

const modulus = 1n << 256n

/** Adds a contract to a digest; `sha256` must answer lower-case hex. */
export const add = (
  { count, sum }: Digest,
  contract: Plain,
  sha256: (text: string) => string
): Digest => ({
  count: count + 1,
  sum: (sum + BigInt(`0x${sha256(canonical(contract))}`)) % modulus
})

/** The contracts of one template, or the records of one kind that are folded of them, at one offset. */
interface ContractDigests {
  /** Name of the template, or of the collection. */
  readonly name: string
  readonly projected: Digest
  readonly active: Digest
}

/** A record that was in flight when a new ledger epoch began without its contracts. */
export interface LostRecord {
  readonly lost: {
    readonly kind: string
    readonly id: string
    readonly instrumentId: string | null
    /** True: its contract was a permission, without which it has ended. */
    readonly isEnded: boolean
  }
}

export type Fact = ContractDigests | LostRecord

/**
 * Returns a difference that names a record without its contracts. It is blocking where the end of an order,
 * a line or a cycle of the instrument is unknown: what it owed may be paid a second time. It is a warning
 * of a permission, which has ended, and of a record of no instrument, which no hold could stop.
 */
const ofLost = ({
  lost: { id, instrumentId, isEnded, kind }
}: LostRecord): ReadonlyArray<Difference> => [
  withoutAmounts({
    check,
    instrumentId,
    subject: { resourceKind: ResourceKind.has(kind) ? kind : "contract", id },
    holderId: null,
    severity: instrumentId === null || isEnded ? "warning" : "blocking",
    unit: "lost"
  })
]

/**
 * Returns a blocking difference of the venue, of no instrument, where number or sum differ: with the
 * numbers, and without amounts where they are the same.
 */
export const differences = (fact: Fact): ReadonlyArray<Difference> => {
  if ("lost" in fact) return ofLost(fact)
  const { name, projected, active } = fact
  const about = {
    check,
    instrumentId: null,
    subject: { resourceKind: "contract", id: name },
    holderId: null,
    severity: "blocking"
  } as const
  const counted = compare({
    ...about,
    unit: "contracts",
    expected: Decimal.fromInteger(projected.count),
    actual: Decimal.fromInteger(active.count),
    tolerance: Decimal.zero
  })
  return counted.length > 0 || projected.sum === active.sum
    ? counted
    : [withoutAmounts({ ...about, unit: "digest" })]
}
