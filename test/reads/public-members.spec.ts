/**
 * Members of stored records that the API shows. `/v1` can only grow, so a new stored member is red
 * here until its view lists it, or the table withholds it with a reason.
 */
import { readFileSync } from "node:fs"
import { Catalogue } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"

interface Decision {
  /** The views of the record, by their names in the document; the first shows most. */
  readonly views: readonly [string, ...ReadonlyArray<string>]
  /** Members that no view shows, by the reason why. */
  readonly withheld: Readonly<Record<string, ReadonlyArray<string>>>
}

/**
 * Reason: a party that acts on the ledger reads the contract there; the engine needs its id for the
 * next step.
 */
const contract = "a contract of the ledger that only the next step needs"
const terms = "terms of the day it was claimed; the policy version that is shown names them"
const instrument = "a member of its instrument"
const dates = "createdAt or updatedAt says it; the clock ends it at a date that is shown"
const search = "only finds or sorts the record"
const secret = "a secret, sealed"
const signed = "waitingOn names those who have not signed yet"

const ofDistribution: Decision = {
  views: ["DistributionView"],
  withheld: {
    [instrument]: ["registrar", "currency", "unitDecimals"],
    "the events of its opening count them": ["unrolled"],
    "the payment date in the zone begins then": ["payableFrom"]
  }
}

