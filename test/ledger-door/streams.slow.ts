/**
 * Sockets of the door: one request each, every update once and in order, also when they are cut,
 * slow or refused.
 */
import { Offset } from "@bursar/engine-core/kernel"
import { NodeWS } from "@effect/platform-node"
import { Duration, Effect, Fiber, Layer, Logger, ManagedRuntime, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PartySession } from "#adapters/ledger/wallets/index.ts"
import * as Door from "#adapters/ledger/simulated/door/Door.ts"
import * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import { dig, open, type Opened, socket } from "./opened.ts"
import * as Wire from "./wire.ts"
import { until } from "../waiting.ts"

const offsetOf = (frame: unknown): number =>
  Number(
    dig(frame, "update", "Transaction", "value", "offset") ??
      dig(frame, "update", "OffsetCheckpoint", "value", "offset")
  )
const isTransaction = (frame: unknown): boolean => dig(frame, "update", "Transaction") !== undefined

describe("a socket", () => {
  let door: Opened
  let venue: Sim.PartyAdded
  let begin = 0
  beforeAll(async () => {
    door = await open()
    venue = await door.add("venue")
    begin = (await Wire.submit(door, venue, "s0", Wire.createPoint(venue.party))).offset
  })
  afterAll(() => door.close())

  const tail = (more: object = {}) => ({
    beginExclusive: 0,
    updateFormat: Wire.effects(venue.party),
    ...more
  })

  it("agrees to the subprotocol that is not the token", async () => {
    const opened = await socket(door, venue.token, "/v2/updates", tail())
    expect(opened.protocol).toBe("daml.ws.auth")
    opened.ws.close()
  })

  it("follows the ledger, and says how far it is while nothing happens", async () => {
    const opened = await socket(door, venue.token, "/v2/updates", tail())
    await opened.until(() => opened.frames.length >= 1)
    const { offset } = await Wire.submit(door, venue, "s1", Wire.createPoint(venue.party))
    await opened.until(() => opened.frames.some((frame) => offsetOf(frame) === offset))
    const stranger = await door.add("quiet")
    const other = await Wire.submit(door, stranger, "q1", Wire.createPoint(stranger.party))
    await opened.until(() =>
      opened.frames.some((frame) => !isTransaction(frame) && offsetOf(frame) === other.offset)
    )
    opened.ws.close()
  })

  it("closes by itself at the end it was asked for", async () => {
    const end = Number(dig((await door.ask(venue.token, "/v2/state/ledger-end")).json, "offset"))
    const opened = await socket(door, venue.token, "/v2/updates", tail({ endInclusive: end }))
    await opened.closed()
    expect(offsetOf(opened.frames.at(-1))).toBe(end)
  })

  it("gives active contracts and completions too", async () => {
    const contracts = await socket(door, venue.token, "/v2/state/active-contracts", {
      activeAtOffset: begin,
      eventFormat: Wire.eventFormat(venue.party)
    })
    await contracts.closed()
    expect(contracts.frames).toHaveLength(1)
    const completions = await socket(door, venue.token, "/v2/commands/completions", {
      parties: [venue.party]
    })
    await completions.until(() => completions.frames.length >= 1)
    expect(
      dig(completions.frames[0], "completionResponse", "Completion", "value", "commandId")
    ).toBe("s0")
    completions.ws.close()
  })

  const refused: ReadonlyArray<readonly [what: string, code: string, frame: unknown]> = [
    ["no JSON", "INVALID_ARGUMENT", "{"],
    ["a missing field", "INVALID_ARGUMENT", {}],
    ["an offset after the end", "OFFSET_AFTER_LEDGER_END", { beginExclusive: 1_000_000 }],
    ["another party", "PERMISSION_DENIED", { updateFormat: Wire.effects("other::1220aa") }],
    [
      "an unknown package",
      "PACKAGE_NAMES_NOT_FOUND",
      {
        updateFormat: Wire.effects("VENUE", {
          TemplateFilter: { value: { templateId: "#x:Y:Z" } }
        })
      }
    ]
  ]
  it.each(refused)("is told of %s in a frame, then closed", async (_what, code, frame) => {
    const request =
      typeof frame === "string"
        ? frame
        : JSON.stringify(
            Object.keys(frame as object).length === 0 ? frame : { ...tail(), ...(frame as object) }
          ).replaceAll("VENUE", venue.party)
    const opened = await socket(door, venue.token, "/v2/updates", request)
    await opened.closed()
    expect(opened.frames).toHaveLength(1)
    expect(dig(opened.frames[0], "code")).toBe(code)
  })

  it("takes one request and no second", async () => {
    const opened = await socket(door, venue.token, "/v2/updates", tail())
    await opened.until(() => opened.frames.length >= 1)
    opened.ws.send(JSON.stringify(tail()))
    await opened.closed()
    expect(dig(opened.frames.at(-1), "code")).toBe("INVALID_ARGUMENT")
  })

  it("with a wrong token is told so in a frame", async () => {
    const opened = await socket(door, "blt_wrong", "/v2/updates", tail())
    await opened.closed()
    expect(dig(opened.frames[0], "code")).toBe("UNAUTHENTICATED")
  })

  it("ends with its token", async () => {
    const brief = await door.add("brief")
    const opened = await socket(door, brief.token, "/v2/updates", {
      beginExclusive: 0,
      updateFormat: Wire.effects(brief.party)
    })
    await door.run(Effect.flatMap(Sim.Participant, ({ admin }) => admin.revokeToken("brief")))
    await opened.closed()
    expect(dig(opened.frames.at(-1), "code")).toBe("ACCESS_TOKEN_EXPIRED")
  })

  const turnedAway = (path: string, protocols: ReadonlyArray<string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const ws = new NodeWS.WebSocket(`${door.url.replace("http", "ws")}${path}`, [...protocols])
      ws.on("unexpected-response", (_, response) => {
        resolve(response.statusCode ?? 0)
        ws.terminate()
      })
      ws.on("open", () => reject(new Error("it opened")))
      ws.on("error", () => {})
    })

  it("is not opened without a token, nor where nothing streams", async () => {
    expect(await turnedAway("/v2/updates", ["daml.ws.auth"])).toBe(401)
    const protocols = [`jwt.token.${venue.token}`, "daml.ws.auth"]
    expect(await turnedAway("/v2/updates/flats", protocols)).toBe(501)
    expect(await turnedAway("/v2/state/ledger-end", protocols)).toBe(501)
  })

  it("that sends more than the limit is closed", async () => {
    const opened = await socket(door, venue.token, "/v2/updates", "x".repeat(1_048_577))
    await opened.closed()
  })

  it("a caller gone in the middle leaves nothing behind that hinders the next", async () => {
    for (let n = 0; n < 20; n++) {
      const ws = new NodeWS.WebSocket(`${door.url.replace("http", "ws")}/v2/updates`, [
        `jwt.token.${venue.token}`,
        "daml.ws.auth"
      ])
      await new Promise((resolve) => ws.once("open", resolve))
      ws.send(JSON.stringify(tail()))
      ws.terminate()
    }
    const opened = await socket(door, venue.token, "/v2/updates", tail())
    await opened.until(() => opened.frames.length >= 1)
    opened.ws.close()
  })
})

