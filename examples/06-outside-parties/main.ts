/**
 * Outside parties, each a process with a token of its own: the ledger itself refuses the venue what
 * only they may do.
 */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { withTemporaryVenue } from "../demo/temporaryVenue.ts"
import * as Desk from "../demo/Desk.ts"
import * as Parties from "#demo/Parties.ts"
import { holderId } from "#demo/People.ts"
import * as Programs from "#demo/Programs.ts"
import { type Stack, termsHash } from "#demo/Stack.ts"
import { nothingStated } from "../demo/statements.ts"
import { desks, openMarket, type Walk } from "../demo/steps.ts"
import * as story from "../story.ts"

const instrumentId = "elf-usd"
const instrument = { instrumentId, unitDecimals: 6 }
const run = promisify(execFile)

/**
 * Runs a command of the investor's wallet, a program of its own that signs with the investor's key.
 */
const investor = async (stack: Stack, ...words: ReadonlyArray<string>): Promise<void> => {
  const { stdout } = await run(process.execPath, [
    Programs.wallet,
    "investor",
    ...words,
    "--door",
    stack.ledgerDoor,
    "--token-file",
    Parties.tokenFile(stack.folder, "investor"),
    "--key-file",
    Parties.keyFile(stack.folder, "investor")
  ])
  const said: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "null")
  console.log(`the investor's wallet, ${words[0]}: ${JSON.stringify(said).slice(0, 100)} …`)
}

/** Answer of the ledger's door to a token that asks to act as a party. */
const actingAs = async (
  stack: Stack,
  token: Parties.Hint,
  party: Parties.Hint
): Promise<number> => {
  const response = await fetch(`${stack.ledgerDoor}/v2/commands/submit-and-wait`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await Parties.tokenOf(stack.folder, token)}`,
      "content-type": "application/json"
    },
    body: JSON.stringify({
      commandId: `not-mine-${token}-${party}`,
      actAs: [stack.parties[party]],
      commands: [
        {
          CreateCommand: {
            templateId: "#bursar-registry-v1:Bursar.Registry:InstrumentConfiguration",
            createArguments: {}
          }
        }
      ]
    })
  })
  await response.body?.cancel()
  return response.status
}

const refused = async (
  stack: Stack,
  who: { readonly token: Parties.Hint; readonly party: Parties.Hint }
): Promise<void> => {
  const status = await actingAs(stack, who.token, who.party)
  console.log(`the ${who.token}'s token acting as the ${who.party}: ${status}`)
  if (status !== 403) throw new Error("a token acted for a party that is not its own")
}

await withTemporaryVenue({ instruments: [instrument], investor: "waits" }, async (stack) => {
  const walk: Walk = {
    stack,
    desks: desks(stack),
    instrument: { ...instrument, valuation: "accumulating" },
    stated: nothingStated(),
    tell: (said) => console.log(said)
  }
  await openMarket(walk)

  // The venue has one token, which the ledger's door refuses for every other party.
  for (const party of ["registrar", "fund", "attestor", "oracle", "investor"] as const) {
    await refused(stack, { token: "venue", party })
  }
  // The registrar's own token is accepted; the answer is about the faulty command that was sent.
  const own = await actingAs(stack, "registrar", "registrar")
  console.log(`the registrar's token acting as the registrar: ${own}`)
  if (own === 403) throw new Error("a token was refused its own party")
  // The investor is an external party: even its own token cannot act, only its key can.
  await refused(stack, { token: "investor", party: "investor" })

  const { operator } = walk.desks
  const read = () => operator.read("holders.get", { holderId })
  const holder = story.holder({ holderId, party: stack.parties.investor, instrumentId })
  await operator.complete("holder.onboard", holder)
  await Desk.until(read, ({ state }) => state === "pending")
  console.log("the holder is pending: nobody but its own wallet can make it more")
  await investor(stack, "accept-invitation", "--holder-id", holderId)
  await investor(stack, "sign-terms", "--holder-id", holderId, "--document-hash", termsHash)
  await investor(stack, "accept-offer", "--instrument", instrumentId)
  await Desk.until(read, ({ waitingOn }) =>
    waitingOn.some(({ action }) => action === "accepted-terms.accept")
  )
  await operator.complete("accepted-terms.accept", { holderId })
  const { state } = await Desk.until(read, ({ state }) => state === "active")
  console.log(`the holder is ${state}`)
})
