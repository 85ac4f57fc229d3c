/** The typed client calls what is declared, keeps every digit, and names what it was refused. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Effect } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Business from "./tables.ts"
import { NoteId } from "./tables.ts"
import { Schema } from "effect"
import { bearer, open, type Venue } from "./venue.ts"

let venue: Venue
let operator: Client.Client
let approver: Client.Client

const clientOf = async (baseUrl: string, authorization: string) =>
  Effect.runPromise(
    Effect.map(HttpClient.HttpClient, (httpClient) => {
      let made = 0
      return Client.make({
        httpClient,
        baseUrl,
        authorization: Effect.succeed(authorization),
        makeKey: () => `key-${authorization.length}-${++made}`
      })
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

beforeAll(async () => {
  venue = await open()
  operator = await clientOf(venue.url, await bearer(["operator"]))
  approver = await clientOf(venue.url, await bearer(["approver"]))
})
afterAll(() => venue.close())

const id = Schema.decodeSync(NoteId)

describe("the client", () => {
  it("writes, and reads back the very digits it wrote", async () => {
    const amount = Decimal.of("9999999999999999999999999999.0000000001")
    const written = await Effect.runPromise(
      operator.write(Business.register, { holderId: id("cl-1"), text: "one", amount, owner: null })
    )
    expect(written.state).toBe("queued")
    await venue.settle()
    const read = await Effect.runPromise(operator.one(Business.getNote, { holderId: id("cl-1") }))
    expect(read.value.amount).toBe(amount)
    expect(read.ledgerTime).toBeNull()
  })

  it("lists with filters, pages and a point", async () => {
    const page = await Effect.runPromise(
      operator.list(Business.listNotes, { text: ["one", "two"] }, { limit: 1 })
    )
    expect(page.value.map(({ holderId }) => holderId)).toEqual(["cl-1"])
    expect(page.next).toBeNull()
  })

  it("takes an action through four eyes", async () => {
    const made = await Effect.runPromise(
      operator.write(Business.setPolicy, { instrumentId: id("i-1") })
    )
    expect([made.state, made.required]).toEqual(["awaiting", 1])
    const ran = await Effect.runPromise(approver.approve(made.actionKey ?? ""))
    expect(ran.state).toBe("queued")
    const other = await Effect.runPromise(
      operator.write(Business.setPolicy, { instrumentId: id("i-2") })
    )
    const rejected = await Effect.runPromise(
      operator.reject(other.actionKey ?? "", { reason: "changed my mind" })
    )
    expect([rejected.state, rejected.reason]).toEqual(["rejected", "changed my mind"])
  })

  it("gives each write a key of its own, and the caller's when it has one", async () => {
    const pause = { instrumentId: id("i-3") }
    const one = await Effect.runPromise(operator.write(Business.pause, pause))
    const two = await Effect.runPromise(operator.write(Business.pause, pause))
    expect(one.operationId).not.toBe(two.operationId)
    const three = await Effect.runPromise(operator.write(Business.pause, pause, { key: "mine" }))
    const four = await Effect.runPromise(operator.write(Business.pause, pause, { key: "mine" }))
    expect(four.operationId).toBe(three.operationId)
  })

  it("fails with the problem it was answered", async () => {
    const refused = await Effect.runPromise(
      Effect.flip(operator.one(Business.getNote, { holderId: id("absent") }))
    )
    expect(refused).toBeInstanceOf(Client.CallRefused)
    if (refused instanceof Client.CallRefused) expect(refused.slug).toBe("not-found")
  })

  it("does not take an answer that is not what the interface says", async () => {
    const server: Server = createServer((_, response) => {
      response.setHeader("content-type", "application/json").end('{"value":{"amount":1e3}}')
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const client = await clientOf(`http://127.0.0.1:${port}`, "Bearer x")
    const failed = await Effect.runPromise(
      Effect.flip(client.one(Business.getNote, { holderId: id("x") }))
    )
    expect(failed).toBeInstanceOf(Client.AnswerUnreadable)
    await new Promise((resolve) => server.close(resolve))
  })
})