const decided: Readonly<Record<string, Decision>> = {
  operation: {
    views: ["WriteAnswer"],
    withheld: {
      [search]: ["instrumentId", "holderId", "holderIds"],
      [secret]: ["sealed"],
      "is shown as the request": ["given"],
      "stands in the place of the problem for those who may not learn it": ["problemInstead"],
      "in place of the result to investors and apps": ["resultInstead"],
      "the audit log has it": ["requestId", "traceId", "traceFlags"],
      "the ledger step is the engine's own": ["step"],
      "what its first judgement rested on": ["ledgerEnd"]
    }
  },
  approval: {
    views: ["Approval"],
    withheld: {
      [search]: ["instrumentId", "holderId", "holderIds"],
      [secret]: ["sealed"],
      "is shown as the request": ["given"],
      "a person's address, not asked for": ["makerEmail"],
      "keys are their callers' own": ["key", "rejectedKey"],
      "the audit log has it": ["requestId", "traceId", "traceFlags"],
      "what its first judgement rested on": ["ledgerEnd"]
    }
  },
  webhook: {
    views: ["Webhook"],
    withheld: { [secret]: ["sealed"], "a removed webhook is shown nowhere": ["removedAt"] }
  },
  instrument: {
    views: ["InstrumentView"],
    withheld: {
      "shown term by term": ["manifest"],
      "shown as onRegistry": ["configurations"],
      "the list of policy versions shows them": ["termsSince", "next"],
      "the list of reserves names it": ["backedBy"]
    }
  },
  "policy-version": { views: ["PolicyVersion"], withheld: { "shown as body": ["manifest"] } },
  "price-point": { views: ["PriceView"], withheld: { [search]: ["nodeId"] } },
  movement: {
    views: ["MovementView"],
    withheld: {
      [instrument]: ["registrar"],
      [search]: ["ledgerTime"],
      "the series of holders counts them": ["holdersAfter"],
      "admission-effect judges by it": ["restricted"]
    }
  },
  "party-movement": {
    views: ["MovementView"],
    withheld: {
      [instrument]: ["registrar"],
      [search]: ["ledgerTime"],
      "the holder whose movements are listed": ["party"],
      "admission-effect judges by it": ["restricted"]
    }
  },
  holder: {
    views: ["HolderView"],
    withheld: {
      [contract]: ["invitationCid", "registrationCid", "signedTermsCid"],
      [dates]: ["endedAt"],
      "its terms and its state say it": ["acceptedAt"],
      "the clock begins its attributes after it": ["attributesFrom"],
      "what the holder itself may know of its version": ["told"]
    }
  },
  reserve: {
    views: ["ReserveView"],
    withheld: {
      [contract]: ["proposalCid", "reserveCid"],
      [dates]: ["proposedAt", "activatedAt", "endedAt"],
      [instrument]: ["issuer"],
      [search]: ["offset"],
      "shown as sharePrice": ["parValue"],
      "shown as terms": ["openedWith"],
      "shown with the assets": ["locked"],
      "the list of amendments shows it": ["amendmentId"]
    }
  },
  "lock-agreement": {
    views: ["LockAgreementView"],
    withheld: {
      [contract]: ["proposalCid", "agreementCid"],
      [dates]: ["proposedAt", "activatedAt", "endedAt"],
      [search]: ["offset"],
      "members of its reserve": ["instrumentId", "issuer"]
    }
  },
  "external-account": { views: ["ExternalAccount"], withheld: { [secret]: ["sealed"] } },
  admission: {
    views: ["AdmissionView"],
    withheld: {
      "a member of its holder": ["party"],
      [instrument]: ["registrar"],
      [search]: ["offset"],
      [dates]: ["endedAt"],
      "the result of that operation": ["recoveredBy"]
    }
  },
  "admission-consent": {
    views: ["AdmissionConsentView"],
    withheld: {
      [contract]: ["proposalCid", "consentCid"],
      [dates]: ["proposedAt", "agreedAt", "endedAt"],
      [search]: ["offset"]
    }
  },
  restriction: {
    views: ["RestrictionView"],
    withheld: {
      "a member of its holder": ["party"]
    }
  },
  hold: {
    views: ["HoldView"],
    withheld: {
      [instrument]: ["registrar"]
    }
  },
  "standing-approval": {
    views: ["StandingApprovalView"],
    withheld: { "the state is shown, ripened to the read": ["judgedAt"] }
  },
  "external-source": { views: ["ExternalSourceView"], withheld: {} },
  "reconciliation-run": {
    views: ["ReconciliationRunView"],
    withheld: {
      "judges the repeats of calls without a key": ["readBy"],
      "is announced to apps, which do not read runs": ["shownVerdict"]
    }
  },
  "primary-market": {
    views: ["PrimaryMarketView"],
    withheld: {
      [instrument]: ["registrar"],
      [signed]: ["acceptedBy"],
      [dates]: ["proposedAt", "endedAt"],
      [search]: ["offset"],
      "a proposal shows its own": ["proposalCid"],
      "shown as cid": ["marketCid"]
    }
  },
  "issuer-powers-agreement": {
    views: ["IssuerPowersAgreementView"],
    withheld: {
      [signed]: ["acceptedBy"],
      [dates]: ["proposedAt", "endedAt"],
      [search]: ["offset"],
      "a proposal shows its own": ["proposalCid"],
      "shown as cid": ["agreementCid"]
    }
  },
  "issuer-powers-consent": {
    views: ["IssuerPowersConsentView"],
    withheld: {
      "a member of its holder": ["party"],
      "the agreements name them": ["issuers", "revocable"],
      [dates]: ["offeredAt", "grantedAt", "endedAt"],
      [search]: ["offset"]
    }
  },
  "provision-settlement": {
    views: ["ProvisionSettlementView"],
    withheld: {
      [contract]: ["proposalCid", "provisionCid"],
      [dates]: ["proposedAt", "agreedAt", "endedAt"],
      [search]: ["offset"]
    }
  },
  proposal: {
    views: ["ProposalView"],
    withheld: {
      [instrument]: ["registrar"],
      "waitingOn names it": ["action"],
      "only what waits is listed": ["ended"]
    }
  },
  subscription: {
    views: ["SubscriptionView"],
    withheld: {
      [instrument]: ["registrar"],
      [terms]: [
        "pricing",
        "feeRate",
        "isRebasing",
        "unitDecimals",
        "cashDecimals",
        "residualRule",
        "zone"
      ],
      "the primary market names them": ["fund", "paymentAsset"],
      [signed]: ["attesting"],
      [contract]: ["claimCid", "mispricedCid", "deliveredLotCid", "mintRequestCid", "intentCid"],
      "waitingOn shows that a refund is owed": ["owedRefundCid"],
      "the requests of the operations that named the lines": ["refunds"],
      "the holder's own order on the ledger": ["orderId"],
      "an order that is in no cycle settles by itself": ["formerCycle"]
    }
  },
  redemption: {
    views: ["RedemptionView"],
    withheld: {
      [instrument]: ["registrar"],
      [terms]: ["pricing", "feeRate", "isRebasing", "unitDecimals", "cashDecimals", "zone"],
      "the oracle reads it in the claim": ["freeUnits"],
      "the primary market names them": ["fund", "paymentAsset"],
      "waitingOn names whose move it is": ["oracle", "custodian"],
      [contract]: ["claimCid", "mispricedCid", "pricedCid", "intentCid"],
      "the holder's own order on the ledger": ["orderId"],
      "an order that is in no cycle settles by itself": ["formerCycle"]
    }
  },
  mint: {
    views: ["MintView"],
    withheld: {
      [instrument]: ["registrar"],
      "the reserve names them": ["holder", "decimals", "unit"],
      [dates]: ["readyAt", "endedAt"],
      [contract]: ["orderCid", "intentCid"],
      "shown as allocationCid": ["heldCid"]
    }
  },
  "reserve-redemption": {
    views: ["ReserveRedemptionView"],
    withheld: {
      [instrument]: ["registrar"],
      "the reserve names them": ["holder", "decimals", "unit"],
      [dates]: ["readyAt", "endedAt"],
      [contract]: ["orderCid"],
      "shown as lockedUnitsCid": ["heldCid"]
    }
  },
  "dealing-cycle": {
    views: ["DealingCycleDetail", "DealingCycleView"],
    withheld: {
      [instrument]: ["registrar", "unitDecimals", "cashDecimals"],
      "the primary market names them": ["fund", "paymentAsset"],
      "as many as the orders it shows": ["members"],
      "updateId shows it": ["uid"],
      [dates]: ["openedAt", "endedAt"],
      "waitingOn shows whether the fund has to allocate": ["allocations"],
      [contract]: ["cycleCid"]
    }
  },
  distribution: ofDistribution,
  "shown-distribution": ofDistribution,
  "distribution-line": {
    views: ["DistributionLineDetail", "DistributionLineView"],
    withheld: {
      [instrument]: ["registrar"],
      [search]: ["number"],
      "deliveredAt says when it was; statements count by the ledger's time": ["delivery"],
      [contract]: ["lineCid"],
      "a member of its distribution": ["payout"],
      "a member of its holder": ["custodian"],
      "the payee of its basis": ["computedFor"],
      "the first of them is its reason": ["causes"],
      "what the registrar reads on the ledger": ["directed"],
      "what an investor or an app may know of it": ["visible"]
    }
  },
  finding: {
    views: ["FindingView"],
    withheld: {
      "it tells the figures of one unit apart, as an acceptance does": ["figure", "acceptedFigures"]
    }
  },
  "instrument-verdict": {
    views: ["ReconciliationVerdictView"],
    withheld: {
      "asOf is its offset; the rest reads the records again": ["pin"],
      "the verdict says whether any did not": ["isReached", "isGrounded", "ran"],
      "in place of the other members to investors and apps": ["shown"]
    }
  },
  amendment: {
    views: ["AmendmentView"],
    withheld: {
      [contract]: ["proposalCid"],
      [dates]: ["proposedAt", "until", "endedAt"],
      [search]: ["offset"],
      "a member of its reserve": ["issuer"]
    }
  },
  "reserve-report": {
    views: ["ReserveReportView"],
    withheld: {
      "a member of its reserve": ["issuer"],
      "shown as view": [
        "outstanding",
        "required",
        "counted",
        "ratio",
        "cover",
        "sharePrice",
        "assets",
        "follows"
      ],
      "named by the assets of the view": ["pointCids"]
    }
  },
  "standing-settlement": {
    views: ["StandingSettlementView"],
    withheld: {
      [instrument]: ["registrar"],
      "the primary market names them": ["fund", "paymentAsset"],
      [dates]: ["proposedAt", "openedAt", "endedAt"],
      [contract]: ["standingCid"]
    }
  }
}

