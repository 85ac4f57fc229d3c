/** Causes for which a distribution line waits: every row of their table, and the cure of each. */
import { describe, expect, it } from "vitest"
import type { LineCause } from "#core/distributions/distribution/DistributionLine.ts"
import { causesOf, type Subject } from "#core/distributions/distribution/LineCauseRules.ts"
import * as Instant from "#core/kernel/Instant.ts"
import type { Attribute } from "#core/holders/attribute/Attribute.ts"
import { RestrictionMode, RestrictionReason } from "#core/vocabulary/sets.ts"

const now = Instant.of("2026-08-03T09:00:00Z")
const past = Instant.of("2026-01-01T00:00:00Z")

const attribute = (changes: Partial<Attribute> = {}): Attribute => ({
  name: "kyc",
  value: "passed",
  state: "valid",
  validFrom: past,
  validUntil: null,
  evidenceHash: "ab".repeat(32),
  setBy: "olga",
  ...changes
})

type Holder = NonNullable<Subject["holder"]>
const holder = (changes: Partial<Holder> = {}): Holder => ({
  holderId: "h1" as Holder["holderId"],
  state: "active",
  attributes: [attribute()],
  screening: null,
  ...changes
})

const restriction = (
  mode: Subject["restrictions"][number]["mode"],
  reason: Subject["restrictions"][number]["reason"],
  instrumentId: string | null = null
): Subject["restrictions"][number] => ({
  restrictionId: "r1",
  holderId: "h1",
  instrumentId,
  mode,
  reason
})

const subject = (changes: Partial<Subject> = {}): Subject => ({
  instrumentId: "fund-a",
  payout: "cash",
  holder: holder(),
  restrictions: [],
  admission: { state: "admitted" },
  required: [{ property: "kyc", value: "" }],
  now,
  ...changes
})

const receiving = restriction("receive-only", "kyc-expired")
const expired = attribute({ state: "expired", validUntil: past })
const revoked = attribute({ state: "revoked" })
const screened = (state: NonNullable<Holder["screening"]>["state"]) =>
  holder({ screening: { state } as Holder["screening"] })

