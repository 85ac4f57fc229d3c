/** IBANs: their check digits find every slip of one digit, however they are printed. */
import { Iban } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mask, masking } from "#core/holders/external-account/ExternalAccount.ts"

const validIbans = [
  "CH9300762011623852957",
  "DE89370400440532013000",
  "GB87HAND40516218000025",
  "NL26VAYB8060476890",
  "FI2112345600000785",
  "MT84MALT011000012345MTLCAST001S"
]

/** A number in groups of four, in either case. */
const printed = (number: string, style: { readonly sign: string; readonly isLower: boolean }) => {
  const groups = number.match(/.{1,4}/gu)?.join(style.sign) ?? ""
  return style.isLower ? groups.toLowerCase() : groups
}

const written = fc.record({
  number: fc.constantFrom(...validIbans),
  sign: fc.constantFrom("", " ", "-", ".", "\u00a0"),
  isLower: fc.boolean()
})

describe("an IBAN", () => {
  it("is one number however it is printed, with its own check digits", () => {
    fc.assert(
      fc.property(written, ({ number, ...style }) => {
        const text = printed(number, style)
        expect(Iban.plainNumber(text)).toBe(number)
        expect([Iban.isFormed(text), Iban.isChecked(text), Iban.isMistyped(text)]).toEqual([
          ...[true, true, false]
        ])
      }),
      { seed: 33 }
    )
  })

  it("is mistyped with one other digit", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...validIbans),
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        (number, at, by) => {
          const places = [...number].flatMap((sign, place) => (/[0-9]/u.test(sign) ? [place] : []))
          const place = places[at % places.length] ?? 0
          const digit = (Number(number[place]) + by) % 10
          expect(
            Iban.isMistyped(`${number.slice(0, place)}${digit}${number.slice(place + 1)}`)
          ).toBe(true)
        }
      ),
      { seed: 34 }
    )
  })

  it.each(["12345", "ACCT-0001", "XX11223344556677", "CH93007620116238529", ""])(
    "is no form of %s, which may be any account's number",
    (number) => expect([Iban.isFormed(number), Iban.isMistyped(number)]).toEqual([false, false])
  )
})

describe("a text of a bank with account numbers in it", () => {
  it("shows each as the account does, however it is printed", () => {
    fc.assert(
      fc.property(written, fc.boolean(), ({ number, ...style }, isOwn) => {
        const text = `Stmt ${printed(number, style)} 2026/42`
        expect(masking(text, isOwn ? number : null)).toBe(
          `Stmt ${mask(printed(number, style))} 2026/42`
        )
      }),
      { seed: 35 }
    )
  })

  it("masks the account's own number where it is no IBAN, and leaves other words", () => {
    expect(masking("2026-001/12345-678-2", "12345678")).toBe("2026-001/****78-2")
    expect(masking("CAMT-2026-001", "12345678")).toBe("CAMT-2026-001")
    expect(masking("CH9400762011623852957", null)).toBe("CH9400762011623852957")
  })
})
