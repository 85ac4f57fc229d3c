/** Story of the example's room over HTTP, which a host plays alike on every store. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Template from "@bursar/engine-core/templates"
import { ClientTable } from "@bursar/http-host/api"
import * as Client from "@bursar/http-host/client"
import * as PlainClient from "@bursar/http-host/plain-client"
import { Bot, World } from "@bursar/storage-adapters/wallets"
import { Effect, Stream } from "effect"
import { expect } from "vitest"
import { LoanContract, room } from "../../examples/10-a-room-of-its-own/loans.ts"
import { wanted } from "../waiting.ts"
import type { Loans, Served } from "./served.ts"

const minutes = 60

/** Terms of a loan that is due half an hour after the host's clock. */
const termsOf = (loanId: string, { borrower }: Served, from: number) => ({
  loanId,
  borrower: borrower.party,
  principal: "1000.50",
  dueAt: new Date(from + 30 * minutes * 1_000).toISOString()
})

const granted = async (
  { olive, anna }: { readonly olive: Loans; readonly anna: Loans },
  terms: ReturnType<typeof termsOf>
) => {
  const action = await olive.write("x-loan.grant", terms, { key: terms.loanId })
  expect(action).toMatchObject({ state: "awaiting", figures: { principal: "1000.5" } })
  await anna.approve(action)
  const { result } = await olive.done(action)
  expect(result).toMatchObject({
    loanId: terms.loanId,
    principal: "1000.5000000000",
    state: "running"
  })
}

/** Repays a loan from the borrower's wallet: the room's own template, which the venue cannot exercise. */
const repaid = ({ borrower }: Served, loanId: string) =>
  Effect.gen(function* () {
    const contracts = yield* Bot.active(borrower, yield* borrower.ledgerEnd)
    const world = { party: borrower.party, now: yield* Instant.now, contracts }
    const loan = World.find(world, LoanContract).find(({ payload }) => payload.loanId === loanId)
    expect(Decimal.format(loan!.payload.principal)).toBe("1000.5000000000")
    return yield* borrower.submit({
      commandId: `repay:${loanId}`,
      commands: [Template.exercise(LoanContract, loan!.contractId, "Repay", {})]
    })
  }).pipe(Effect.runPromise)

const slugOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.catch((thrown: unknown) => thrown)
  if (!(error instanceof PlainClient.CallRefusal)) throw error
  return error.slug
}

const stateOf = async (client: Loans, loanId: string, point?: PlainClient.PointOptions) =>
  (await client.read("x-loans.get", { loanId }, point)).state

/** Grants a loan and moves the clock past its due date: no write and no reader moves it. */
export const playClock = async (served: Served): Promise<void> => {
  const olive = await served.as("olive", ["operator"])
  const anna = await served.as("anna", ["approver"])
  const { now } = await olive.list("x-loans.list")
  await granted({ olive, anna }, termsOf("l-3", served, Date.parse(now)))
  const before = served.deliveries.length
  served.moveClock(64 * minutes)
  const last = await wanted(() => served.deliveries[before])
  expect(last.event).toMatchObject({ type: "x-loan.overdue", resourceId: "l-3" })
}

