/** Account numbers as files write them: in groups or not, in either case. */
import { Iban } from "@bursar/engine-core/kernel"
import { refused } from "./Faults.ts"

const iban = /^[A-Za-z]{2}[0-9]{2}/u

/** Checks whether two texts are one number; letters of an IBAN count alike in either case. */
export const isSame = (one: string, other: string): boolean => {
  const [first, second] = [Iban.plainNumber(one), Iban.plainNumber(other)]
  if (first !== second) return false
  return iban.test(first) || written(one) === written(other)
}

/** A number without grouping signs, its letters as they are written. */
const written = (number: string): string => number.replaceAll(/[\s./-]/gu, "")

/** Refuses an account that is not the source's own because its check digits are wrong. */
export const demandChecked = (number: string, at: { readonly line: number }): void => {
  if (!Iban.isMistyped(number)) return
  const detail = "The account is an IBAN whose check digits are wrong."
  throw refused("statement-account", detail, at)
}
