/** Whole numbers of smallest parts, read off decimals' texts without the engine's arithmetic. */
import { createHash } from "node:crypto"
import { holds } from "../books.ts"

/** A decimal of so many places from a whole number of its smallest parts. */
export const plain = (parts: bigint, places: number): string => {
  const digits = parts.toString().padStart(places + 1, "0")
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** The parts of a decimal's text; one with more places is a finding. */
export const parts = (text: string, places: number): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  holds(!/[1-9]/u.test(fraction.slice(places)), `${text} has more than ${places} places`)
  return BigInt(whole + fraction.slice(0, places).padEnd(places, "0"))
}

/** The ledger counts everything in ten places. */
export type Atoms = bigint
export const ledgerPlaces = 10
export const atoms = (text: string): Atoms => parts(text, ledgerPlaces)
/** The atoms of a decimal's text that may have a sign. */
export const signedAtoms = (text: string): Atoms =>
  text.startsWith("-") ? -atoms(text.slice(1)) : atoms(text)

/** A decimal of the ledger's places, as short as it is written. */
export const written = (amount: Atoms): string => plain(amount, ledgerPlaces).replace(/\.?0+$/u, "")

/** One, in atoms: of a unit, of a currency, of a price. */
export const whole: Atoms = 10n ** 10n
export const cent: Atoms = 10n ** 8n

/** The quotient of two whole numbers of at least 0, half up. */
export const halfUp = (amount: bigint, by: bigint): bigint => (2n * amount + by) / (2n * by)

export const add = <K>(to: Map<K, bigint>, key: K, amount: bigint): void => {
  const sum = (to.get(key) ?? 0n) + amount
  if (sum === 0n) to.delete(key)
  else to.set(key, sum)
}

/** Adds up lines of text to one short name of all of them in their order. */
export const chain = () => {
  let head = ""
  return {
    line: (text: string) => {
      head = createHash("sha256").update(head).update(text).digest("hex")
    },
    head: () => head
  }
}

/** Units that the policies of a town's funds let one cycle redeem, where they limit it. */
export const cycleCapacities = [1, 20, 500, 5_000] as const
