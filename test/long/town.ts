/** Town for random requests: a venue in the middle of its business, with wallets that go on. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import {
  AttestorBot,
  FundBot,
  OracleBot,
  RegistrarBot,
  Wallet as InvestorWallet,
  type World
} from "@bursar/storage-adapters/wallets"
import { expect } from "vitest"
import * as Wallets from "../http/wallets.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const documentHash = "ab".repeat(32)
const policy = { accept: "all" } as const
const instrumentId = "fund-a"

export interface Town {
  readonly venue: Wallets.WholeVenue
  /** Every party there is, by its hint. */
  readonly parties: ReadonlyMap<string, string>
  /** The venue runs its queued work, and each outside party performs one pending act. */
  readonly goesOn: () => Promise<void>
}

/** Keys of the deployment: without them it writes no sealed or signed data. */
const settings = {
  sealingKeys: [{ keyId: "se-1", secret: new Uint8Array(32).fill(1) }],
  cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(2) }]
}

/** Opens one: an instrument with its market, an admitted holder, and orders that came some way. */
export const open = async (): Promise<Town> => {
  const venue = await Wallets.open({ settings, witness: "elsewhere" })
  const named = async (hint: string) => [hint, await venue.wallet(hint)] as const
  const wallets = new Map([
    await named("registrar"),
    await named("fund"),
    await named("oracle"),
    await named("attestor"),
    await named("bank"),
    await named("alice")
  ])
  const wallet = (hint: string): Wallets.Wallet => {
    const found = wallets.get(hint)
    if (found === undefined) throw new Error(`nobody is ${hint}`)
    return found
  }
  const party = (hint: string) => wallet(hint).party
  const lately = Instant.fromEpochMillis(Date.now() - 3_600_000)
  const terms: AttestorBot.Terms = {
    instrumentId,
    unitDecimals: 6,
    pricing: "historic",
    redemptionFeeRate: Decimal.of("0.005")
  }
  const granted = { holderRequirements: [], issuerRequirements: [] }
  const plans: Readonly<Record<string, World.Plan>> = {
    registrar: RegistrarBot.plan({
      policy,
      instruments: [{ instrumentId, provider: venue.party, issuer: party("fund"), ...granted }]
    }),
    fund: FundBot.plan({ policy }),
    oracle: OracleBot.plan({
      quotes: () => [{ instrumentId, value: Decimal.of("1.0437"), valuationTime: lately }],
      audience: {
        venue: venue.party,
        fund: party("fund"),
        registrar: party("registrar"),
        attestors: [party("attestor")]
      },
      instruments: [terms]
    }),
    attestor: AttestorBot.plan({ policy, instruments: [terms] }),
    alice: InvestorWallet.plan({ policy, terms: documentHash })
  }
  const act = async (): Promise<number> => {
    let done = 0
    for (const [hint, plan] of Object.entries(plans)) {
      if ((await wallet(hint).does(plan)) !== "nothing") done += 1
    }
    return done
  }
  const rest = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) if ((await act()) === 0) return
    throw new Error("the wallets do not come to rest")
  }
  const succeeds = async (path: string, body: object, as = "operator") =>
    expect(await venue.write(path, body, as), path).toMatchObject({ state: "succeeded" })

  await succeeds("/v1/instruments", {
    ...bodyOf(),
    registrar: party("registrar"),
    oracle: party("oracle"),
    pricing: "historic",
    fees: { subscription: 0, redemption: 0.005 }
  })
  await rest()
  const consent = { fund: party("fund"), terms: "terms" }
  await succeeds(`/v1/instruments/${instrumentId}/admission-consent:propose`, consent)
  await rest()
  const money = { admin: party("bank"), id: "USD" }
  await succeeds(`/v1/instruments/${instrumentId}/primary-market:propose`, {
    fund: party("fund"),
    paymentAsset: money,
    terms: { attestors: [party("attestor")], required: 1 }
  })
  await rest()
  const admissions = [{ instrumentId }]
  await succeeds(
    "/v1/holders:onboard",
    { holderId: "h1", party: party("alice"), taxResidences: [], admissions },
    "app"
  )
  await rest()
  await succeeds("/v1/holders/h1/accepted-terms:accept", {})
  await rest()
  for (const subscriptionId of ["s1", "s2"]) {
    const order = { subscriptionId, instrumentId, holderId: "h1", amount: 1_000 }
    await succeeds("/v1/subscriptions", order)
  }
  await rest()
  await wallet("bank").acts(
    Templates.create(Templates.Holding, {
      registrar: party("bank"),
      owner: party("bank"),
      provider: venue.party,
      instrument: money,
      amount: Decimal.of("250000"),
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    })
  )
  const [held] = await wallet("bank").sees(Templates.Holding)
  await wallet("bank").acts(
    Templates.exercise(Templates.Holding, held?.contractId ?? "", "OfferTransfer", {
      receiver: party("alice"),
      amount: Decimal.of("250000"),
      executeBefore: Instant.add(Instant.fromEpochMillis(Date.now()), Duration.days(1))
    })
  )
  await rest()
  return {
    venue,
    parties: new Map([
      ["venue", venue.party],
      ...[...wallets].map(([hint, one]) => [hint, one.party] as const)
    ]),
    goesOn: async () => {
      await venue.settle()
      await act()
    }
  }
}
