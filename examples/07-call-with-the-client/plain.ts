/** The plain client against a running host: a write that two people make, its refusal, a list and the feed. */
import * as PlainClient from "@bursar/http-host/plain-client"
import { withTemporaryVenue } from "../demo/temporaryVenue.ts"
import { tokenOf } from "../demo/Desk.ts"
import { type Person, people } from "#demo/People.ts"
import type { Stack } from "#demo/Stack.ts"

const instrument = { instrumentId: "elf-usd", unitDecimals: 6 }

const clientOf = (stack: Stack, person: Person): PlainClient.Client =>
  PlainClient.make({
    baseUrl: stack.venue.api,
    authorization: async () => `Bearer ${await tokenOf(stack.venue, person)}`
  })

// #region a write by name
const register = async (operator: PlainClient.Client, party: string) => {
  // Typed by its name: optional members may be left out, a decimal is text in both directions.
  const action = await operator.write("holder.register", {
    holderId: "holder-7",
    party,
    custodian: null,
    legalName: "Example Holdings",
    lei: null,
    classification: "entity",
    taxResidences: [],
    validUntil: null
  })
  // Waits for the approvers too, where a write has any.
  const { offset, result } = await operator.done(action)
  return `${result.holderId} is ${result.state} at offset ${offset}`
}

const refusalOf = async (operator: PlainClient.Client, party: string): Promise<string> => {
  try {
    return await register(operator, party)
  } catch (error) {
    // `slug` is a union of the refusals that this kind of write has.
    if (!PlainClient.isRefusal(error, "holder.register")) throw error
    return error.slug === "already-exists" ? "the holder is there already" : error.message
  }
}
// #endregion

const tour = async (stack: Stack) => {
  const operator = clientOf(stack, people.operator)
  console.log(await register(operator, stack.parties.investor))
  console.log(await refusalOf(operator, stack.parties.investor))
  for await (const { holderId, state } of operator.records("holders.list")) {
    console.log(`${holderId} is ${state}`)
  }
  for await (const { cursor, seq, type } of operator.feed({ kind: ["control"], until: "now" })) {
    if (cursor !== null) console.log(`${seq} ${type} is the last event of its page`)
  }
}

await withTemporaryVenue({ instruments: [instrument] }, (stack) => tour(stack))