describe("a session's tail", () => {
  const collect = async (
    door: Opened,
    venue: Sim.PartyAdded,
    transport: "socket" | "polling",
    count: number
  ) => {
    const session = await Effect.runPromise(
      PartySession.open({ url: door.url, token: Effect.succeed(venue.token), transport })
    )
    const found: Array<{ readonly offset: number; readonly updateId: string | null }> = []
    const fiber = Effect.runFork(
      Stream.runForEach(session.updates(Offset.zero), (update) =>
        Effect.sync(() => void found.push(update))
      )
    )
    for (let n = 0; n < count; n++) {
      await Wire.submit(door, venue, `r${n}`, Wire.createPoint(venue.party))
    }
    const end = await Effect.runPromise(session.ledgerEnd)
    await until(() => (found.at(-1)?.offset ?? 0) >= end)
    await Effect.runPromise(Fiber.interrupt(fiber))
    return found
  }

  const faults: ReadonlyArray<readonly [string, Sim.Faults.Plan]> = [
    ["nothing", {}],
    ["a cut after every third update", { wsCut: 3 }],
    ["every frame twice", { duplicateFrame: true }],
    ["explicit nulls and unknown fields", { wire: { explicitNulls: true, extraFields: true } }],
    ["kinds of update nobody knows", { wire: { unknownArm: true, missingAcsDelta: true } }]
  ]
  const cases = faults.flatMap(([what, plan]) =>
    (["socket", "polling"] as const).map((transport) => [transport, what, plan] as const)
  )
  it.each(cases)("over %s, with %s, misses and repeats nothing", async (transport, _, plan) => {
    const door = await open()
    const venue = await door.add("venue")
    door.faults.replace(plan)
    const found = await collect(door, venue, transport, 12)
    const offsets = found.map(({ offset }) => offset)
    expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b))
    expect(found.filter(({ updateId }) => updateId !== null)).toHaveLength(12)
    await door.close()
  })

  it("goes on where it was when the door comes back", async () => {
    const faults = Sim.Faults.make()
    const ledger = ManagedRuntime.make(
      Sim.layerMemory({ ledgerId: "sim", participantId: "p::1220aa", faults })
    )
    const participant = await ledger.runPromise(Sim.Participant)
    const opened = (port: number) =>
      ManagedRuntime.make(
        Door.layer({ port }).pipe(Layer.provide(Layer.succeed(Sim.Participant, participant)))
      )
    const venue = await Effect.runPromise(
      participant.admin.addParty({ hint: "venue", kind: "local" })
    )
    let door = opened(0)
    const { url, port } = await door.runPromise(Door.Door)
    const session = await Effect.runPromise(
      PartySession.open({ url, token: Effect.succeed(venue.token) })
    )
    const found: Array<string> = []
    const fiber = Effect.runFork(
      Stream.runForEach(session.updates(Offset.zero), ({ updateId }) =>
        Effect.sync(() => void (updateId === null || found.push(updateId)))
      )
    )
    const user = await Effect.runPromise(participant.authenticate(venue.token))
    const submitted: Array<string> = []
    const submit = async (commandId: string) => {
      const { updateId } = await Effect.runPromise(
        participant.submit(user, {
          commandId,
          actAs: [venue.party],
          readAs: [],
          commands: [
            {
              _tag: "Create",
              template: {
                packageName: "bursar-admin-v1",
                module: "Bursar.Admin.Price",
                entity: "OraclePoint"
              },
              args: Wire.createPoint(venue.party).CreateCommand.createArguments as never
            }
          ],
          dedup: null,
          submissionId: commandId,
          workflowId: null,
          disclosed: [],
          minLedgerTime: null,
          traceparent: null
        })
      )
      submitted.push(updateId)
    }
    const caughtUp = () => until(() => found.length >= submitted.length)
    await submit("a")
    await caughtUp()
    await door.dispose()
    await submit("b")
    await submit("c")
    door = opened(port)
    await door.runPromise(Door.Door)
    await submit("d")
    await caughtUp()
    expect(found).toEqual(submitted)
    await Effect.runPromise(Fiber.interrupt(fiber))
    await door.dispose()
    await ledger.dispose()
  })

  it("goes on with a token that was replaced, and ends when there is none", async () => {
    const door = await open()
    const venue = await door.add("venue")
    let token = venue.token
    const session = await Effect.runPromise(
      PartySession.open({ url: door.url, token: Effect.sync(() => token) })
    )
    const found: Array<number> = []
    const running = Effect.runFork(
      Stream.runForEach(session.updates(Offset.zero), ({ offset }) =>
        Effect.sync(() => void found.push(offset))
      )
    )
    const reached = async (offset: number) => {
      await until(() => (found.at(-1) ?? 0) >= offset)
      expect(found.at(-1)).toBe(offset)
    }
    const before = await Wire.submit(door, venue, "t1", Wire.createPoint(venue.party))
    await reached(before.offset)
    const admin = await door.run(Effect.map(Sim.Participant, (node) => node.admin))
    token = await door.run(admin.issueToken("venue"))
    const renewed = { party: venue.party, token }
    const after = await Wire.submit(door, renewed, "t2", Wire.createPoint(venue.party))
    await reached(after.offset)
    await door.run(admin.revokeToken("venue"))
    const error = await Effect.runPromise(Effect.flip(Fiber.join(running)))
    expect(error.code).toBe("UNAUTHENTICATED")
    await door.close()
  })

  it("told that its past is pruned, ends and does not skip", async () => {
    const door = await open()
    const venue = await door.add("venue")
    await Wire.submit(door, venue, "p1", Wire.createPoint(venue.party))
    const { offset } = await Wire.submit(door, venue, "p2", Wire.createPoint(venue.party))
    await door.run(Effect.flatMap(Sim.Participant, ({ admin }) => admin.prune(Offset.of(offset))))
    expect((await door.ask(venue.token, "/v2/state/latest-pruned-offsets")).json).toEqual({
      participantPrunedUpToInclusive: offset,
      allDivulgedContractsPrunedUpToInclusive: offset
    })
    const session = await Effect.runPromise(
      PartySession.open({ url: door.url, token: Effect.succeed(venue.token) })
    )
    const error = await Effect.runPromise(
      Effect.flip(Stream.runDrain(session.updates(Offset.zero)))
    )
    expect([error.code, error.context["earliest_offset"]]).toEqual([
      "PARTICIPANT_PRUNED_DATA_ACCESSED",
      String(offset)
    ])
    await door.close()
  })
})

