/** Codec of a disclosed contract's blob: passed on outside the ledger, and verified on use. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import type { Contract } from "./Entry.ts"

export const blob = (contract: Contract): string =>
  Base64.encode(
    JSON.stringify({
      contractId: contract.contractId,
      template: Templates.key(contract.template),
      packageId: contract.packageId,
      payload: canonical(contract.payload),
      signatories: contract.signatories,
      observers: contract.observers,
      createdAt: Instant.format(contract.createdAt)
    })
  )

/** Sorts members, so that stores without an order of members give the same blob. */
const canonical = (value: Templates.LfValue): unknown => {
  if (value === null || typeof value !== "object") return value
  if (isList(value)) return value.map(canonical)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, canonical(member)])
  )
}

const isList = (value: object): value is ReadonlyArray<Templates.LfValue> => Array.isArray(value)

/** Id of a blob's contract; null where the text is no valid blob. */
export const contractId = (text: string): string | null => {
  try {
    const read: unknown = JSON.parse(Result.getOrThrow(Base64.decodeString(text)))
    return typeof read === "object" &&
      read !== null &&
      "contractId" in read &&
      typeof read.contractId === "string"
      ? read.contractId
      : null
  } catch {
    return null
  }
}
