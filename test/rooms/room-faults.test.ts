/** Rooms that cannot be used: each fault is a sentence at the start. */
import { Catalogue } from "@bursar/engine-core"
import {
  Collection,
  Consequence,
  Event,
  Gates,
  Machine,
  type Noun,
  Operation,
  Read,
  Refusal,
  type Room,
  RoomsNotUsable
} from "@bursar/engine-core/rooms"
import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { room as loans } from "../../examples/10-a-room-of-its-own/loans.ts"

const Plain = Schema.Struct({ id: Schema.String })
const Fact = Schema.Struct({ on: Schema.Literal("end") })

const recordsOf = (name: string) =>
  Collection.define<typeof Plain.Type, typeof Fact.Type>(name, {
    doc: "A record.",
    id: ({ id }) => id,
    record: Plain,
    fact: Fact,
    evolve: (self) => self,
    keptBy: "engine"
  })

/** A write under any words, as a program without types would declare one. */
const writeOf = (kind: string, route: string, more: object = {}) =>
  Operation.define(kind as "x-gift.give", {
    doc: "Gives.",
    route: route as "POST /v1/x-gifts",
    makers: ["operator"],
    approvers: 0,
    resource: { kind: "x-gift", id: ({ id }) => id, href: () => "/v1/x-gifts" },
    input: Plain,
    result: Plain,
    refuses: [],
    run: (input) => Effect.succeed(input),
    ...more
  })

const give = writeOf("x-gift.give", "POST /v1/x-gifts")
const roomOf = (noun: Noun.Noun, more: Partial<Room.Room> = {}): Room.Room => ({
  name: "x-gifts",
  doc: "Gifts.",
  nouns: [noun],
  ...more
})

/** Sentences by which the rooms are refused; none where they can be used. */
const faultsOf = (...rooms: ReadonlyArray<Room.Room>): ReadonlyArray<string> => {
  try {
    Catalogue.withRooms(rooms)
    return []
  } catch (error) {
    if (error instanceof RoomsNotUsable) return error.faults
    throw error
  }
}

const list = (name: string, collection = recordsOf("x-gift")) =>
  Read.list({
    name: name as "x-gifts.list",
    doc: "Lists.",
    route: "GET /v1/x-gifts",
    audience: { operator: "all" },
    pinned: true,
    collection,
    params: Schema.Struct({}),
    item: Plain,
    direction: "asc",
    order: "by id",
    changes: false,
    where: () => ({}),
    view: (found) => Effect.succeed(found)
  })

const machineOf = (name: string, by: string, announces: ReadonlyArray<string> = []) =>
  Machine.declare(name, {
    doc: "A gift.",
    states: { given: "It is given.", ended: "It has ended." },
    triggers: { end: { by: [by as "ledger"], announces: announces as ReadonlyArray<never> } },
    initial: "given",
    opens: { by: ["x-gift.give"] },
    moves: { given: { end: "ended" }, ended: {} },
    forward: ["end"]
  }) as unknown as Machine.Machine

describe("a room that can be used", () => {
  it("is refused, alone or beside another one", () => {
    expect(faultsOf(loans)).toEqual([])
    expect(faultsOf(roomOf({ writes: [give] }), loans)).toEqual([])
  })

  it("leaves the catalogue without what it declares, or without a built-in declaration", () => {
    const catalogue = Catalogue.withRooms([loans])
    expect(catalogue.operations.map(({ kind }) => kind)).toEqual([
      ...Catalogue.operations.map(({ kind }) => kind),
      "x-loan.grant",
      "x-loan.write-off"
    ])
    expect(catalogue.machines.at(-1)?.name).toBe("XLoanState")
    expect(catalogue.machines.length).toBe(Catalogue.machines.length + 1)
    expect(catalogue.collections.length).toBe(Catalogue.collections.length + 1)
    expect(catalogue.fromLedger.length).toBe(Catalogue.fromLedger.length + 1)
    expect(catalogue.refusals["x-loan-not-overdue"]?.status).toBe(409)
    expect(catalogue.ownWords.get("EventType")).toEqual(["x-loan.overdue", "x-loan.ended"])
    expect(Catalogue.withRooms([])).toBe(Catalogue.builtIn)
  })
})

