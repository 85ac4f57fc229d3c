/** Rows of a flush: facts, versions and events under one stamp, and each journal event once. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import type { FactRow } from "#core/ports/storage/FactLog.ts"
import type { VersionRow } from "#core/ports/storage/Documents.ts"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Announcement } from "#core/kernel/Announcement.ts"
import * as Collection from "#core/kernel/Collection.ts"
import * as Flush from "#core/records/Flush.ts"
import * as UnitOfWork from "#core/records/UnitOfWork.ts"
import { offsetOf } from "#core/records/Writing.ts"

const instant = Instant.fromEpochMillis(1_790_000_000_000)
const opened = Instant.fromEpochMillis(1_780_000_000_000)
const stamp: Flush.Stamp = {
  instant,
  at: Instant.sortable(instant),
  nextOffset: 8,
  stamped: (texts) => texts
}

const sortKey = (createdAt: Instant.Instant) => `${Instant.sortable(createdAt)}/t`

const timers = Collection.define("timer", {
  doc: "A timer.",
  id: () => "t",
  record: Schema.Struct({ body: Schema.String }),
  fact: Schema.Struct({ fact: Schema.String }),
  evolve: (self) => self,
  keptBy: "engine",
  sortKey: (_, createdAt) => sortKey(createdAt),
  filters: { state: () => "set" }
})

const draft = {
  collection: timers,
  recordId: "t",
  version: 3,
  cause: "clock",
  offset: undefined,
  record: { body: "" },
  fact: { fact: "" },
  createdAt: opened
} satisfies UnitOfWork.Draft

/** Record that calls back when its body is encoded. */
const watched = (body: string, encodes: () => void) => ({
  get body() {
    encodes()
    return body
  }
})

const bodyText = (n: number) => `{"body":"body-${n}"}`
const factText = (n: number) => `{"fact":"fact-${n}"}`
/** The rows of a draft whose version is stored. */
const rowsOf = (stored: UnitOfWork.Draft) => {
  const closes = Flush.closedBy([stored], stamp)
  const { facts, versions } = Flush.rowsOf([stored], {
    ...{ closes, stamp, texts: new Map(), waiting: new Map() }
  })
  return { fact: facts[0], version: versions[0] }
}

const announcement: Announcement = {
  type: "hold.released",
  resourceKind: "hold",
  resourceId: "h",
  instrumentId: null,
  party: null,
  holderIds: [],
  payload: {}
}
const journal = (source: string): Announcement => ({
  ...announcement,
  journal: { at: opened, offset: 5, source }
})

describe("the rows of a draft", () => {
  it("hold from one past the projection's head, or from the draft's own offset", () => {
    for (const [offset, expected] of [
      [undefined, 8],
      [0, 0],
      [5, 5]
    ] as const) {
      expect(rowsOf({ ...draft, offset }).fact?.offset).toBe(expected)
      expect(rowsOf({ ...draft, offset }).version?.fromOffset).toBe(expected)
    }
  })

  it("are recorded at the stamp, and keep the instant at which the record was created", () => {
    expect(rowsOf(draft).fact?.recordedAt).toBe(stamp.at)
    expect(rowsOf(draft).version).toMatchObject({
      fromInstant: stamp.at,
      createdAt: Instant.sortable(opened),
      sortKey: sortKey(opened)
    })
  })

  it("of a record that opens are created at the stamp, and sorted by it", () => {
    expect(rowsOf({ ...draft, createdAt: undefined }).version).toMatchObject({
      createdAt: stamp.at,
      sortKey: sortKey(instant)
    })
  })
})

/** Ports that record what a flush writes, and call back after each write. */
const recording = (
  wrote: (rows: { readonly facts: number; readonly versions: number }) => void = () => undefined
) => {
  const facts: Array<string> = []
  const bodies: Array<string> = []
  const head = { seq: 1, at: stamp.at, projectionOffset: 7, audit: { seq: 0, hash: "" } }
  const ports = {
    feed: { take: () => Effect.succeed(head), append: () => Effect.void },
    factLog: {
      append: (rows: ReadonlyArray<FactRow>) =>
        // The store answers only after other fibers have had their turns.
        Effect.map(Effect.repeat(Effect.yieldNow, { times: 10 }), () => {
          facts.push(...rows.map(({ fact }) => fact))
          wrote({ facts: rows.length, versions: 0 })
        })
    },
    documents: {
      put: (rows: ReadonlyArray<VersionRow>) =>
        Effect.sync(() => {
          bodies.push(...rows.map(({ body }) => body))
          wrote({ facts: 0, versions: rows.length })
        })
    },
    queue: { enqueue: () => Effect.void },
    outbox: { owed: () => Effect.succeed({ drafts: [], items: [], webhooks: "same" }) },
    kinds: new Map(),
    waiting: new Map()
  }
  return { ports: ports as unknown as Flush.Ports, facts, bodies }
}