describe("a door that closes", () => {
  it("lets requests finish, says goodbye on its sockets, and takes nobody new", async () => {
    const door = await open()
    const venue = await door.add("venue")
    const opened = await socket(door, venue.token, "/v2/updates", {
      beginExclusive: 0,
      updateFormat: Wire.effects(venue.party)
    })
    await Wire.submit(door, venue, "g1", Wire.createPoint(venue.party))
    await opened.until(() => opened.frames.length >= 1)
    door.faults.replace({ wire: { slowBodyMillis: 400 } })
    const underWay = door.ask(venue.token, "/v2/state/ledger-end")
    await new Promise((resolve) => setTimeout(resolve, 100))
    // A socket that it waits for in vain is cut, and has no last frame.
    await door.close()
    expect((await underWay).status).toBe(200)
    await opened.closed()
    expect(dig(opened.frames.at(-1), "code")).toBe("SERVICE_NOT_RUNNING")
    await expect(door.ask(venue.token, "/v2/state/ledger-end")).rejects.toThrow()
  })
})

describe("a node that fails its door", () => {
  const answered = async (broken: Partial<Sim.Participant["Service"]>) => {
    const ledger = ManagedRuntime.make(
      Sim.layerMemory({ ledgerId: "sim", participantId: "p::1220aa" })
    )
    const participant = await ledger.runPromise(Sim.Participant)
    const { token } = await Effect.runPromise(
      participant.admin.addParty({ hint: "venue", kind: "local" })
    )
    const door = ManagedRuntime.make(
      Door.layer({ port: 0, answerWithin: Duration.millis(100) }).pipe(
        Layer.provide(Layer.succeed(Sim.Participant, { ...participant, ...broken })),
        Layer.provide(Logger.layer([]))
      )
    )
    const { url } = await door.runPromise(Door.Door)
    const response = await fetch(`${url}/v2/state/ledger-end`, {
      headers: { authorization: `Bearer ${token}` }
    })
    const text = await response.text()
    await door.dispose()
    await ledger.dispose()
    return { status: response.status, type: response.headers.get("content-type"), text }
  }

  it("by silence: the caller is told in time, and nothing definite", async () => {
    const { status, type } = await answered({ ledgerEnd: Effect.never })
    expect([status, type?.split(";")[0]]).toEqual([503, "text/plain"])
  })

  it("by a bug: the caller is told that, and nothing of what it was", async () => {
    const { status, text } = await answered({ ledgerEnd: Effect.die(new Error("secret")) })
    expect([status, dig(JSON.parse(text), "grpcCodeValue")]).toEqual([500, 13])
    expect(text).not.toContain("secret")
  })
})

