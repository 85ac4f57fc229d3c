/**
 * `npm start`: a whole venue on this machine, until Ctrl-C; the next start continues with its data.
 */
import { parseArgs } from "node:util"
import { isExpected } from "./failures.ts"
import { people } from "./people.ts"
import { idsWithNext } from "./recordedInstruments.ts"
import * as Settings from "./Settings.ts"
import * as Stack from "./Stack.ts"
import * as story from "../story.ts"
import { PlainJson } from "@bursar/engine-core/kernel"

/**
 * Instruments whose terms the wallets have; others can be recorded, but the wallets cannot price or
 * mint them. The last one is still to be recorded, so that the printed lines work at every start.
 */
const instruments = (recordedIds: ReadonlySet<string>): ReadonlyArray<Stack.Instrument> =>
  idsWithNext("elf-usd", recordedIds).map((instrumentId) => ({ instrumentId, unitDecimals: 6 }))

/** Prints how maintenance commands reach this venue's database and keys while it runs. */
const keepers = (stack: Stack.Stack, settings: Settings.Settings): string =>
  [
    ...(settings.databaseUrl === undefined ? [`DATABASE_URL=${stack.databaseUrl}`] : []),
    ...(settings.data === ".data" ? [] : [`BURSAR_DATA=${settings.data}`]),
    "npm run -s bursar -- audit verify"
  ].join(" ")

const instructions = (stack: Stack.Stack, settings: Settings.Settings): string => {
  const { api, tokens, secrets } = stack.venue
  const instrumentId = stack.instruments.at(-1)?.instrumentId ?? ""
  const token = (sub: string): string =>
    `curl -s -u ${sub}:${secrets[sub]} -d grant_type=client_credentials ${tokens}`
  const signIn = (sub: string) => `$(${token(sub)} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`
  const body = PlainJson.stringify(
    story.instrument({
      instrumentId,
      registrar: stack.parties.registrar,
      oracle: stack.parties.oracle,
      unitDecimals: 6,
      valuation: "accumulating"
    })
  )
  const wallets = Object.entries(stack.parties).map(
    ([hint, party]) => `  ${hint.padEnd(10)} ${party}`
  )
  const lines = [
    `TOKEN=${signIn("operator")} APPROVER=${signIn("approver")}`,
    `curl -s -H "Authorization: Bearer $TOKEN" ${api}/v1/instruments`,
    `curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ${api}/v1/instruments -d '${body}'`,
    `curl -s -H "Authorization: Bearer $APPROVER" -X POST ${api}/v1/approvals/$(curl -s -H "Authorization: Bearer $APPROVER" "${api}/v1/approvals?state=awaiting" | sed 's/.*"actionKey":"\\([^"]*\\)".*/\\1/'):approve`,
    `curl -s -H "Authorization: Bearer $TOKEN" "${api}/v1/events?order=desc&limit=5"`
  ]
  return `
The venue is up.

  API            ${api}
  reference      ${stack.docs}
  health         ${api}/v1/health
  management     ${stack.management}/readyz
  sign-in        ${stack.issuer}
  ledger's door  ${stack.ledgerDoor}
  database       ${settings.databaseUrl === undefined ? stack.databaseUrl : "the one that DATABASE_URL names"}

Parties on the ledger; all but the venue act from wallets of their own, which agree to what is asked:
${wallets.join("\n")}

A token for each role, for an hour; TOKEN and APPROVER below are taken so:
${Object.values(people)
  .map(({ sub, role }) => `  ${role.padEnd(10)} ${token(sub)}`)
  .join("\n")}

${lines.length} lines that work, in this order:
${lines.map((line) => `  ${line}`).join("\n\n")}

Check the audit log, beside the running venue:
  ${keepers(stack, settings)}

Prices: the oracle publishes each line of ${stack.prices}, such as
  {"instrumentId":"${instrumentId}","value":"1.0437","valuationTime":"${new Date().toISOString()}"}
Logs: ${stack.folder}/logs. Ctrl-C stops everything; the next start goes on where this one was.
`
}

const lookEvery = 500

/**
 * npm runs a script in a shell, and a shell that ends by SIGTERM does not pass it on: its end is
 * taken as the signal.
 */
const whenNpmIsGone = (stop: () => void): void => {
  if (process.env["npm_lifecycle_event"] === undefined) return
  const shell = process.ppid
  setInterval(() => process.ppid === shell || stop(), lookEvery).unref()
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: Settings.flags })
  const settings = Settings.read({ ...values }, process.env)
  // Handled from here on, and repeatedly: npm forwards a signal that the terminal has sent to the
  // whole group, and a venue that is starting is stopped only once it is complete.
  const stopSignal = new Promise<void>((resolve) => {
    process.on("SIGINT", () => resolve()).on("SIGTERM", () => resolve())
    whenNpmIsGone(resolve)
  })
  console.log("Starting the database, the identity provider, the host and the wallets …")
  const stack = await Stack.start({ settings, instruments })
  console.log(instructions(stack, settings))
  const broken = await Promise.race([stopSignal, stack.broken])
  if (broken !== undefined) console.error(`\n${broken}`)
  console.log("\nStopping: the wallets first …")
  await stack.stop()
  console.log("Stopped.")
  process.exitCode = broken === undefined ? 0 : 1
}

main().catch((error: unknown) => {
  console.error(isExpected(error) ? error.message : error)
  process.exitCode = 1
})
