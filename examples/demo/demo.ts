/**
 * `npm run demo`: a subscription, a dealing cycle, a redemption and the controls, by HTTP and
 * wallets, in a temporary folder.
 */
import { parseArgs } from "node:util"
import { Decimal } from "@bursar/engine-core/kernel"
import { backed } from "./backed.ts"
import type { Instrument } from "#demo/Stack.ts"
import { withTemporaryVenue } from "./temporaryVenue.ts"
import { isExpected } from "./failures.ts"
import { replay } from "./replay.ts"
import { WrongSetting } from "#demo/Settings.ts"
import { type Asked, halfOf, type Outcome, subscription, unitsFor } from "./subscription.ts"
import { nothingStated } from "./statements.ts"
import { desks, type Walk } from "./steps.ts"

const usage = `npm run demo -- [--amount 100000] [--price 1.0437] [--unit-decimals 6] [--json]
npm run demo -- --replay [--json]
npm run demo -- --backed [--json]`

const options = {
  amount: { type: "string", default: "100000" },
  price: { type: "string", default: "1.0437" },
  "unit-decimals": { type: "string", default: "6" },
  replay: { type: "boolean", default: false },
  backed: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

const matching = (name: string, value: string, pattern: RegExp): string => {
  if (pattern.test(value)) return value
  throw new WrongSetting(`--${name} ${value}: not understood\n${usage}`)
}

const readOrder = (
  values: Readonly<Record<"amount" | "price" | "unit-decimals", string>>
): Asked => ({
  amount: matching("amount", values.amount, /^(?=.*[1-9])[0-9]{1,15}(\.[0-9]{1,2})?$/),
  price: matching("price", values.price, /^(?=.*[1-9])[0-9]{1,15}(\.[0-9]{1,10})?$/),
  unitDecimals: Number(matching("unit-decimals", values["unit-decimals"], /^([0-9]|10)$/))
})

/** Instrument of the walk, with what its outside parties must know of it. */
const instrumentOf = (
  { replay, backed }: { readonly replay: boolean; readonly backed: boolean },
  { unitDecimals }: Asked
): { readonly walked: Walk["instrument"]; readonly instrumentTerms: Instrument } => {
  if (backed) {
    const walked = { instrumentId: "ern-usd", unitDecimals: 6, valuation: "par" } as const
    return {
      walked,
      instrumentTerms: {
        instrumentId: "ern-usd",
        unitDecimals: 6,
        parValue: "1",
        issuer: "registrar"
      }
    }
  }
  const walked: Walk["instrument"] = replay
    ? { instrumentId: "buidl-i", unitDecimals: 2, valuation: "par" }
    : { instrumentId: "elf-usd", unitDecimals, valuation: "accumulating" }
  const { valuation, ...terms } = walked
  return {
    walked,
    instrumentTerms: { ...terms, ...(valuation === "par" ? { parValue: "1" } : {}) }
  }
}

/** Half of the units is redeemed and the rest recovered, so the amount must buy enough for both. */
const buying = (flags: Asked): Asked => {
  const units = unitsFor(flags)
  if (!Decimal.isZero(units) && !Decimal.isZero(halfOf(units, flags.unitDecimals))) return flags
  throw new WrongSetting(
    `${flags.amount} at ${flags.price} buys nothing to halve in units of ${flags.unitDecimals} places\n${usage}`
  )
}

/** The demo does not wait a day for the successor. */
const successorCooling = "PT1S"

/** A figure is wrong: the folder is kept, and the demo ends with code 1. */
class WrongFigures extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome) {
    super("a figure is off")
    this.outcome = outcome
  }
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options })
  if (values.help) return console.log(usage)
  const began = Date.now()
  const seconds = (): number => Math.round((Date.now() - began) / 100) / 10
  const tell = (said: string): void => {
    if (!values.json) console.log(`${seconds().toFixed(1).padStart(6)} s  ${said}`)
  }
  const choices = buying(readOrder(values))
  const { walked: instrument, instrumentTerms } = instrumentOf(values, choices)
  tell("starting a venue in a folder that is thrown away")
  const instruments = [instrumentTerms]
  const outcome = await withTemporaryVenue({ instruments, successorCooling }, async (stack) => {
    tell(`the venue is up: ${stack.venue.api}, the ledger's door at ${stack.ledgerDoor}`)
    const walk: Walk = { stack, desks: desks(stack), instrument, stated: nothingStated(), tell }
    const outcome = await (values.backed
      ? backed(walk)
      : values.replay
        ? replay(walk)
        : subscription(walk, choices))
    for (const [check, held] of Object.entries(outcome.checks)) {
      tell(`${held ? "right" : "WRONG"}: ${check}`)
    }
    if (Object.values(outcome.checks).includes(false)) throw new WrongFigures(outcome)
    return outcome
  })
  console.log(JSON.stringify({ ...outcome, seconds: seconds(), ok: true }))
}

main().catch((error: unknown) => {
  process.exitCode = 1
  if (error instanceof WrongFigures) console.log(JSON.stringify({ ...error.outcome, ok: false }))
  else console.error(isExpected(error) ? error.message : error)
})
