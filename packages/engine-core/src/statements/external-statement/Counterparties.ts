/**
 * Codec of counterparties: sealed for a block of lines at a time, in the row of the first line of the
 * block. A cipher for each line would cost as much as the reading of the line.
 */
import { Result } from "effect"
import * as PlainJson from "../../kernel/PlainJson.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type * as Port from "../../ports/StatementSource.ts"
import * as Secrets from "../../writes/Secrets.ts"
import type { CashEntry } from "./StatementLine.ts"

/** The other party of an entry, as the file names it. */
export type Counterparty = NonNullable<Port.CashEntry["counterparty"]>

/** A counterparty as one text, by which two entries are compared. */
export const plainOf = ({ name, account }: Counterparty): string => JSON.stringify([name, account])

/** Largest number of lines of a block. */
export const blockLines = 64

/** Number of random bytes that the seal of a block needs. */
export const chanceBytes = Secrets.chanceBytes(1)

/** Encrypts the counterparties of a block, in the order of its lines. */
export const seal = (
  counterparties: ReadonlyArray<Counterparty>,
  sealing: Parameters<typeof Secrets.seal>[1],
  crypto: Crypto["Service"]
): string => Secrets.seal(JSON.stringify(counterparties), sealing, crypto)

/**
 * Makes a reader of counterparties for lines that follow each other in file order, from the first line
 * on: it keeps the block that it is in. An entry that an earlier version stored has a seal of its own.
 * Dies where a key is missing or a stored text was changed.
 */
export const reader = (
  unsealing: Parameters<typeof Secrets.unseal>[1],
  crypto: Crypto["Service"]
) => {
  const opened = (sealed: string) =>
    Result.getOrThrow(PlainJson.parse(Secrets.unseal(sealed, unsealing, crypto))) as unknown
  let block: ReadonlyArray<Counterparty> = []
  return ({ line, counterparties, counterparty }: CashEntry): Counterparty | null => {
    if (counterparties !== undefined) block = opened(counterparties) as typeof block
    if (counterparty === null) return null
    if (typeof counterparty === "string") return opened(counterparty) as Counterparty
    const found = block[counterparty]
    if (found === undefined) throw new Error(`the counterparty of line ${line} is missing`)
    return found
  }
}