/** Grants two loans, lets the borrower repay one, and writes the other off once it is overdue. */
export const play = async (served: Served): Promise<void> => {
  const { at, moveClock } = served
  const olive = await served.as("olive", ["operator"])
  const anna = await served.as("anna", ["approver"])
  const abel = await served.as("abel", ["approver"])
  const ada = await served.as("ada", ["auditor"])
  const document = await (await fetch(`${at.api}/v1/openapi.json`)).text()
  for (const word of ["/v1/x-loans/{loanId}:write-off", "x-loan.overdue", "x-loan-not-overdue"]) {
    expect(document).toContain(word)
  }

  const { now } = await olive.list("x-loans.list")
  const terms = termsOf("l-1", served, Date.parse(now))
  expect(await olive.read("x-loans.precheck", terms)).toMatchObject({ allowed: true })
  expect(await olive.read("x-loans.precheck", { ...terms, principal: "0" })).toMatchObject({
    allowed: false
  })
  expect(await slugOf(ada.write("x-loan.grant", terms))).toBe("permission-denied")
  await granted({ olive, anna }, terms)
  await granted({ olive, anna }, { ...terms, loanId: "l-2" })
  // Under its key a grant is answered as it stands; under another one its id is taken.
  const { operationId } = await olive.write("x-loan.grant", terms, { key: "l-1" })
  expect(operationId).not.toBeNull()
  expect(await slugOf(olive.write("x-loan.grant", terms))).toBe("already-exists")
  expect(await slugOf(olive.write("x-loan.write-off", { loanId: "l-2" }))).toBe(
    "x-loan-not-overdue"
  )
  const before = await olive.list("x-loans.list", { where: { state: ["running"] } })
  expect(before.value.map(({ loanId }) => loanId)).toEqual(["l-1", "l-2"])
  expect(before.value[0]?.waitingOn).toMatchObject([
    { party: served.borrower.party, action: "x-loan.repay" }
  ])

  // The client for Effect finds the room's declarations by their names, and decodes by them.
  const client = Client.overFetch({
    baseUrl: at.api,
    authorization: Effect.promise(async () => `Bearer ${await served.token("ada", ["auditor"])}`)
  })
  const { read } = Client.ofRooms([room])
  const { value } = await Effect.runPromise(client.one(read("x-loans.get"), { loanId: "l-1" }))
  expect(value.principal).toBe(Decimal.of("1000.5"))

  // The client by name has the room's calls by its table.
  const named = Client.named({
    baseUrl: at.api,
    authorization: Effect.promise(
      async () => `Bearer ${await served.token("olive", ["operator"])}`
    ),
    table: ClientTable.ofRooms([room])
  })
  const byName = await Effect.runPromise(
    Effect.all({
      loan: named.read("x-loans.get", { loanId: "l-1" }),
      rows: Stream.runCollect(named.records("x-loans.list")),
      again: Effect.flip(named.write("x-loan.write-off", { loanId: "l-2" }))
    })
  )
  expect(byName.loan.principal).toBe("1000.5000000000")
  expect(byName.rows.map(({ loanId }) => loanId)).toEqual(["l-1", "l-2"])
  expect(byName.again).toMatchObject({ _tag: "CallRefusal", slug: "x-loan-not-overdue" })

  // The borrower repays one loan from its wallet, and the clock finds the other overdue.
  await repaid(served, "l-1")
  await wanted(async () => ((await stateOf(olive, "l-1")) === "repaid" ? true : undefined))
  moveClock(32 * minutes)
  expect(await stateOf(olive, "l-2")).toBe("overdue")
  const writeOff = await olive.write("x-loan.write-off", { loanId: "l-2" })
  await anna.approve(writeOff)
  await abel.approve(writeOff)
  expect((await olive.done(writeOff)).result).toMatchObject({ state: "written-off" })

  // The list of before is read again as it was, and pages go on where they were.
  const again = await olive.list("x-loans.list", {
    where: { state: ["running"] },
    asOf: before.now
  })
  expect(again.value).toEqual(before.value)
  const pages: Array<ReadonlyArray<string>> = []
  for await (const { value } of olive.pages("x-loans.list", { limit: 1 })) {
    pages.push(value.map(({ loanId, state }) => `${loanId} ${state}`))
  }
  expect(pages).toEqual([["l-1 repaid"], ["l-2 written-off"]])

  const delivered = await wanted(() =>
    served.deliveries.length >= 3 ? served.deliveries : undefined
  )
  expect(
    delivered.map(({ event }) => [event["type"], event["resourceKind"], event["resourceId"]])
  ).toEqual([
    ["x-loan.ended", "x-loan", "l-1"],
    ["x-loan.overdue", "x-loan", "l-2"],
    ["x-loan.ended", "x-loan", "l-2"]
  ])
  const records = await auditOf(ada)
  const grants = records.filter(({ resourceId }) => resourceId === "l-1")
  expect(grants.map(({ action, actor, stage }) => [action, actor, stage])).toEqual([
    ["x-loan.grant", "olive", "awaiting"],
    ["approval.approve", "anna", "approved"],
    ["x-loan.grant", "olive", "started"],
    ["x-loan.grant", "olive", "succeeded"]
  ])
  const refused = records.filter(({ stage }) => stage === "refused")
  expect(refused.map(({ actor, problem, route }) => [actor, problem, route])).toContainEqual([
    "ada",
    "permission-denied",
    "/v1/x-loans"
  ])
}

const auditOf = async (client: Loans) => {
  const { value } = await client.call({ method: "GET", path: "/v1/audit-log?limit=1000" })
  return (value as { readonly value: ReadonlyArray<Readonly<Record<string, unknown>>> }).value
}
