/** Cursors: no record twice, none missed, and none taken that the list did not issue (security test 13). */
import {
  Catalogue,
  Engine,
  Queries,
  Records,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Result } from "effect"
import * as fc from "fast-check"
import { createHash, createHmac } from "node:crypto"
import * as Cursor from "#core/reads/Cursor.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"
import * as Toys from "../engine/toys.ts"
import { ports, world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const engine = () => Effect.provide(world({ operations: Toys.toys, fromLedger: Notes.fromLedger }))
const auditor = ToyQueries.auditor

const set = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "request" as const, requestId: "r" }, now }
    yield* records.transact(
      Effect.forEach(ids, (id) => records.open(timers, timer(id, 1e12, 2e12), act), {
        discard: true
      })
    )
  })
const touch = (id: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    yield* records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        const self = yield* records.get(timers, id)
        const act = { cause: { by: "request" as const, requestId: "r" }, now }
        yield* records.append(timers, self, { on: "touch" }, act)
      })
    )
  })

const idOf = (index: number) => `t${String(index).padStart(5, "0")}`
const even = (count: number) => Array.from({ length: count }, (_, index) => idOf(index * 2))

const page = (
  options: {
    readonly list?: typeof ToyQueries.listTimers
    readonly caller?: typeof auditor
    readonly params?: { readonly state?: ReadonlyArray<string> }
    readonly point?: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }
    readonly limit?: number
    readonly after?: string
    readonly updatedFrom?: Instant.Instant
    readonly updatedTo?: Instant.Instant
  } = {}
) =>
  Effect.flatMap(Queries, (queries) =>
    queries.page(options.list ?? ToyQueries.listTimers, {
      caller: options.caller ?? auditor,
      params: options.params ?? {},
      point: options.point ?? {},
      page: {
        limit: options.limit ?? 2,
        ...(options.after === undefined ? {} : { after: options.after }),
        ...(options.updatedFrom === undefined ? {} : { updatedFrom: options.updatedFrom }),
        ...(options.updatedTo === undefined ? {} : { updatedTo: options.updatedTo })
      }
    })
  )

describe("the pages of a list", () => {
  for (const list of [ToyQueries.listTimers, ToyQueries.listTimersBack] as const) {
    for (const limit of [1, 7, 1_000]) {
      it.effect(
        `${list.name} by ${limit} are the pinned set while others insert and change`,
        () =>
          Effect.gen(function* () {
            const count = 3_000
            const before = even(count)
            for (let from = 0; from < count; from += 500) yield* set(before.slice(from, from + 500))
            const pagedIds: Array<string> = []
            const versions = new Set<number>()
            let after: string | undefined
            let pages = 0
            do {
              const answer = yield* page({ list, limit, ...(after === undefined ? {} : { after }) })
              pagedIds.push(...answer.value.map(({ id }) => id))
              for (const { version } of answer.value) versions.add(version)
              after = answer.next ?? undefined
              pages += 1
              // Others write before, at and behind the reader's place.
              if (pages % Math.ceil(300 / limit) === 0) {
                const odd = idOf(((pages * 137) % count) * 2 + 1)
                yield* Effect.exit(set([odd]))
                yield* Effect.exit(touch(idOf(((pages * 211) % count) * 2)))
              }
            } while (after !== undefined)
            const expected = list.direction === "asc" ? before : before.toReversed()
            assert.deepStrictEqual(pagedIds, expected)
            assert.deepStrictEqual([...versions], [1])
            assert.strictEqual(pages, Math.ceil(count / limit))
          }).pipe(engine()),
        60_000
      )
    }
  }

  it.effect("may change their size on the way", () =>
    Effect.gen(function* () {
      yield* set(even(20))
      const pagedIds: Array<string> = []
      let after: string | undefined
      for (const limit of [1, 5, 2, 9, 3]) {
        const answer = yield* page({ limit, ...(after === undefined ? {} : { after }) })
        pagedIds.push(...answer.value.map(({ id }) => id))
        after = answer.next ?? undefined
      }
      assert.deepStrictEqual(pagedIds, even(20))
      assert.isUndefined(after)
    }).pipe(engine())
  )

  it.effect(
    "by what changed: from is in, to is out, and a keeper that asks on misses nothing",
    () =>
      Effect.gen(function* () {
        yield* set(even(3))
        const mirror = new Map<string, number>()
        let from = Instant.fromNanos(0n)
        const keep = Effect.gen(function* () {
          const { value } = yield* page({ limit: 100, updatedFrom: from })
          for (const one of value) {
            mirror.set(one.id, one.version)
            if (one.updatedAt > from) from = one.updatedAt
          }
          return value
        })
        assert.strictEqual((yield* keep).length, 3)
        for (const id of [idOf(0), idOf(4), idOf(0)]) {
          yield* touch(id)
          const boundary = from
          const value = yield* keep
          // The boundary record comes again, and nothing older.
          assert.isTrue(value.every(({ updatedAt }) => updatedAt >= boundary))
        }
        assert.deepStrictEqual(
          [...mirror],
          [
            [idOf(0), 3],
            [idOf(2), 1],
            [idOf(4), 2]
          ]
        )
        const { value } = yield* page({ limit: 100, updatedTo: from })
        assert.isFalse(value.some(({ id }) => id === idOf(0)))
      }).pipe(engine())
  )
})