describe("a room that takes what the engine has", () => {
  it.each<readonly [what: string, noun: Noun.Noun, sentence: string]>([
    [
      "a kind of write",
      { writes: [writeOf("hold.release", "POST /v1/x-gifts")] },
      "The room x-gifts takes the write hold.release, which the engine has."
    ],
    [
      "a collection",
      { collections: [recordsOf("hold")] },
      "The room x-gifts takes the collection hold, which the engine has."
    ],
    [
      "a read",
      { queries: [list("holds.list")] },
      "The room x-gifts takes the read holds.list, which the engine has."
    ],
    [
      "a set of states",
      { writes: [give], machine: machineOf("HoldState", "ledger") },
      "The room x-gifts takes the set of states HoldState, which the engine has."
    ],
    [
      "a route",
      { writes: [writeOf("x-gift.give", "POST /v1/holds/{anyId}:release")] },
      "The room x-gifts takes the route POST /v1/holds/{anyId}:release, which the engine has."
    ]
  ])("is accepted: %s", (_, noun, sentence) => {
    expect(faultsOf(roomOf(noun))).toContain(sentence)
  })

  it("is accepted under a word that does not begin with x-", () => {
    expect(faultsOf(roomOf({ writes: [writeOf("gift.give", "POST /v1/gifts")] }))).toEqual([
      "The room x-gifts names a write gift.give: one of a room begins with x-, as x-loan.assess does.",
      "The room x-gifts takes the route POST /v1/gifts: one of a room begins with /v1/x-."
    ])
    expect(faultsOf({ ...roomOf({ writes: [give] }), name: "gifts" as "x-gifts" })[0]).toBe(
      "A room is named gifts: its name begins with x-."
    )
    const refusals = Refusal.declare({ "gift-late": late } as never)
    expect(faultsOf(roomOf({ writes: [give] }, { refusals }))[0]).toContain("a refusal gift-late")
    const conditions = Gates.declare({ "gift-small": small } as never)
    expect(faultsOf(roomOf({ writes: [give] }, { conditions }))[0]).toContain(
      "a condition gift-small"
    )
  })

  it("answers a status that no refusal of a business rule has", () => {
    const refusals = Refusal.declare({ "x-gift-late": { ...late, status: 200 } })
    expect(faultsOf(roomOf({ writes: [give] }, { refusals }))[0]).toContain(
      "answers the status 200"
    )
  })
})

const late = { status: 409, retryable: false, title: "It is late." }
const small = { gate: "cash", sentence: "It is large.", recovery: null } as const

describe("two rooms", () => {
  it("both have a word, or a route under other names of its parameters", () => {
    const other = roomOf(
      { writes: [give, writeOf("x-loan.give", "POST /v1/x-loans/{giftId}:write-off")] },
      { name: "x-more" }
    )
    expect(faultsOf(roomOf({ writes: [give] }), loans, other)).toEqual([
      "The rooms x-gifts and x-more both have the write x-gift.give.",
      "The rooms x-gifts and x-more both have the kind of record x-gift.",
      "The rooms x-gifts and x-more both have the route POST /v1/x-gifts.",
      "The rooms x-loans and x-more both have the route POST /v1/x-loans/{giftId}:write-off."
    ])
    expect(faultsOf(loans, loans)[0]).toBe("The room x-loans has the name twice.")
  })

  it("import from each other upwards, or from a room that is not there", () => {
    const consequence = Consequence.define({
      doc: "Judged again.",
      collection: recordsOf("x-loan"),
      concerns: () => null,
      follow: () => Effect.void
    })
    const gifts = roomOf({ writes: [give], consequences: [consequence] })
    expect(faultsOf(loans, gifts)).toEqual([])
    expect(faultsOf(gifts, loans)).toEqual([
      "The room x-gifts: its consequence names the collection x-loan of the room x-loans, which comes after it. A room names what rooms before it declare: list x-loans first."
    ])
    expect(faultsOf(gifts)).toEqual([
      "The room x-gifts: its consequence names the collection x-loan, which no room declares."
    ])
  })

  it("refuse by a condition that no room declares", () => {
    const write = writeOf("x-gift.give", "POST /v1/x-gifts", {
      conditions: ["not-held", "x-gift-small"]
    })
    expect(faultsOf(roomOf({ writes: [write] }))).toEqual([
      "The room x-gifts: its write x-gift.give names the condition x-gift-small, which no room declares."
    ])
  })

  it("pull a trigger by a write, or announce an event, that no room declares", () => {
    const machine = machineOf("XGiftState", "x-gift.take", ["x-gift.gone"])
    expect(faultsOf(roomOf({ writes: [give], machine }))).toEqual([
      "The room x-gifts: its machine XGiftState names the write x-gift.take, which no room declares.",
      "The room x-gifts: its machine XGiftState names the event x-gift.gone, which no room declares."
    ])
  })
})

describe("an event of a room", () => {
  it("has no sentence that says what it announces", () => {
    const events = { "x-gift.gone": Event.about("x-gift", Plain) }
    expect(faultsOf(roomOf({ writes: [give], events }))).toEqual([
      "The room x-gifts: its event x-gift.gone has no sentence that says what it announces."
    ])
  })
})