/** Collections of the engine's own, whose members other records show, or none yet. */
const unshown = [
  "accepted-terms",
  "account-number",
  "asset-quote",
  "reserve-holding",
  "admission-places",
  "claimed-units",
  "cycle-joinings",
  "cash-line",
  "cash-taking",
  "cash-line-part",
  "configuration",
  "cycle-slot",
  "dealing-day",
  "delivery",
  "distribution-contract",
  "distribution-line-refusal",
  "distribution-line-write",
  "distribution-plan",
  "distribution-slot",
  "distribution-timer",
  "execution-claim",
  "external-statement",
  "forced-act",
  "hold-slot",
  "holder-claim",
  "holder-order",
  "holder-party",
  "holding",
  "lot",
  "lot-replay",
  "overdue-statement",
  "quote",
  "recovery",
  "register-entry",
  "run-instrument",
  "run-part",
  "run-under-way",
  "check-mark",
  "awaited-statements",
  "scheduled-distribution",
  "screening",
  "standing-party",
  "statement-of-date",
  "supply"
]

interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly $ref?: string
  readonly allOf?: ReadonlyArray<Shape>
}

const document = JSON.parse(
  readFileSync(new URL("../../packages/http-host/openapi.json", import.meta.url), "utf8")
) as { readonly components: { readonly schemas: Readonly<Record<string, Shape>> } }

const membersOf = (view: string): ReadonlyArray<string> =>
  shapeMembers(document.components.schemas[view] ?? {})

const shapeMembers = ({ $ref, allOf = [], properties = {} }: Shape): ReadonlyArray<string> => [
  ...Object.keys(properties),
  ...allOf.flatMap(shapeMembers),
  ...($ref === undefined ? [] : membersOf($ref.split("/").at(-1) ?? ""))
]

const collections = [...Catalogue.collections, operations, approvals]

const stored = ({ record }: { readonly record: object }): ReadonlyArray<string> =>
  "fields" in record ? Object.keys(record.fields as object) : []

describe("the public members of a record", () => {
  it("are decided for every collection", () => {
    assert.sameMembers(
      [...new Set(collections.map(({ name }) => name))],
      [...Object.keys(decided), ...unshown]
    )
  })

  it.each(Object.entries(decided))("of %s are those that nothing withholds", (name, decision) => {
    const collection = collections.find((one) => one.name === name)
    if (collection === undefined) throw new Error(`there is no collection ${name}`)
    const [view] = decision.views
    const shown = stored(collection).filter((member) => membersOf(view).includes(member))
    const withheld = Object.values(decision.withheld).flat()
    assert.sameMembers([...stored(collection)], [...shown, ...withheld])
    for (const other of decision.views) {
      assert.isNotEmpty(membersOf(other), `the document has a view ${other}`)
      assert.deepStrictEqual(
        withheld.filter((member) => membersOf(other).includes(member)),
        []
      )
    }
  })
})