describe("a line waits", () => {
  it.each<readonly [string, Partial<Subject>, ReadonlyArray<LineCause>]>([
    ["for nothing", {}, []],
    ["for a freeze", { restrictions: [restriction("freeze", "pledge")] }, ["restriction"]],
    [
      "for a court's freeze",
      { restrictions: [restriction("freeze", "court-order")] },
      ["court-order"]
    ],
    [
      "for a freeze and a court's",
      { restrictions: [restriction("freeze", "pledge"), restriction("freeze", "court-order")] },
      ["restriction", "court-order"]
    ],
    [
      "for no freeze of another instrument",
      { restrictions: [restriction("freeze", "pledge", "fund-b")] },
      []
    ],
    ["for no receive-only, of cash", { restrictions: [restriction("receive-only", "pledge")] }, []],
    [
      "for no receive-only, of units",
      { payout: "units", restrictions: [restriction("receive-only", "pledge")] },
      []
    ],
    ["for no redeem-only, of cash", { restrictions: [restriction("redeem-only", "pledge")] }, []],
    [
      "for redeem-only, of units",
      { payout: "units", restrictions: [restriction("redeem-only", "pledge")] },
      ["restriction"]
    ],
    ["for a registration that lapsed", { holder: holder({ state: "lapsed" }) }, ["registration"]],
    [
      "for no lapsed registration under receive-only for expired evidence",
      { holder: holder({ state: "lapsed" }), restrictions: [receiving] },
      []
    ],
    [
      "for a lapsed registration under receive-only for another reason",
      {
        holder: holder({ state: "lapsed" }),
        restrictions: [restriction("receive-only", "pledge")]
      },
      ["registration"]
    ],
    [
      "for a lapsed registration under receive-only of another instrument",
      {
        holder: holder({ state: "lapsed" }),
        restrictions: [restriction("receive-only", "kyc-expired", "fund-b")]
      },
      ["registration"]
    ],
    [
      "for a registration nobody accepted",
      { holder: holder({ state: "pending" }), restrictions: [receiving] },
      ["registration"]
    ],
    ["for an admission that ran out", { admission: { state: "expired" } }, ["admission"]],
    [
      "for no admission that ran out under receive-only for expired evidence",
      { admission: { state: "expired" }, restrictions: [receiving] },
      []
    ],
    [
      "for no admission that is offered anew under receive-only for expired evidence",
      { admission: { state: "offered" }, restrictions: [receiving] },
      []
    ],
    [
      "for a revoked admission",
      { admission: { state: "revoked" }, restrictions: [receiving] },
      ["admission"]
    ],
    [
      "for an admission that there never was",
      { admission: null, restrictions: [receiving] },
      ["admission"]
    ],
    ["for an attribute that ran out", { holder: holder({ attributes: [expired] }) }, ["attribute"]],
    [
      "for an attribute past its end before the clock's notice",
      { holder: holder({ attributes: [attribute({ validUntil: now })] }) },
      ["attribute"]
    ],
    [
      "for no expired attribute under receive-only for expired evidence",
      { holder: holder({ attributes: [expired] }), restrictions: [receiving] },
      []
    ],
    [
      "for a revoked attribute",
      { holder: holder({ attributes: [revoked] }), restrictions: [receiving] },
      ["attribute"]
    ],
    [
      "for a required attribute that was only stated",
      { holder: holder({ attributes: [attribute({ state: "pending" })] }) },
      ["attribute"]
    ],
    [
      "for a required attribute that the holder never had",
      { required: [{ property: "accredited", value: "" }], restrictions: [receiving] },
      ["attribute"]
    ],
    [
      "for no attribute that the instrument does not require",
      {
        required: [{ property: "kyc", value: "passed" }],
        holder: holder({
          attributes: [attribute(), attribute({ name: "qualified", state: "revoked" })]
        })
      },
      []
    ],
    [
      "for no attribute that ran out or was revoked, where the instrument requires none",
      {
        required: [],
        holder: holder({
          attributes: [expired, attribute({ name: "tax-rate", value: "0.15", state: "revoked" })]
        })
      },
      []
    ],
    ["for a possible hit", { holder: screened("review") }, ["screening"]],
    ["for a confirmed hit", { holder: screened("match") }, ["screening"]],
    ["for no screening that is asked or stale", { holder: screened("stale") }, []],
    [
      "for a party that is no holder, and for nothing else",
      { holder: null, admission: null },
      ["no-holder"]
    ],
    [
      "for every cause at once, in the order of the table",
      {
        holder: holder({
          state: "lapsed",
          attributes: [revoked],
          screening: { state: "match" } as Holder["screening"]
        }),
        admission: { state: "revoked" },
        restrictions: [restriction("freeze", "court-order"), restriction("freeze", "sanctions")]
      },
      ["restriction", "court-order", "registration", "admission", "attribute", "screening"]
    ]
  ])("%s", (_, changes, causes) => {
    expect(causesOf(subject(changes))).toEqual(causes)
  })

  it("for a freeze whatever its reason, and for a court's order by its own name alone", () => {
    for (const reason of RestrictionReason.members) {
      const cause = reason === "court-order" ? "court-order" : "restriction"
      for (const payout of ["cash", "units"] as const) {
        expect(
          causesOf(subject({ payout, restrictions: [restriction("freeze", reason)] }))
        ).toEqual([cause])
      }
    }
  })

  it("never for fewer causes under one restriction more, but for receive-only for expired evidence", () => {
    for (const mode of RestrictionMode.members) {
      for (const reason of RestrictionReason.members) {
        if (mode === "receive-only" && reason === "kyc-expired") continue
        const before = subject({ holder: holder({ state: "lapsed" }) })
        const after = { ...before, restrictions: [restriction(mode, reason)] }
        expect(causesOf(after)).toEqual(expect.arrayContaining([...causesOf(before)]))
      }
    }
  })
})
