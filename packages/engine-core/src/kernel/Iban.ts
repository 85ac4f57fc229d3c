/** Codec of account numbers as people print them, and check digits of IBANs (ISO 13616, ISO 7064 mod 97-10). */

/** Length of an IBAN in each country that issues them. */
const lengths: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 " +
    "DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 " +
    "IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 " +
    "MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 " +
    "SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))])
)

/** Signs by which a number is printed in groups; the number is the same without them. */
const grouping = /[\s./-]/gu

/** An account number as it is compared: without grouping signs, in upper case. */
export const plainNumber = (number: string): string => number.replaceAll(grouping, "").toUpperCase()

/**
 * Checks whether a number has the form of an IBAN: a country that issues them, its length, two check
 * digits.
 */
export const isFormed = (number: string): boolean => {
  const plain = plainNumber(number)
  return (
    lengths.get(plain.slice(0, 2)) === plain.length && /^[A-Z]{2}[0-9]{2}[0-9A-Z]+$/u.test(plain)
  )
}

const ten = 10
const letterBase = 36
const modulus = 97

/**
 * Checks whether the check digits of an IBAN are right: its digits, letters counting from 10, leave 1
 * by 97.
 */
export const isChecked = (number: string): boolean => {
  const plain = plainNumber(number)
  let rest = 0
  for (const sign of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(sign, letterBase)
    rest = (rest * (value < ten ? ten : ten * ten) + value) % modulus
  }
  return rest === 1
}

/** Checks whether a number has the form of an IBAN and other check digits than its own: a slip of a pen. */
export const isMistyped = (number: string): boolean => isFormed(number) && !isChecked(number)

/** Finds the numbers of the form of an IBAN, with right check digits, within a text: as they are written. */
export const findAll = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?<![0-9A-Za-z])[A-Za-z]{2}[0-9]{2}(?:[\s./-]?[0-9A-Za-z]){11,30}/gu)].flatMap(
    ([found]) => {
      const length = lengths.get(found.slice(0, 2).toUpperCase())
      let written = ""
      for (const sign of found) {
        if (plainNumber(written).length === length) break
        written += sign
      }
      return isFormed(written) && isChecked(written) ? [written] : []
    }
  )
