/** An action's view says which members of a record its write replaces: of every kind, and of no other. */
import { Catalogue, Records } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Layer, Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { changesOf } from "#core/holders/attribute/AttributeChanges.ts"
import type { Change } from "#core/holders/attribute/AttributeRules.ts"
import { OperationKind } from "#core/vocabulary/OperationKind.ts"
import { requestedBy } from "#core/writes/ChangeLookups.ts"
import type { AnyOperation, Operation } from "#core/writes/Operation.ts"
import * as Operations from "#core/writes/Operations.ts"
import * as Request from "#core/writes/Request.ts"
import { unordered } from "#core/writes/TermChange.ts"
import { assetTerms } from "../rules/broken-amendments.ts"
import { seed } from "../seeds.ts"
import { inputsOf } from "./inputs.ts"

const declared: ReadonlyArray<AnyOperation> = [
  ...new Map(
    [...Catalogue.operations, ...Catalogue.timely.map(({ operation }) => operation)].map(
      (operation) => [operation.kind, operation]
    )
  ).values()
]
const now = Instant.of("2026-08-01T12:00:00Z")
const evidenceHash = "ee".repeat(32)

/** Kinds that replace a member of a record that is there. */
const replacing: ReadonlySet<string> = new Set([
  "policy.set",
  "holder.set-attributes",
  "holder.register-successor",
  "amendment.propose"
])

/** Changes of an action's view, where every record that is looked for is this one. */
const shown = (
  kind: OperationKind,
  request: PlainJson.Plain,
  {
    record,
    state = "awaiting"
  }: { readonly record?: object; readonly state?: "awaiting" | "approved" }
) =>
  Effect.runSync(
    requestedBy({ kind, request, state }, { now }).pipe(
      Effect.provide(
        Layer.merge(
          Operations.layer(declared),
          Layer.succeed(Records, {
            find: () => Effect.succeed(Option.fromNullishOr(record))
          } as unknown as Records["Service"])
        )
      )
    )
  )

const json = (value: object) => PlainJson.parseTrusted(JSON.stringify(value))
const attribute = { value: "passed", validFrom: null, validUntil: null, evidenceHash }

describe("the changes of an action", () => {
  it.each(OperationKind.members)("of %s are declared where it replaces a member", (kind) => {
    const operation = declared.find((each) => each.kind === kind) as AnyOperation
    expect(operation.changes !== undefined).toBe(replacing.has(kind))
    if (operation.changes === undefined) {
      expect(shown(kind, json({}), {})).toEqual([])
      return
    }
    // The stored request of a kind with secrets is not its input.
    expect(operation.secrets).toBeUndefined()
    for (const input of inputsOf(operation as Operation)) {
      const request = Request.encode(
        operation,
        operation.complete?.(input, () => "made-1") ?? input
      )
      expect(shown(kind, request, {})).toEqual([])
    }
  })

  const proposing = (minCover: number) =>
    json({
      reserveId: "r1",
      amendmentId: "a1",
      terms: {
        minCover,
        assets: [
          {
            asset: assetTerms("USD").asset,
            priceSource: null,
            freshness: null,
            haircut: 0,
            maxShare: null
          }
        ]
      }
    })
  const holder = { attributes: [], validUntil: null, successor: null }
  const party = assetTerms("USD").asset.admin
  const naming = json({ holderId: "h1", party, successorId: "h2" })

  it("are those of the request against the record now, and none once it awaits nobody", () => {
    const stored = Request.decode(
      declared.find(({ kind }) => kind === "amendment.propose") as AnyOperation,
      proposing(1)
    ) as { readonly terms: object }
    const record = { terms: stored.terms, pending: null, amendmentId: null }
    const loosened = [{ path: "/minCover", from: "1", to: "0.9", direction: "loosen" }]
    expect(shown("amendment.propose", proposing(0.9), { record })).toEqual(loosened)
    expect(shown("amendment.propose", proposing(1), { record })).toEqual([])
    expect(shown("amendment.propose", proposing(0.9), { record, state: "approved" })).toEqual([])
  })

  it("name the successor that an ended one gives way to, and a first one as a whole", () => {
    expect(shown("holder.register-successor", naming, { record: holder })).toEqual([
      { path: "/successor", from: null, to: { party }, direction: null }
    ])
    const record = { ...holder, successor: { party: "earlier::12" } }
    expect(shown("holder.register-successor", naming, { record })).toEqual([
      { path: "/successor/party", from: "earlier::12", to: party, direction: null }
    ])
  })

  const before = Instant.of("2026-01-01T00:00:00Z")
  const ofHolder = (state: "pending" | "valid" | "rejected", value = "passed") => ({
    ...attribute,
    name: "kyc",
    value,
    state,
    validFrom: before,
    setBy: "olga"
  })
  const since = "2026-01-01T00:00:00.000000Z"
  const whole = { ...attribute, state: "pending", validFrom: since }
  const rows: ReadonlyArray<
    readonly [string, ReadonlyArray<ReturnType<typeof ofHolder>>, Partial<Change>, object]
  > = [
    [
      "a new one",
      [],
      { state: "valid" },
      { "/verified": [null, { ...whole, state: "valid", validFrom: null }] }
    ],
    [
      "a statement beside the verified value",
      [ofHolder("valid")],
      { state: "pending", value: "again" },
      { "/stated": [null, { ...whole, value: "again", validFrom: null }] }
    ],
    [
      "a verified statement",
      [ofHolder("pending")],
      { state: "valid" },
      { "/verified": [null, { ...whole, state: "valid" }], "/stated": [whole, null] }
    ],
    [
      "a revoked value",
      [ofHolder("valid")],
      { state: "revoked" },
      { "/verified/state": ["valid", "revoked"] }
    ],
    [
      "a rejected statement",
      [ofHolder("valid"), ofHolder("pending", "b")],
      { state: "rejected", value: "b" },
      { "/stated/state": ["pending", "rejected"] }
    ]
  ]
  it.each(rows)("of attributes show %s", (_, attributes, members, expected) => {
    const change = { ...attribute, name: "kyc", state: "valid" as const, ...members }
    const made = changesOf(
      { attributes, validUntil: null },
      { attributes: [change], validUntil: null },
      now
    )
    const found = Object.fromEntries(
      made.map(({ from, path, to }) => [path.replace("/attributes/kyc", ""), [from, to]])
    )
    expect(found).toEqual(expected)
    expect(made.every(({ direction }) => direction === null)).toBe(true)
  })

  it("of attributes show a moved end of the registration alone where nothing else differs", () => {
    const attributes = [ofHolder("valid")]
    const request = { attributes: [ofHolder("valid")], validUntil: now }
    expect(changesOf({ attributes, validUntil: null }, request, now)).toEqual([
      { path: "/validUntil", from: null, to: "2026-08-01T12:00:00.000000Z", direction: null }
    ])
  })

  it("are none between equal values, and lead from one value to the other", () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(value, value, (a, b) => {
        const from = PlainJson.parseTrusted(JSON.stringify(a))
        const to = PlainJson.parseTrusted(JSON.stringify(b))
        expect(unordered({ from, to: from })).toEqual([])
        const changed = unordered({ from, to })
        expect(changed.length === 0).toBe(PlainJson.canonical(from) === PlainJson.canonical(to))
        for (const each of changed) {
          expect(PlainJson.canonical(each.from)).not.toBe(PlainJson.canonical(each.to))
        }
      }),
      { seed, numRuns: 50 }
    )
  })
})
