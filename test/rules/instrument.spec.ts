/** Identifiers with a wrong digit and terms that contradict each other never enter the manifest. */
import { Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { faults } from "#core/instruments/instrument/InstrumentRules.ts"
import { isCusip, isFigi, isIsin, isLei } from "#core/kernel/CheckDigits.ts"
import { payable } from "#core/instruments/instrument/InstrumentGates.ts"
import { Body, Manifest } from "#core/instruments/instrument/Manifest.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as PlainJson from "#core/kernel/PlainJson.ts"
import { decoder } from "#core/kernel/Shape.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const digits = "0123456789"
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
const figiSigns = "BCDFGHJKLMNPQRSTVWXYZ"
const text = (signs: string, length: number) =>
  fc
    .array(fc.constantFrom(...signs), { minLength: length, maxLength: length })
    .map((a) => a.join(""))

/** Text before the check digits in each scheme. */
const bodies = {
  ISIN: fc.tuple(text(capitals, 2), text(digits + capitals, 9)).map((parts) => parts.join("")),
  CUSIP: text(`${digits + capitals}*@#`, 8),
  FIGI: fc
    .tuple(text(figiSigns, 2), text(digits + figiSigns, 8))
    .map(([country, rest]) => `${country}G${rest}`)
    .filter((body) => !/^(?:BS|BM|GG|GB|GH|KY|VG)/.test(body)),
  LEI: text(digits + capitals, 18)
}
const checksOf = (scheme: keyof typeof bodies): ReadonlyArray<string> =>
  Array.from({ length: scheme === "LEI" ? 100 : 10 }, (_, i) =>
    String(i).padStart(scheme === "LEI" ? 2 : 1, "0")
  )

const schemes = {
  ISIN: { is: isIsin, real: ["US0378331005", "GB0002634946", "CH0012032048", "DE000BAY0017"] },
  CUSIP: { is: isCusip, real: ["037833100", "17275R102", "38259P508", "68389X105"] },
  FIGI: { is: isFigi, real: ["BBG000B9XRY4", "BBG000BLNQ16", "BBG000BPH459"] },
  LEI: { is: isLei, real: ["5493001KJTIIGC8Y1R12", "549300DTUYXVMJXZNY75"] }
} as const

const names = ["ISIN", "CUSIP", "FIGI", "LEI"] as const

describe.each(names)("%s", (scheme) => {
  const { is, real } = schemes[scheme]
  /** Valid identifiers of the scheme, made by trying every check digit. */
  const sound = bodies[scheme].map(
    (body) =>
      checksOf(scheme)
        .map((check) => body + check)
        .find(is) ?? body
  )

  it("every body has its check digits, and two of it never pass", () => {
    fc.assert(
      fc.property(bodies[scheme], (body) => {
        const passing = checksOf(scheme).filter((check) => is(body + check))
        // Of 100 pairs of digits the remainders by 97 leave three twice: 00 and 97, 01 and 98, 02 and 99.
        if (scheme === "LEI") {
          expect([1, 2]).toContain(passing.length)
          expect(Number(passing.at(-1)) % 97).toBe(Number(passing[0]) % 97)
        } else expect(passing).toHaveLength(1)
      })
    )
  })

  it("two neighbouring digits in the wrong order do not pass, where the scheme can tell", () => {
    fc.assert(
      fc.property(sound, fc.nat(), (text, n) => {
        const places = [...text].flatMap((_, i) =>
          /^[0-9]{2}$/.test(text.slice(i, i + 2)) ? [i] : []
        )
        const at = places[n % Math.max(1, places.length)]
        if (at === undefined) return
        const pair = text.slice(at, at + 2)
        const swapped = `${pair[1]}${pair[0]}`
        // A scheme that doubles digits takes 09 for 90; one that divides by 97 tells them apart. And
        // FIGI doubles neither its check digit nor the sign before it.
        const isBlind =
          pair[0] === pair[1] ||
          (scheme !== "LEI" && ["09", "90"].includes(pair)) ||
          (scheme === "FIGI" && at === 10)
        expect(is(text.slice(0, at) + swapped + text.slice(at + 2))).toBe(isBlind)
      }),
      { numRuns: 500 }
    )
  })

  it("a real one is not refused", () => {
    expect(real.filter((text) => !is(text))).toEqual([])
  })

  it("one wrong digit does not pass", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(...real), sound),
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        (text, n, by) => {
          const places = [...text].flatMap((sign, i) => (/[0-9]/.test(sign) ? [i] : []))
          const at = places[n % places.length] ?? 0
          const digit = (Number(text[at]) + by) % 10
          expect(is(text.slice(0, at) + digit + text.slice(at + 1))).toBe(false)
        }
      )
    )
  })

  it.each(["", "0", "US", "us0378331005", "０３７８３３１００", "US0378331005 "])(
    "%j does not pass",
    (text) => {
      expect(is(text)).toBe(false)
    }
  )
})

const decodeBody = (change: object) =>
  decoder(Body).decode(
    PlainJson.parseTrusted(JSON.stringify({ ...bodyOf(), ...change })),
    () => "/body"
  )

const manifest = (change: object) =>
  Schema.decodeUnknownSync(Manifest)(
    PlainJson.parseTrusted(JSON.stringify({ ...bodyOf(), ...change }))
  )

