/** The typed client calls what is declared, keeps every digit, and names what it was refused. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Effect, Redacted, Stream } from "effect"
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
    const ran = await Effect.runPromise(approver.approve(made))
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

  it("waits for what it wrote, and is told on the way", async () => {
    const written = await Effect.runPromise(
      operator.write(Business.register, {
        holderId: "cl-0",
        text: "three",
        amount: Decimal.of("1"),
        owner: null
      })
    )
    await venue.settle()
    const seen: Array<unknown> = []
    const ended = await Effect.runPromise(
      operator.wait(written, { progress: ({ state }) => Effect.sync(() => seen.push(state)) })
    )
    expect([ended.state, ended.result?.holderId, seen]).toEqual([
      "succeeded",
      "cl-0",
      ["succeeded"]
    ])
    // Two of one id are queued before either runs: the second one fails when it does.
    const twin = { holderId: "cl-00", text: "three", amount: Decimal.of("1"), owner: null }
    await Effect.runPromise(operator.write(Business.register, twin))
    const again = await Effect.runPromise(operator.write(Business.register, twin))
    await venue.settle()
    const failed = await Effect.runPromise(Effect.flip(operator.wait(again)))
    expect(failed).toBeInstanceOf(Client.OperationFailed)
    if (failed instanceof Client.OperationFailed) expect(failed.slug).toBe("already-exists")
  })

  it("reads a list of many pages as one, at one point, whatever is written meanwhile", async () => {
    const note = (i: number) => ({
      holderId: `many-${String(i).padStart(3, "0")}`,
      text: "two",
      amount: Decimal.of("0.5"),
      owner: null
    })
    const write = (i: number) => Effect.runPromise(operator.write(Business.register, note(i)))
    for (let i = 0; i < 25; i++) await write(i)
    await venue.settle()
    const params = { text: ["two"] } as const
    const whole = await Effect.runPromise(operator.list(Business.listNotes, params))
    const streamed = await Effect.runPromise(
      operator.pages(Business.listNotes, params, { limit: 7 }).pipe(
        Stream.tap(() =>
          Effect.promise(async () => {
            await write(900 + extra++)
            await venue.settle()
          })
        ),
        Stream.runCollect
      )
    )
    expect(streamed.map(({ value }) => value.length)).toEqual([7, 7, 7, 4])
    expect(streamed.flatMap(({ value }) => value)).toEqual(whole.value)
    const records = await Effect.runPromise(
      Stream.runCollect(Stream.take(operator.records(Business.listNotes, params, { limit: 2 }), 5))
    )
    expect(records).toEqual(whole.value.slice(0, 5))
  })
  let extra = 0

  it("follows the feed from the cursor it kept: every event once, none missed, across a restart", async () => {
    const read = (after: string | undefined, pages: number) =>
      Effect.runPromise(
        Stream.runCollect(
          Stream.take(
            operator.events({}, { limit: 5, ...(after === undefined ? {} : { after }) }),
            pages
          )
        )
      )
    const first = await read(undefined, 2)
    const kept = first.at(-1)?.cursor
    // The reader stops, further events are written, and another reader starts with the cursor that
    // the first kept.
    await Effect.runPromise(
      operator.write(Business.register, {
        holderId: "cl-9",
        text: "one",
        amount: Decimal.of("1"),
        owner: null
      })
    )
    await venue.settle()
    const second = await read(kept, 3)
    const seqs = [...first, ...second].flatMap(({ events }) => events.map(({ seq }) => seq))
    expect(seqs).toEqual(seqs.map((_, i) => i + 1))
    expect(seqs.length).toBe(25)
  })

  it("signs as the host demands of whoever has a key, each request anew", async () => {
    const secret = new Uint8Array(32).fill(5)
    const key = {
      keyId: "client-1",
      sub: "operator-1",
      secret: Redacted.make(secret),
      notBefore: null,
      notAfter: null
    }
    const strict = await open({ signing: { keys: [key] } })
    try {
      const authorization = Effect.succeed(await bearer(["operator"]))
      const options = { baseUrl: strict.url, authorization }
      const unsigned = Client.overFetch(options)
      const refused = await Effect.runPromise(Effect.flip(unsigned.list(Business.listNotes, {})))
      expect(refused).toMatchObject({ _tag: "CallRefused", slug: "signature-required" })
      const signed = Client.overFetch({ ...options, signing: { keyId: "client-1", secret } })
      const note = { holderId: "signed-1", text: "one", amount: Decimal.of("1.50"), owner: "ü" }
      const written = await Effect.runPromise(signed.write(Business.register, note))
      await strict.settle()
      expect((await Effect.runPromise(signed.wait(written))).state).toBe("succeeded")
      const listed = signed.list(Business.listNotes, { text: ["one", "two"] }, { limit: 3 })
      expect((await Effect.runPromise(listed)).value).toHaveLength(1)
      const wrong = Client.overFetch({
        ...options,
        signing: { keyId: "client-1", secret: new Uint8Array(32) }
      })
      const denied = await Effect.runPromise(Effect.flip(wrong.list(Business.listNotes, {})))
      expect(denied).toMatchObject({ slug: "signature-invalid" })
    } finally {
      await strict.close()
    }
  })
})
