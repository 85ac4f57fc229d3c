/**
 * Secrets that could be found by trying all, such as account numbers: no digest of one is stored or shown
 * that is not keyed, and a repeat of a call that has one stays a repeat.
 */
import {
  AuditQueries,
  Catalogue,
  Engine,
  Records,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { approvals } from "#core/writes/Approval.ts"
import * as Idempotency from "#core/writes/Idempotency.ts"
import type { Operation } from "#core/writes/Operation.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { ports } from "../engine/world.ts"
import * as Fund from "../operations/fund.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const keyOf = (keyId: string, fill: number) => ({ keyId, secret: new Uint8Array(32).fill(fill) })
const [first, second] = [keyOf("k1", 7), keyOf("k2", 8)]

const map = Catalogue.operations.find(({ kind }) => kind === "external-account.map")
if (map === undefined) throw new Error("no account is mapped")
/** The write as it was before its secret was declared as guessable. */
const unkeyed: Operation = { ...map, secrets: { number: "digest" } }

const number = "CH93 0076 2011 6238 5295 7"
const body = { externalAccountId: "a1", kind: "cash", instrumentId: "fund-a", number }
const [olga, ann] = [Calls.operator, Calls.person("ann", "approver")]
const maps = (
  caller = olga,
  call: { readonly key?: string; readonly number?: string; readonly by?: Operation } = {}
) =>
  Calls.submit(call.by ?? map, caller, {
    params: {},
    body: JSON.stringify({ ...body, number: call.number ?? number }),
    key: call.key ?? null
  })

type Keys = ReadonlyArray<typeof first>

/** A fund, and engines over its store, each with sealing keys of its own. */
const founded = Effect.gen(function* () {
  const shared = yield* Layer.build(ports())
  const under = (sealingKeys: Keys) =>
    Effect.provide(
      Engine.layer.pipe(
        Layer.provideMerge(Layer.succeed(Settings, { ...settingsDefaults, sealingKeys })),
        Layer.provideMerge(Layer.succeedContext(shared))
      )
    )
  yield* Fund.opened().pipe(under([first]))
  return under
})

/** Everything that is stored and shown of the writes, as one text, and the fingerprints. */
const storedTexts = Effect.gen(function* () {
  const records = yield* Records
  const actions = yield* records.list(approvals, { limit: 100 })
  const writes = yield* records.list(operations, { limit: 100 })
  const log = yield* AuditQueries.AuditQueries
  const { value } = yield* log.page({
    caller: Calls.person("aida", "auditor"),
    params: {},
    limit: 1_000
  })
  const mapping = actions.filter(({ record }) => record.kind === "external-account.map")
  return {
    text: JSON.stringify([actions, writes, value], (_, each: unknown) =>
      typeof each === "bigint" ? String(each) : each
    ),
    fingerprints: mapping.map(({ record }) => record.fingerprint),
    masks: mapping.map(({ record }) => (record.request as { readonly number: string }).number)
  }
})

const fingerprintText = Idempotency.fingerprintText({
  method: "POST",
  path: "/v1/external-accounts",
  query: "",
  body
})

describe("an account number in a request", () => {
  it.effect("is stored and shown by no digest that trying all numbers leads to", () =>
    Effect.gen(function* () {
      const under = yield* founded
      const { fingerprints, masks, text } = yield* Effect.gen(function* () {
        const made = yield* maps()
        yield* Calls.approve(String(Calls.field(made, "actionKey")), ann)
        yield* Calls.settle
        return yield* storedTexts
      }).pipe(under([first]))
      assert.deepEqual(masks, ["****2957"])
      for (const digest of [sha256(number), sha256(number.replaceAll(" ", ""))]) {
        assert.notInclude(text, digest.slice(0, 8))
      }
      assert.notInclude(text, sha256(fingerprintText))
      assert.match(fingerprints[0] ?? "", /^[0-9a-f]{64}$/)
      assert.match(text, new RegExp(`bodyHash[\\\\":]+${fingerprints[0]}`))
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["under an earlier sealing key", map, [second, first]],
    ["before fingerprints were keyed", unkeyed, [first]]
  ] as const)("is the same call again that was stored %s", ([, by, keys]) =>
    Effect.gen(function* () {
      const under = yield* founded
      const made = yield* maps(olga, { key: "k", by }).pipe(under([first]))
      const again = yield* maps(olga, { key: "k" }).pipe(under(keys))
      assert.strictEqual(again.status, 200)
      assert.strictEqual(Calls.field(again, "actionKey"), Calls.field(made, "actionKey"))
      const other = maps(olga, { key: "k", number: "CH56 0483 5012 3456 7800 9" })
      assert.strictEqual(yield* Calls.slug(other).pipe(under(keys)), "idempotency-key-reused")
      // An approver's equal call without a key approves it.
      const signed = yield* maps(ann).pipe(under(keys))
      assert.strictEqual(Calls.field(signed, "kind"), "external-account.map")
      assert.strictEqual(Calls.field(signed, "state"), "queued")
      const { fingerprints } = yield* storedTexts.pipe(under(keys))
      assert.lengthOf(fingerprints, 1)
      assert.strictEqual(fingerprints[0] === sha256(fingerprintText), by === unkeyed)
    }).pipe(Effect.scoped)
  )
})
