/** The host with the room of loans as processes on this machine, called by the plain client over HTTP. */
import { Instant } from "@bursar/engine-core/kernel"
import * as Template from "@bursar/engine-core/templates"
import { ClientTable } from "@bursar/http-host/api"
import * as PlainClient from "@bursar/http-host/plain-client"
import { Bot, PartySession, SigningKey, World } from "@bursar/storage-adapters/wallets"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { tokenOf, until } from "../demo/Desk.ts"
import * as Parties from "#demo/Parties.ts"
import { type Person, people } from "#demo/People.ts"
import type { Stack } from "#demo/Stack.ts"
import { withTemporaryVenue } from "../demo/temporaryVenue.ts"
import { LoanContract, room } from "./loans.ts"

// #region a client of the room
/** Routes and numbers of every call, the room's included; its type has theirs. */
const table = ClientTable.ofRooms([room])

const clientOf = (stack: Stack, person: Person) =>
  PlainClient.make({
    table,
    baseUrl: stack.venue.api,
    authorization: async () => `Bearer ${await tokenOf(stack.venue, person)}`
  })
type Client = ReturnType<typeof clientOf>

/** Grants a loan that is due in some seconds: one person writes it, and another signs its figures. */
const grant = async (
  { operator, approver }: { readonly operator: Client; readonly approver: Client },
  loan: { readonly loanId: string; readonly borrower: string; readonly seconds: number }
) => {
  const { seconds, ...who } = loan
  const dueAt = new Date(Date.now() + seconds * 1_000).toISOString()
  const action = await operator.write("x-loan.grant", { ...who, principal: "1000.50", dueAt })
  await approver.approve(action)
  const { result } = await operator.done(action)
  console.log(`${result.loanId} over ${result.principal} is ${result.state}`)
}
// #endregion

// #region the borrower's wallet
/** Repays a loan: the borrower alone can, by the choice of the room's own template. */
const repay = (stack: Stack, loanId: string) =>
  Effect.gen(function* () {
    const wallet = yield* PartySession.open({
      url: stack.ledgerDoor,
      token: Effect.promise(() => Parties.tokenOf(stack.folder, "investor")),
      key: SigningKey.read(Parties.keyFile(stack.folder, "investor"))
    })
    const contracts = yield* Bot.active(wallet, yield* wallet.ledgerEnd)
    const world = { party: wallet.party, now: yield* Instant.now, contracts }
    const loan = World.find(world, LoanContract).find(({ payload }) => payload.loanId === loanId)
    if (loan === undefined) throw new Error(`the borrower sees no loan ${loanId}`)
    return yield* wallet.submit({
      commandId: `repay:${loanId}`,
      commands: [Template.exercise(LoanContract, loan.contractId, "Repay", {})]
    })
  })
// #endregion

/** Reads a loan until it is in a state. */
const becomes = async (client: Client, loanId: string, state: string): Promise<void> => {
  await until(
    () => client.read("x-loans.get", { loanId }),
    (loan) => loan.state === state
  )
  console.log(`${loanId} is ${state}`)
}

const tour = async (stack: Stack): Promise<void> => {
  const operator = clientOf(stack, people.operator)
  const approver = clientOf(stack, people.approver)
  const approverTwo = clientOf(stack, people.approverTwo)
  const borrower = stack.parties.investor

  await grant({ operator, approver }, { loanId: "loan-1", borrower, seconds: 3_600 })
  await Effect.runPromise(repay(stack, "loan-1"))
  await becomes(operator, "loan-1", "repaid")

  await grant({ operator, approver }, { loanId: "loan-2", borrower, seconds: 20 })
  const early = await operator
    .write("x-loan.write-off", { loanId: "loan-2" })
    .then(approver.approve)
    .then(approverTwo.approve)
    .then((action) => operator.done(action))
    .catch((error: unknown) => error)
  if (!(early instanceof PlainClient.CallRefusal)) throw new Error("a running loan is written off")
  console.log(`refused: ${early.slug}`)
  // No write moves it: the clock does.
  await becomes(operator, "loan-2", "overdue")
  const action = await operator.write("x-loan.write-off", { loanId: "loan-2" })
  await approver.approve(action)
  await approverTwo.approve(action)
  console.log(`loan-2 is ${(await operator.done(action)).result.state}`)
  for await (const { loanId, state } of operator.records("x-loans.list")) {
    console.log(`${loanId}: ${state}`)
  }
  for await (const { resourceId, type } of operator.feed({ until: "now" })) {
    if (type.startsWith("x-")) console.log(`${type} of ${resourceId}`)
  }
}

const instrument = { instrumentId: "elf-usd", unitDecimals: 6 }
const hostProgram = fileURLToPath(new URL("host.ts", import.meta.url))
await withTemporaryVenue({ instruments: [instrument], hostProgram }, tour)