describe("a flush of more drafts than one call of a port takes", () => {
  it("encodes each once, and none before most of those ahead of it are written", async () => {
    const count = 3_500
    let encoded = 0
    let written = 0
    let ahead = 0
    const work = UnitOfWork.make()
    for (let n = 0; n < count; n++) {
      const record = watched(`body-${n}`, () => {
        encoded += 1
        ahead = Math.max(ahead, encoded - written)
      })
      work.drafts.push({ ...draft, recordId: `t-${n}`, record, fact: { fact: `fact-${n}` } })
    }
    const { ports, facts, bodies } = recording(({ versions }) => {
      written += versions
    })
    await Effect.runPromise(Flush.flush(ports)(work))
    expect(facts).toEqual(Array.from({ length: count }, (_, n) => factText(n)))
    expect(bodies).toEqual(Array.from({ length: count }, (_, n) => bodyText(n)))
    expect(encoded).toBe(count)
    expect(ahead).toBeLessThanOrEqual(1_000)
  })

  it("encodes a batch while the facts of the one before it are written", async () => {
    const order: Array<string> = []
    const work = UnitOfWork.make()
    for (let n = 0; n < 1_500; n++) {
      const record = watched("", () => {
        if (n % 500 === 0) order.push(`encodes ${n}`)
      })
      work.drafts.push({ ...draft, recordId: `t-${n}`, record })
    }
    const { ports } = recording(({ facts }) => {
      if (facts > 0) order.push("wrote facts")
    })
    await Effect.runPromise(Flush.flush(ports)(work))
    expect(order).toEqual([
      "encodes 0",
      "encodes 500",
      "wrote facts",
      "encodes 1000",
      "wrote facts",
      "wrote facts"
    ])
  })

  it("encodes of a replaced draft the fact alone, in every batch", async () => {
    const count = 1_200
    const work = UnitOfWork.make()
    for (let version = 1; version <= count; version++) {
      const isLast = version === count
      work.drafts.push({
        ...draft,
        version,
        offset: 7,
        fact: { fact: `fact-${version}` },
        record: watched(`body-${version}`, () => {
          if (!isLast && version % 500 !== 0) expect.fail(`the version ${version} is not stored`)
        })
      })
    }
    const { ports, facts, bodies } = recording()
    await Effect.runPromise(Flush.flush(ports)(work))
    expect(facts).toEqual(Array.from({ length: count }, (_, n) => factText(n + 1)))
    expect(bodies).toEqual([bodyText(count)])
  })
})

describe("the stored versions of a record that a transaction moves several times", () => {
  const id = draft.recordId
  const at = (version: number, offset: number | undefined, recordId = id) => ({
    ...draft,
    recordId,
    version,
    offset
  })
  const stored = (drafts: ReadonlyArray<UnitOfWork.Draft>) =>
    [...Flush.closedBy(drafts, stamp)].map(([{ recordId, version }, closes]) => [
      recordId,
      version,
      closes
    ])

  it("are the last at each offset, and each closes the one stored before it", () => {
    expect(stored([at(1, 0), at(2, 0), at(3, 0)])).toEqual([[id, 3, 0]])
    expect(
      stored([at(4, 5), at(5, 5), at(6, 7), at(7, 7), at(8, undefined), at(9, stamp.nextOffset)])
    ).toEqual([
      [id, 5, 3],
      [id, 7, 5],
      [id, 9, 7]
    ])
    expect(stored([at(2, 0), at(9, 0, "other"), at(3, 0)])).toEqual([
      ["other", 9, 8],
      [id, 3, 1]
    ])
  })
})

describe("the offset of a fact", () => {
  const now = instant
  const request = { by: "request", requestId: "r" } as const
  const update = {
    by: "update",
    updateId: "u",
    offset: Offset.of(5),
    effectiveAt: opened
  } as const

  it("is 0 where no offset dates the record, else the act's, else the update's, else open", () => {
    expect(offsetOf("own", { cause: update, now })).toBe(0)
    for (const keptBy of ["ledger", "engine"] as const) {
      expect(offsetOf(keptBy, { cause: update, now, offset: Offset.of(4) })).toBe(4)
      expect(offsetOf(keptBy, { cause: update, now })).toBe(5)
      expect(offsetOf(keptBy, { cause: request, now })).toBeUndefined()
    }
  })
})

describe("journal events", () => {
  const sources = fc.array(fc.constantFrom<string | null>("a", "b", "c", null), { maxLength: 12 })

  it("are published once for each source, in order, and control events always", () => {
    fc.assert(
      fc.property(sources, fc.subarray(["a", "b", "c"]), (sourceList, published) => {
        const all = sourceList.map((source) => (source === null ? announcement : journal(source)))
        expect(Flush.withoutSources(all, published)).toEqual(
          all.filter(
            ({ journal }, index) =>
              journal === undefined ||
              (!published.includes(journal.source) && sourceList.indexOf(journal.source) === index)
          )
        )
      })
    )
  })
})

describe("the row of an event", () => {
  const head = {
    seq: 1,
    at: stamp.at,
    moves: 0,
    projectionOffset: 7,
    ledgerEpoch: 1,
    webhooksMoved: 0,
    prunedTo: 0,
    journalPrunedTo: 0,
    restores: [],
    audit: { seq: 0, hash: "", checkpoint: 0 }
  }

  it("of a control event has the stamp, and no offset", () => {
    expect(Flush.eventRow(announcement, head, 2)).toMatchObject({
      seq: 2,
      kind: "control",
      at: stamp.at,
      offset: null,
      source: null
    })
  })

  it("of a journal event has the time, offset and source of its update", () => {
    expect(Flush.eventRow(journal("a"), head, 2)).toMatchObject({
      kind: "journal",
      at: Instant.sortable(opened),
      offset: 5,
      source: "a"
    })
  })
})
