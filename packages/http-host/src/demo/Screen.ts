/** Text that `bursar demo` prints once the venue is up: its addresses, parties, sign-ins and first calls. */
import { PlainJson, PlainNumber } from "@bursar/engine-core/kernel"
import { instrument } from "./Instrument.ts"
import { people } from "./People.ts"
import { idsWithNext } from "./RecordedInstruments.ts"
import type { Settings } from "./Settings.ts"
import type * as Stack from "./Stack.ts"

/**
 * Instruments whose terms the wallets have; others can be recorded, but the wallets cannot price or
 * mint them. The last one is still to be recorded, so that the printed lines work at every start.
 */
export const instruments = (recordedIds: ReadonlySet<string>): ReadonlyArray<Stack.Instrument> =>
  idsWithNext("elf-usd", recordedIds).map((instrumentId) => ({ instrumentId, unitDecimals: 6 }))

/** The command as whoever reads the screen calls it: from a checkout, or from the installed package. */
const bursar = import.meta.url.endsWith(".ts") ? "npm run -s bursar --" : "npx @bursar/http-host"

/** Prints how maintenance commands reach this venue's database and keys while it runs. */
const keepers = (stack: Stack.Stack, settings: Settings): string =>
  [
    ...(settings.databaseUrl === undefined ? [`DATABASE_URL=${stack.databaseUrl}`] : []),
    ...(settings.data === ".data" ? [] : [`BURSAR_DATA=${settings.data}`]),
    `${bursar} audit verify`
  ].join(" ")

/** The screen of a venue that is up. */
export const text = (stack: Stack.Stack, settings: Settings): string => {
  const { api, tokens, secrets } = stack.venue
  const instrumentId = stack.instruments.at(-1)?.instrumentId ?? ""
  const token = (sub: string): string =>
    `curl -s -u ${sub}:${secrets[sub]} -d grant_type=client_credentials ${tokens}`
  const signIn = (sub: string) => `$(${token(sub)} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`
  const terms = instrument({
    instrumentId,
    registrar: stack.parties.registrar,
    oracle: stack.parties.oracle,
    unitDecimals: 6,
    valuation: "accumulating"
  })
  // Over HTTP a decimal is a number of JSON.
  const number = PlainNumber.of("0")
  const body = PlainJson.stringify({
    ...terms,
    distribution: { ...terms.distribution, withholding: number },
    fees: { subscription: number, redemption: number }
  })
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

  console        ${api}/console/
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