const refused = <A, E, R>(effect: Effect.Effect<A, E, R>, what: string) =>
  Effect.map(Effect.exit(Calls.slug(effect)), (exit) => {
    if (Exit.isFailure(exit)) throw new Error(`a defect: ${what}: ${String(exit.cause)}`)
    assert.strictEqual(exit.value, "invalid-request", what)
  })

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

describe("a cursor", () => {
  it.effect("with any byte flipped, cut short or made longer is refused", () =>
    Effect.gen(function* () {
      yield* set(even(5))
      const { next } = yield* page()
      if (next === null) return assert.fail("one page")
      const bytes = Buffer.from(next, "base64url")
      for (let at = 0; at < bytes.length; at++) {
        for (const bit of [0, 3, 7]) {
          const forged = Buffer.from(bytes)
          forged.writeUInt8(forged.readUInt8(at) ^ (1 << bit), at)
          yield* refused(page({ after: forged.toString("base64url") }), `byte ${at}`)
        }
        yield* refused(page({ after: bytes.subarray(0, at).toString("base64url") }), `cut at ${at}`)
      }
      // The last character carries bits that say nothing: another text of the same bytes is none.
      for (const last of base64url) {
        const other: string = next.slice(0, -1) + last
        if (other !== next) yield* refused(page({ after: other }), `ends in ${last}`)
      }
      for (const more of ["A", "=", " ", "\n", next]) {
        yield* refused(page({ after: next + more }), `with ${more}`)
      }
      assert.strictEqual((yield* page({ after: next })).value.length, 2)
    }).pipe(engine())
  )

  it.effect("of another list, filter, order, point, scope or range is refused", () =>
    Effect.gen(function* () {
      yield* set([...even(5), "h1-a", "h1-b", "h1-c", "h2-a", "h2-b", "h2-c"])
      yield* Calls.submit(Toys.single, Calls.person("olga", "operator"), {
        params: { counterId: "c" },
        body: '{"by":1}'
      })
      yield* Calls.settle
      const mine = { ...Calls.person("ines", "investor"), holderId: "h1" }
      const theirs = { ...Calls.person("ivan", "investor"), holderId: "h2" }
      const at = { at: 0 as Offset.Offset }
      const way = {
        plain: {},
        other: { list: ToyQueries.listCounters as unknown as typeof ToyQueries.listTimers },
        back: { list: ToyQueries.listTimersBack },
        filtered: { params: { state: ["set"] } },
        filteredMore: { params: { state: ["set", "rung"] } },
        at: { point: at },
        mine: { caller: mine },
        theirs: { caller: theirs },
        from: { updatedFrom: Instant.fromNanos(0n) },
        to: { updatedTo: Instant.fromNanos(10n ** 18n) }
      } as const
      const issued = new Map<string, string>()
      for (const [name, change] of Object.entries(way)) {
        const { next } = yield* page({ ...change, limit: 1 })
        if (next !== null) issued.set(name, next)
      }
      assert.sameMembers(
        [...issued.keys()],
        ["plain", "back", "filtered", "filteredMore", "mine", "theirs", "from", "to"]
      )
      for (const [by, after] of issued) {
        for (const [name, change] of Object.entries(way)) {
          const nextPage = page({ ...change, limit: 1, after })
          if (by === name) assert.strictEqual((yield* nextPage).value.length, 1)
          else yield* refused(nextPage, `${by} on ${name}`)
        }
      }
    }).pipe(engine())
  )

  it.effect(
    "holds on every instance with the key, outlives its rotation, and not its removal",
    () =>
      Effect.gen(function* () {
        const key = (id: number) => ({ id, secret: new Uint8Array(32).fill(id) })
        const instance = (...cursorKeys: ReadonlyArray<Cursor.CursorKey>) =>
          Layer.build(
            Layer.fresh(
              Engine.layerOf({ operations: [], fromLedger: [] }).pipe(
                Layer.provide(Layer.succeed(Settings, { ...settingsDefaults, cursorKeys }))
              )
            )
          )
        const first = yield* instance(key(1))
        const second = yield* instance(key(1))
        const rotated = yield* instance(key(2), key(1))
        const removed = yield* instance(key(2))
        const swapped = yield* instance({ id: 1, secret: new Uint8Array(32).fill(9) })
        const keyless = yield* instance()
        yield* Effect.provide(set(even(5)), first)
        const { next } = yield* Effect.provide(page(), first)
        if (next === null) return assert.fail("one page")
        for (const one of [first, second, rotated]) {
          assert.strictEqual((yield* Effect.provide(page({ after: next }), one)).value.length, 2)
        }
        for (const one of [removed, swapped, keyless]) {
          yield* refused(Effect.provide(page({ after: next }), one), "without the key")
        }
        const { next: newer } = yield* Effect.provide(page(), rotated)
        yield* refused(Effect.provide(page({ after: newer ?? "" }), second), "a newer key")
        assert.strictEqual(
          (yield* Effect.provide(page({ after: newer ?? "" }), removed)).value.length,
          2
        )
      }).pipe(Effect.provide(ports()))
  )

  it.effect("that is any other text is refused, never a defect", () =>
    Effect.gen(function* () {
      yield* set(even(5))
      const services = yield* Effect.context<Queries>()
      const texts = fc.oneof(
        fc.string({ maxLength: 600 }),
        fc.string({ unit: "binary", maxLength: 600 }),
        fc.string({ unit: fc.constantFrom(...base64url), maxLength: 600 }),
        fc
          .uint8Array({ maxLength: 300 })
          .map((bytes) => Buffer.concat([Buffer.from([1, 0]), bytes]).toString("base64url")),
        fc.json().map((text) => Buffer.from(text).toString("base64url"))
      )
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(texts, (after) =>
            Effect.runPromise(Effect.provide(refused(page({ after }), after), services))
          ),
          { numRuns: runsOf(10_000) }
        )
      )
      yield* refused(page({ after: "A".repeat(10_240) }), "ten kilobytes")
    }).pipe(engine())
  )

  it.effect("says exactly what was put into it", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const cursors = Cursor.make(crypto, [{ id: 0, secret: new Uint8Array(32) }])
      const going = fc.record({
        offset: fc.maxSafeNat().map((offset) => offset as Offset.Offset),
        keys: fc.array(fc.string({ maxLength: 40 }), { maxLength: 5 })
      })
      fc.assert(
        fc.property(going, (given) => {
          const text = cursors.write({ list: "l", binding: "b", ...given })
          const count = given.keys.length
          const read = cursors.read({ list: "l", binding: "b", count, text })
          assert.deepStrictEqual(Result.getOrThrow(read), given)
          const other = cursors.read({ list: "l", binding: "b", count: count + 1, text })
          assert.strictEqual(other._tag, "Failure")
        })
      )
    }).pipe(Effect.provide(ports()))
  )

  it.effect("of more than 1,536 characters is neither written nor read, of 1,536 it is both", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const cursors = Cursor.make(crypto, [{ id: 0, secret: new Uint8Array(32) }])
      const position = { list: "l", binding: "b" }
      const written = (length: number) =>
        cursors.write({ ...position, offset: 0 as Offset.Offset, keys: ["x".repeat(length)] })
      // 44 bytes around a key of 1,108 are 1,152, which are 1,536 characters.
      const text = written(1_108)
      assert.strictEqual(text.length, 1_536)
      assert.strictEqual(cursors.read({ ...position, count: 1, text })._tag, "Success")
      assert.throws(() => written(1_109), "too long")
      // Longer than any list's is refused before a byte of it is decoded or verified.
      const counted = { ...crypto, equal: () => assert.fail("a long text was verified") }
      const long = Cursor.make(counted, [{ id: 0, secret: new Uint8Array(32) }])
      assert.strictEqual(long.read({ ...position, count: 1, text: `${text}AAAA` })._tag, "Failure")
    }).pipe(Effect.provide(ports()))
  )

  it.effect("has the bytes that docs/contract/pages-and-cursors.md#cursor-bytes lays out", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const secret = Buffer.from("00112233445566778899aabbccddeeff".repeat(2), "hex")
      const text = Cursor.make(crypto, [{ id: 7, secret }]).write({
        list: "instruments.list",
        binding: '{"filters":"order and scope"}',
        offset: 258 as Offset.Offset,
        keys: ["", "inst-1", "é"]
      })
      const sized = (bytes: Uint8Array) =>
        Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
      const digest = createHash("sha256").update('{"filters":"order and scope"}').digest()
      const head = Buffer.concat([
        Buffer.from([0x01, 7]),
        ...["instruments.list"].map((field) => sized(Buffer.from(field))),
        sized(digest.subarray(0, 16)),
        ...["258", "", "inst-1", "é"].map((field) => sized(Buffer.from(field)))
      ])
      const mac = createHmac("sha256", secret).update(head).digest().subarray(0, 16)
      assert.strictEqual(text, Buffer.concat([head, mac]).toString("base64url"))
    }).pipe(Effect.provide(ports()))
  )

  it.effect("is made by no key that is short, out of range or named like another", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const key = (id: number, length = 32) => ({ id, secret: new Uint8Array(length) })
      for (const bad of [key(-1), key(256), key(1.5), key(0, 31)]) {
        assert.throws(() => Cursor.make(crypto, [key(1), bad]))
      }
      assert.throws(() => Cursor.make(crypto, [key(1), key(1)]))
      Cursor.make(crypto, [key(0), key(255)])
    }).pipe(Effect.provide(ports()))
  )

  it.effect("of the longest sort key that a list can have still fits into a cursor", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const cursors = Cursor.make(crypto, [{ id: 0, secret: new Uint8Array(32) }])
      const instant = Instant.of("9999-12-31T23:59:59.999999999Z")
      const party = `${"h".repeat(185)}::${"f".repeat(68)}`
      assert.isTrue(Party.isParty(party))
      const n = Offset.sortable(Offset.of(Number.MAX_SAFE_INTEGER))
      const longest = Catalogue.queries
        .map(({ name }) => name)
        .toSorted((a, b) => b.length - a.length)
      const text = cursors.write({
        list: longest[0] ?? "",
        binding: "",
        ...Cursor.goingOn({
          offset: Number.MAX_SAFE_INTEGER as Offset.Offset,
          ledgerEpoch: 99,
          select: "snapshot",
          instant,
          ledgerTime: instant,
          judgedAt: instant,
          // Of a movement as its party sees it: offset, number, registrar and instrument, party.
          sortKey: [n, n, `${party}/${"i".repeat(128)}`, party].join(":")
        })
      })
      assert.isAtMost(text.length, Cursor.textMax)
    }).pipe(Effect.provide(ports()))
  )
})
