/** Account numbers as files write them: in groups or not. */

/** The number without what separates its groups. */
export const plain = (number: string): string => number.replaceAll(/[ ./-]/gu, "")

const iban = /^[A-Za-z]{2}[0-9]{2}/u

/** Checks whether two texts are one number; letters of an IBAN count alike in either case. */
export const isSame = (one: string, other: string): boolean => {
  const [first, second] = [plain(one), plain(other)]
  return first === second || (iban.test(first) && first.toUpperCase() === second.toUpperCase())
}
