/** A write concerns the instrument and the holders of the record that it acts on or makes, and nobody else. */
import { Catalogue, Records } from "@bursar/engine-core"
import { Effect, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Concern from "#core/writes/Concern.ts"
import * as Concerns from "#core/writes/ConcernLookups.ts"
import type { AnyOperation } from "#core/writes/Operation.ts"

const declared: ReadonlyArray<AnyOperation> = [
  ...Catalogue.operations,
  ...Catalogue.timely.map(({ operation }) => operation)
]
const all = [...new Map(declared.map((operation) => [operation.kind, operation])).values()]

/** Members by which the inputs of writes name records, each with a value of its own. */
const input = {
  ...Object.fromEntries(
    [
      "instrumentId",
      "holderId",
      "subscriptionId",
      "redemptionId",
      "cycleId",
      "standingSettlementId",
      "distributionId",
      "standingApprovalId",
      "reserveId",
      "lockAgreementId",
      "amendmentId",
      "reportId",
      "mintId",
      "reserveRedemptionId",
      "restrictionId",
      "holdId",
      "externalAccountId",
      "webhookId"
    ].map((name) => [name, `the ${name}`])
  ),
  month: "2026-01",
  toHolderId: "receiver",
  successorId: "successor",
  holderIds: ["giver", "other giver"],
  entries: [{ holderId: "giver" }, { holderId: "other giver" }, { holderId: "giver" }],
  moves: [{ holderId: "giver", toHolderId: "receiver" }],
  funding: [{ party: "funder" }]
}

/** Records that exist: each states an instrument, a holder and parties named after itself. */
const recordOf = (collection: string, id: string) => ({
  instrumentId: `instrument of ${collection} ${id}`,
  holderId:
    collection === "holder-party"
      ? `holder ${id}`
      : collection === "holder"
        ? id
        : `holder of ${collection} ${id}`,
  parties: ["funder"],
  successor: { party: `successor of ${id}` }
})
const records = {
  find: (collection: { readonly name: string }, id: string) =>
    Effect.succeed(Option.some(recordOf(collection.name, id))),
  many: (collection: { readonly name: string }, ids: ReadonlyArray<string>) =>
    Effect.succeed(ids.map((id) => recordOf(collection.name, id)))
} as unknown as Records["Service"]

const concernsOf = (operation: AnyOperation) =>
  Effect.runSync(Effect.provideService(Concerns.of(operation, input), Records, records))

const found = (operation: AnyOperation) => {
  const concerned = concernsOf(operation)
  return [concerned.instrumentId, Concern.holderIdsOf(concerned).join()] as const
}

const named = { instrument: "the instrumentId", holder: "the holderId" }
const givers = "giver,other giver"

/** Whom each kind of write concerns; the name of a record stands for the instrument and holder it states. */
const expected: Readonly<Record<string, readonly [instrument: string | null, holders: string]>> = {
  ...Object.fromEntries(
    [
      ...["withdraw", "deliver", "settle", "release"].map((verb) => [`subscription.${verb}`, 2]),
      ...["withdraw", "settle", "release"].map((verb) => [`redemption.${verb}`, 2]),
      ...["settle", "release"].map((verb) => [`dealing-cycle.${verb}`, 1]),
      ...["cancel", "settle"].map((verb) => [`mint.${verb}`, 2]),
      ...["cancel", "settle"].map((verb) => [`reserve-redemption.${verb}`, 2]),
      ["distribution.roll", 1],
      ["distribution.instruct", 1],
      ["standing-approval.revoke", 1],
      ["reserve.close", 1],
      ["lock-agreement.release", 1],
      ["amendment.withdraw", 1],
      ["restriction.lift", 2],
      ["hold.release", 1]
    ].map(([kind, states]) => {
      const collection = String(kind).slice(0, String(kind).indexOf("."))
      const member = `the ${collection.replace(/^dealing-/u, "").replaceAll(/-(.)/gu, (_, letter: string) => letter.toUpperCase())}Id`
      return [
        kind,
        [
          `instrument of ${collection} ${member}`,
          states === 2 ? `holder of ${collection} ${member}` : ""
        ]
      ] as const
    })
  ),
  ...Object.fromEntries(
    ["lock-agreement.propose", "amendment.propose", "reserve-report.create"].map((kind) => [
      kind,
      ["instrument of reserve the reserveId", ""] as const
    ])
  ),
  ...Object.fromEntries(
    ["mint.start", "reserve-redemption.start"].map((kind) => [
      kind,
      ["instrument of reserve the reserveId", named.holder] as const
    ])
  ),
  ...Object.fromEntries(
    ["settle", "pause", "resume", "close"].map((verb) => [
      `standing-settlement.${verb}`,
      ["instrument of standing-settlement the standingSettlementId", "holder funder"] as const
    ])
  ),
  "standing-settlement.open": [named.instrument, "holder funder"],
  ...Object.fromEntries(
    [
      "instrument.record",
      "policy.set",
      "instrument.pause",
      "admission-consent.propose",
      "primary-market.propose",
      "provision-settlement.propose",
      "issuer-powers-agreement.propose",
      "dealing-cycle.open",
      "distribution.execute",
      "standing-approval.grant",
      "reserve.propose"
    ].map((kind) => [kind, [named.instrument, ""] as const])
  ),
  ...Object.fromEntries(
    [
      "holder.register",
      "holder.onboard",
      "holder.set-attributes",
      "holder.close",
      "accepted-terms.accept"
    ].map((kind) => [kind, [null, named.holder] as const])
  ),
  ...Object.fromEntries(
    [
      "admission.offer",
      "admission.withdraw",
      "subscription.claim",
      "redemption.claim",
      "issuer-powers-consent.offer",
      "external-account.map",
      "holder.restrict"
    ].map((kind) => [kind, [named.instrument, named.holder] as const])
  ),
  "holder.register-successor": [null, `${named.holder},successor`],
  "holder.restrict-batch": [null, givers],
  "holder.force-transfer": [null, `${named.holder},receiver`],
  "instrument.force-transfer": [named.instrument, "giver,receiver"],
  "holder.recover": [null, `${named.holder},holder successor of ${named.holder}`],
  "instrument.recover": [
    named.instrument,
    `${givers},holder successor of giver,holder successor of other giver`
  ],
  "webhook.register": [null, ""],
  "webhook.remove": [null, ""],
  "webhook.test": [null, ""]
}

describe("a write", () => {
  it.each(all.map((operation) => [operation.kind, operation] as const))(
    "%s concerns the instrument and the holders of its record, and nobody else",
    (kind, operation) => {
      expect(found(operation)).toEqual(expected[kind])
    }
  )

  it("of a record that does not exist concerns nobody", () => {
    const nowhere = {
      find: () => Effect.succeed(Option.none()),
      many: () => Effect.succeed([])
    } as unknown as Records["Service"]
    for (const operation of all.filter(({ route }) => route?.includes(":") === true)) {
      const { holderId, instrumentId } = Effect.runSync(
        Effect.provideService(Concerns.of(operation, input), Records, nowhere)
      )
      for (const id of [holderId, instrumentId]) expect(id ?? "the").toMatch(/^(?:the|giver)/u)
    }
  })
})
