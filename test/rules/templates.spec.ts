/** Choices that leave their contract active; every other one archives it. */
import * as Templates from "@bursar/engine-core/templates"
import { describe, expect, it } from "vitest"

interface Declared {
  readonly choices: Readonly<Record<string, { readonly consuming: boolean }>>
}

const isTemplate = (value: unknown): value is Declared =>
  typeof value === "object" && value !== null && "choices" in value

describe("the choices of the ledger's templates", () => {
  it("use their contract up, but for these", () => {
    const kept = Object.entries(Templates).flatMap(([name, template]) =>
      isTemplate(template)
        ? Object.entries(template.choices)
            .filter(([, { consuming }]) => !consuming)
            .map(([choice]) => `${name}.${choice}`)
        : []
    )
    expect(kept.toSorted()).toEqual([
      "AdmissionConsent.Offer",
      "Credential.Receive",
      "Credential.ReceiveTransfer",
      "HolderRegistration.InviteSuccessor",
      "IssuerPowersAgreement.ForceMove",
      "IssuerPowersConsent.Use",
      "LockAgreement.LockMore",
      "PrimaryMarket.BurnFor",
      "PrimaryMarket.ClaimRedemption",
      "PrimaryMarket.ClaimSubscription",
      "PrimaryMarket.MintFor",
      "PrimaryMarket.OpenCycle",
      "PrimaryMarket.OpenStanding",
      "ProvisionSettlement.Draw",
      "Reserve.ComputeReport",
      "Reserve.StartMint",
      "Reserve.StartRedemption",
      "StandingSettlement.Commit",
      "StandingSettlement.Settle"
    ])
  })
})
