/** Records of a machine: what follows of its triggers for the clock, the waiting, the events and the fold. */
import { Catalogue } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Event, Machine, MachineRecords, Noun, Resource, Room } from "@bursar/engine-core/rooms"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"

const Gift = Machine.declare("XGiftState", {
  doc: "A gift that a guest brings.",
  states: { wrapped: "Nobody has opened it.", stale: "It waits too long.", open: "It is open." },
  triggers: {
    unwrap: { by: ["ledger"], announces: ["x-gift.opened"] },
    wait: { by: ["clock"], announces: ["x-gift.late"] },
    spoil: { by: ["clock"] }
  },
  initial: "wrapped",
  opens: { by: ["ledger"], announces: ["x-gift.late", "x-gift.opened"] },
  moves: {
    wrapped: { unwrap: "open", wait: "stale", spoil: "open" },
    stale: { unwrap: "open", spoil: "open" },
    open: {}
  },
  forward: ["unwrap"]
})

const stored = {
  giftId: Schema.String,
  to: Schema.String,
  lateAt: Instant.schema,
  spoilsAt: Instant.schema,
  state: Gift.schema
}
const payload = Schema.Struct({ state: Gift.schema })
const gifts = MachineRecords.define("x-gift", Gift, {
  doc: "A gift.",
  id: ({ giftId }) => giftId,
  record: Schema.Struct(stored),
  due: { spoil: ({ spoilsAt }) => spoilsAt, wait: ({ lateAt }) => lateAt },
  waitingOn: { unwrap: ({ lateAt, to }) => ({ party: to, action: "x-gift.open", by: lateAt }) },
  events: {
    "x-gift.opened": Event.about("x-gift", payload, "A gift was opened."),
    "x-gift.late": Event.about("x-gift", payload, "A gift is late.")
  },
  about: ({ state, to }) => ({ party: to, payload: { state }, holderIds: ["h1"] })
})

const late = Instant.of("2026-01-05T00:00:00Z")
const spoilt = Instant.of("2026-01-09T00:00:00Z")
const gift = {
  giftId: "g-1",
  to: "guest",
  lateAt: late,
  spoilsAt: spoilt,
  state: "wrapped"
} as const

describe("a record of a machine", () => {
  it("is moved by the clock out of turn, or once its state does not answer any more", () => {
    expect(gifts.due(gift)).toEqual({ at: late, fact: { on: "wait" } })
    expect(gifts.due({ ...gift, state: "stale" })).toEqual({ at: spoilt, fact: { on: "spoil" } })
    expect(gifts.due({ ...gift, lateAt: spoilt, spoilsAt: late })?.fact.on).toBe("spoil")
    expect(gifts.due({ ...gift, state: "open" })).toBeUndefined()
  })

  it("waits on somebody although its state does not answer to the act", () => {
    const act = { party: "guest", action: "x-gift.open", by: late }
    expect(gifts.waitingOn(gift)).toEqual([act])
    expect(gifts.waitingOn({ ...gift, state: "open" })).toEqual([])
  })

  it("announces another event than its machine says, or none at its opening", () => {
    const typesOf = (...args: Parameters<typeof gifts.announce>) =>
      gifts.announce(...args).map(({ type }) => type)
    expect(typesOf(gift, undefined)).toEqual(["x-gift.late", "x-gift.opened"])
    expect(typesOf({ ...gift, state: "stale" }, { on: "wait" })).toEqual(["x-gift.late"])
    expect(typesOf({ ...gift, state: "open" }, { on: "spoil" })).toEqual([])
    expect(gifts.announce({ ...gift, state: "open" }, { on: "unwrap" })).toEqual([
      {
        type: "x-gift.opened",
        resourceKind: "x-gift",
        resourceId: "g-1",
        instrumentId: null,
        party: "guest",
        holderIds: ["h1"],
        payload: { state: "open" }
      }
    ])
  })

  it("goes where the machine does not, or takes a fact that is no trigger", () => {
    expect(gifts.evolve(gift, { on: "wait" }).state).toBe("stale")
    expect(() => gifts.evolve({ ...gift, state: "open" }, { on: "wait" })).toThrow(
      "corrupt history"
    )
    expect(Schema.is(gifts.fact)({ on: "burn" })).toBe(false)
  })
})

describe("the reads of such records", () => {
  const readsOf = (audience: Resource.WholeAudience) =>
    Resource.declare(gifts, {
      ...{ name: "x-gifts", list: "Lists the gifts.", idMember: "giftId", members: stored },
      ...{ view: { identifier: "XGiftView", description: "A gift." }, audience }
    })

  it("show every record to a role that sees its own, what is near, or a redacted view", () => {
    for (const sight of ["own", "near", "redacted"] as const) {
      // @ts-expect-error TS2322: a role sees every record.
      const audience: Resource.WholeAudience = { operator: "all", investor: sight }
      expect(() => readsOf(audience)).toThrow(
        `the reads of x-gifts show investor every record, and its sight is "${sight}"`
      )
    }
    const audience = { operator: "all", investor: "all" } as const
    expect(readsOf(audience).list.audience).toEqual(audience)
  })
})

describe("a room whose machine announces an event that the room lacks", () => {
  it("starts", () => {
    const { get, list } = Resource.declare(gifts, {
      name: "x-gifts",
      list: "Lists the gifts.",
      idMember: "giftId",
      members: stored,
      view: { identifier: "XGiftView", description: "A gift." },
      audience: { operator: "all" }
    })
    const events = { "x-gift.late": Event.about("x-gift", payload, "A gift is late.") }
    const noun = Noun.declare({ collections: [gifts], machine: Gift, events, queries: [get, list] })
    const waitingActions = { "x-gift.open": "The guest opens the gift." }
    const room = Room.declare({
      ...{ name: "x-gifts", doc: "Gifts.", nouns: [noun], waitingActions }
    })
    expect(() => Catalogue.withRooms([room])).toThrow("x-gift.opened, which no room declares")
  })
})
