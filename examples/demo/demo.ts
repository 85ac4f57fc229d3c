/** `npm run demo`: one subscription from claim to close, by HTTP and wallets, in a folder thrown away. */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Decimal } from "@bursar/engine-core/kernel"
import { ChildFailed } from "./Child.ts"
import { NotAnswered } from "./Desk.ts"
import { replay } from "./replay.ts"
import * as Settings from "./Settings.ts"
import * as Stack from "./Stack.ts"
import { type Asked, subscription, unitsFor } from "./subscription.ts"
import { desks, type Walk } from "./walk.ts"

const usage = `npm run demo -- [--amount 100000] [--price 1.0437] [--unit-decimals 6] [--json]
npm run demo -- --replay [--json]`

const options = {
  amount: { type: "string", default: "100000" },
  price: { type: "string", default: "1.0437" },
  "unit-decimals": { type: "string", default: "6" },
  replay: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

/** Ports that are free, whatever the environment says of a venue that stays. */
const settings = (data: string): Settings.Settings => ({
  data,
  databaseUrl: undefined,
  ports: { api: 0, management: 0, ledger: 0, identity: 0 }
})

const matching = (name: string, value: string, pattern: RegExp): string => {
  if (pattern.test(value)) return value
  throw new Settings.WrongSetting(`--${name} ${value}: not understood\n${usage}`)
}

const asked = (values: Readonly<Record<"amount" | "price" | "unit-decimals", string>>): Asked => ({
  amount: matching("amount", values.amount, /^(?=.*[1-9])[0-9]{1,15}(\.[0-9]{1,2})?$/),
  price: matching("price", values.price, /^(?=.*[1-9])[0-9]{1,15}(\.[0-9]{1,10})?$/),
  unitDecimals: Number(matching("unit-decimals", values["unit-decimals"], /^([0-9]|10)$/))
})

/** An order that buys nothing is never priced, so it is not asked for. */
const buying = (of: Asked): Asked => {
  if (!Decimal.isZero(unitsFor(of))) return of
  throw new Settings.WrongSetting(
    `${of.amount} at ${of.price} buys nothing in units of ${of.unitDecimals} places\n${usage}`
  )
}

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const quietly = values.json
  const began = Date.now()
  const tell = (said: string): void => {
    if (!quietly) console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${said}`)
  }
  const of = buying(asked(values))
  const instrument: Walk["instrument"] = values.replay
    ? { instrumentId: "buidl-i", unitDecimals: 2, valuation: "par" }
    : { instrumentId: "elf-usd", unitDecimals: of.unitDecimals, valuation: "accumulating" }
  const data = await mkdtemp(join(tmpdir(), "bursar-demo-"))
  // The database runs as an ordinary user, who must be able to enter the folder.
  await chmod(data, 0o755)
  let stack: Stack.Stack | undefined
  let kept = true
  try {
    tell("starting a venue in a folder that is thrown away")
    stack = await Stack.start({
      settings: settings(data),
      instruments: [
        {
          instrumentId: instrument.instrumentId,
          unitDecimals: instrument.unitDecimals,
          ...(instrument.valuation === "par" ? { parValue: "1" } : {})
        }
      ]
    })
    tell(`the venue is up: ${stack.venue.api}, the ledger's door at ${stack.ledgerDoor}`)
    const walk: Walk = { stack, desks: desks(stack), instrument, tell }
    const broken = stack.broken.then((how) => {
      throw new ChildFailed(how)
    })
    const result = await Promise.race([
      values.replay ? replay(walk) : subscription(walk, of),
      broken
    ])
    const seconds = Math.round((Date.now() - began) / 100) / 10
    for (const [check, held] of Object.entries(result.checks)) {
      tell(`${held ? "right" : "WRONG"}: ${check}`)
    }
    const ok = Object.values(result.checks).every((held) => held)
    console.log(JSON.stringify({ ...result, seconds, ok }))
    kept = !ok
    return ok ? 0 : 1
  } finally {
    await stack?.stop()
    if (kept) console.error(`The folder of this run is kept: ${data}`)
    else await rm(data, { recursive: true, force: true })
  }
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    const expected =
      error instanceof ChildFailed ||
      error instanceof NotAnswered ||
      error instanceof Settings.WrongSetting
    console.error(expected ? error.message : error)
    process.exitCode = 1
  }
)