describe("the body of instrument.record", () => {
  it("is not refused when it is right", () => {
    expect(decodeBody({})).toMatchObject({ _tag: "Success" })
  })

  it.each([
    [{ identifiers: { isin: "US0378331006" } }, "/body/identifiers/isin"],
    [{ identifiers: { issuerLei: "5493001KJTIIGC8Y1R13" } }, "/body/identifiers/issuerLei"],
    [{ currency: "usd" }, "/body/currency"],
    [{ currency: "QQQ" }, "/body/currency"],
    [{ currency: "XXX" }, "/body/currency"],
    [{ currency: "XAU" }, "/body/currency"],
    [{ unitDecimals: 11 }, "/body/unitDecimals"],
    [{ unitDecimals: 1.5 }, "/body/unitDecimals"],
    [{ holderCap: 0 }, "/body/holderCap"],
    [{ parValue: 0 }, "/body/parValue"],
    [{ fees: { subscription: 1, redemption: 0 } }, "/body/fees/subscription"],
    [{ fees: { subscription: -0.1, redemption: 0 } }, "/body/fees/subscription"],
    [{ minimumSubscription: -1 }, "/body/minimumSubscription"],
    [{ valuation: "floating" }, "/body/valuation"],
    [{ cutOff: { time: "16:00", days: [], zone: "UTC" } }, "/body/cutOff/days"],
    [{ cutOff: { time: "24:00", days: ["monday"], zone: "UTC" } }, "/body/cutOff/time"],
    [{ cutOff: { time: "16:00", days: ["monday"], zone: "Mars/Base" } }, "/body/cutOff/zone"],
    [{ instrumentId: "a:b" }, "/body/instrumentId"],
    [{ registrar: "nobody" }, "/body/registrar"],
    [{ surprise: 1 }, "/body/surprise"]
  ])("%j is refused, naming %s", (change, pointer) => {
    const refused = decodeBody(change)
    expect(refused).toMatchObject({
      failure: { slug: "invalid-request", details: { errors: [{ pointer }] } }
    })
  })

  it("keeps every digit of a decimal it was sent", () => {
    const text = JSON.stringify(bodyOf()).replace(
      '"withholding":0.15',
      '"withholding":0.1500000001'
    )
    const decoded = Schema.decodeUnknownSync(Body)(PlainJson.parseTrusted(text))
    expect(decoded.distribution.withholding).toBe(Decimal.of("0.1500000001"))
  })
})

describe("terms that contradict each other", () => {
  it.each([
    [{}, []],
    [{ valuation: "par", parValue: 1 }, []],
    [{ valuation: "accumulating", parValue: 1 }, ["/body/parValue"]],
    [{ valuation: "rebasing", parValue: 1 }, ["/body/parValue"]],
    [
      {
        distribution: {
          schedule: "none",
          withholding: 0,
          payoutDecimals: 2,
          payout: "units",
          calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 2 }
        }
      },
      ["/body/distribution/calendar"]
    ],
    [{ identifiers: { isin: "US0378331005", cusip: "037833100" } }, []],
    [{ identifiers: { isin: "US0378331005", cusip: "17275R102" } }, ["/body/identifiers/cusip"]],
    [{ identifiers: { isin: "GB0002634946", cusip: "17275R102" } }, []]
  ])("%j names %j", (change, pointers) => {
    expect(faults(manifest(change)).map(({ pointer }) => pointer)).toEqual(pointers)
  })
})

describe("terms of payouts", () => {
  const objections = (change: object) =>
    payable(manifest(change), { policyVersion: null })
      .filter(({ refuses }) => refuses)
      .map(({ refusal }) => refusal.check)
  const distribution = { schedule: "none", withholding: 0, payoutDecimals: 2, payout: "cash" }

  it("pay cash in the places of its currency and no more, and units in any", () => {
    for (const [currency, most] of [
      ["JPY", 0],
      ["USD", 2],
      ["KWD", 3],
      ["CLF", 4]
    ] as const) {
      for (let payoutDecimals = 0; payoutDecimals <= 10; payoutDecimals++) {
        for (const payout of ["cash", "units"] as const) {
          const terms = { ...distribution, payoutDecimals, payout }
          const isRefused = payout === "cash" && payoutDecimals > most
          expect(objections({ currency, distribution: terms })).toEqual(
            isRefused ? ["payout-places"] : []
          )
        }
      }
    }
  })

  it.each([
    ["par", "cash", 0.15, []],
    ["accumulating", "units", 1, []],
    ["rebasing", "units", 0, []],
    ["rebasing", "cash", 0, ["payout"]],
    ["rebasing", "units", 0.0000000001, ["payout"]],
    ["rebasing", "cash", 0.15, ["payout"]]
  ])("of %s that pays %s and withholds %s: %j refuses", (valuation, payout, rate, checks) => {
    const terms = { ...distribution, payout, withholding: 0 }
    const candidate = manifest({ valuation, parValue: null, distribution: terms })
    const withholding = Decimal.of(rate.toFixed(10))
    expect(
      payable(
        { ...candidate, distribution: { ...candidate.distribution, withholding } },
        { policyVersion: null }
      )
        .filter(({ refuses }) => refuses)
        .map(({ refusal }) => refusal.check)
    ).toEqual(checks)
  })
})