describe("a reader that does not read", () => {
  it("holds up its own stream and not the node's memory, and then gets all of it", async () => {
    const ledger = ManagedRuntime.make(
      Sim.layerMemory({ ledgerId: "sim", participantId: "p::1220aa" })
    )
    const participant = await ledger.runPromise(Sim.Participant)
    let pulled = 0
    const watched = Layer.succeed(Sim.Participant, {
      ...participant,
      updates: (...ask: Parameters<typeof participant.updates>) =>
        Stream.tap(participant.updates(...ask), () => Effect.sync(() => void pulled++))
    })
    const door = ManagedRuntime.make(Door.layer({ port: 0 }).pipe(Layer.provide(watched)))
    const { url } = await door.runPromise(Door.Door)
    const venue = await Effect.runPromise(
      participant.admin.addParty({ hint: "venue", kind: "local" })
    )
    const batches = 60
    // Each contract of about 60 kB as it is sent: many readers, each named twice.
    const readers = Array.from({ length: 400 }, (_, n) => `reader-${n}::1220${"ab".repeat(32)}`)
    for (let n = 0; n < batches; n++) {
      const response = await fetch(`${url}/v2/commands/submit-and-wait`, {
        method: "POST",
        headers: { authorization: `Bearer ${venue.token}`, "content-type": "application/json" },
        body: JSON.stringify({
          commandId: `n${n}`,
          actAs: [venue.party],
          commands: Array.from({ length: 10 }, () => Wire.createPoint(venue.party, { readers }))
        })
      })
      expect(response.status).toBe(200)
    }
    const ws = new NodeWS.WebSocket(`${url.replace("http", "ws")}/v2/updates`, [
      `jwt.token.${venue.token}`,
      "daml.ws.auth"
    ])
    await new Promise((resolve) => ws.once("open", resolve))
    let frames = 0
    ws.on("message", (data) => {
      if (isTransaction(JSON.parse(String(data)))) frames++
    })
    ws.send(JSON.stringify({ beginExclusive: 0, updateFormat: Wire.effects(venue.party) }))
    ws.pause()
    const settled = async () => {
      let before = -1
      while (before !== pulled) {
        before = pulled
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
    }
    await settled()
    expect(pulled).toBeGreaterThan(0)
    expect(pulled).toBeLessThan(batches)
    const other = await fetch(`${url}/v2/state/ledger-end`, {
      headers: { authorization: `Bearer ${venue.token}` }
    })
    expect(other.status).toBe(200)
    ws.resume()
    await until(() => frames >= batches)
    expect(frames).toBe(batches)
    ws.terminate()
    await door.dispose()
    await ledger.dispose()
  })
})

describe("the wire's own faults", () => {
  let door: Opened
  let venue: Sim.PartyAdded
  beforeAll(async () => {
    door = await open()
    venue = await door.add("venue")
  })
  afterAll(() => door.close())
  const end = () => door.ask(venue.token, "/v2/state/ledger-end")

  it("the requests named are answered with plain text or a page, the others as ever", async () => {
    door.faults.replace({ wire: { text503: [1], html502: [2] } })
    const first = await end()
    expect([first.status, first.type.split(";")[0]]).toEqual([503, "text/plain"])
    const second = await end()
    expect([second.status, second.type.split(";")[0]]).toEqual([502, "text/html"])
    expect((await end()).status).toBe(200)
    door.faults.replace({ wire: { html502: [1] } })
    expect((await end()).status).toBe(502)
  })

  it("a write answered with 503 has happened, and a session finds that out", async () => {
    const session = await Effect.runPromise(
      PartySession.open({ url: door.url, token: Effect.succeed(venue.token) })
    )
    door.faults.replace({ wire: { text503: [1] } })
    const done = await Effect.runPromise(
      session.submit({
        commandId: "unknown",
        commands: [
          {
            _tag: "Create",
            template: {
              packageName: "bursar-admin-v1",
              module: "Bursar.Admin.Price",
              entity: "OraclePoint"
            },
            args: Wire.createPoint(venue.party).CreateCommand.createArguments as never
          }
        ]
      })
    )
    expect(done.duplicate).toBe(true)
    expect(await Effect.runPromise(session.acs(done.offset))).toHaveLength(1)
  })

  it("an error may come with free text for its code", async () => {
    door.faults.replace({ wire: { redactedError: true } })
    const { json, status } = await door.ask(venue.token, "/v2/updates", {
      beginExclusive: 1_000_000,
      updateFormat: Wire.effects(venue.party)
    })
    expect([status, dig(json, "errorCategory"), dig(json, "grpcCodeValue")]).toEqual([400, -1, 11])
    expect(String(dig(json, "code"))).toContain(" ")
  })

  it("a list may be refused although it is short, a body may be late", async () => {
    door.faults.replace({ wire: { list413: true } })
    const list = await door.ask(venue.token, "/v2/updates", {
      beginExclusive: 0,
      updateFormat: Wire.effects(venue.party)
    })
    expect(list.status).toBe(413)
    door.faults.replace({ wire: { slowBodyMillis: 150 } })
    const before = Date.now()
    expect((await end()).status).toBe(200)
    expect(Date.now() - before).toBeGreaterThanOrEqual(140)
    door.faults.replace({})
  })
})
