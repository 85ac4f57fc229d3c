/**
 * Prechecks over HTTP: each act allowed and refused, at any point, under another policy or price,
 * for each caller who may ask.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import {
  AttestorBot,
  FundBot,
  OracleBot,
  RegistrarBot,
  Wallet as InvestorWallet,
  type World
} from "@bursar/storage-adapters/wallets"
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bank from "../operations/bank.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

type Claims = NonNullable<Parameters<Wallets.WholeVenue["read"]>[2]>
type Row = Readonly<Record<string, unknown>>
interface Check {
  readonly gate: string
  readonly check: string
  readonly ok: boolean
  readonly detail: string | null
  readonly recovery: string | null
}
interface Told {
  readonly status: number
  readonly act: string
  readonly allowed: boolean
  readonly gates: ReadonlyArray<Check>
  readonly figures: Readonly<Record<string, string>> | null
  readonly figuresHash: string | null
  readonly asOf: number
  /** A refusal's slug and its fault. */
  readonly slug: string | undefined
  readonly errors: ReadonlyArray<{ readonly pointer: string; readonly detail: string }>
  readonly text: string
}

const documentHash = "ab".repeat(32)
const policy = { accept: "all" } as const
const lately = Instant.fromEpochMillis(Date.now() - 3_600_000)
const terms: AttestorBot.Terms = {
  instrumentId: "fund-a",
  unitDecimals: 6,
  pricing: "historic",
  redemptionFeeRate: Decimal.of("0.005")
}

let venue: Wallets.WholeVenue
let programs: Readonly<Record<string, readonly [Wallets.Wallet, World.Plan]>>

/** Runs these programs until none of them has an act left. */
const work = async (...names: ReadonlyArray<string>): Promise<void> => {
  for (let round = 0; round < 20; round++) {
    const done: Array<string> = []
    for (const [name, [wallet, plan]] of Object.entries(programs)) {
      if (names.length > 0 && !names.includes(name)) continue
      const act = await wallet.does(plan)
      if (act !== "nothing") done.push(`${name} ${act}`)
    }
    if (done.length === 0) return
    if (round === 19) throw new Error(`the wallets do not come to rest: ${done.join(", ")}`)
  }
}

const succeeds = async (path: string, body: object, as = "operator") => {
  const ended = await venue.write(path, body, as)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
  return ended["result"] as Row
}

const asks = async (
  query: string,
  as = "operator",
  claims: Claims = {},
  instrumentId = "fund-a"
): Promise<Told> => {
  const path = `/v1/instruments/${instrumentId}/precheck?${query}`
  const { status, text, value } = await venue.read(path, as, claims)
  const problem = JSON.parse(text) as { readonly type?: string; readonly errors?: Told["errors"] }
  return {
    ...(value as Omit<Told, "status" | "text">),
    status,
    text,
    slug: problem.type?.split(":").at(-1),
    errors: problem.errors ?? []
  }
}

const refusing = ({ gates }: Told): ReadonlyArray<string> =>
  gates.filter(({ ok }) => !ok).map(({ gate, check }) => `${gate} ${check}`)

const allowed = async (query: string, as = "operator", claims: Claims = {}) => {
  const judged = await asks(query, as, claims)
  expect([judged.status, refusing(judged)], judged.text).toEqual([200, []])
  expect(judged.allowed).toBe(true)
  return judged
}

beforeAll(async () => {
  venue = await Wallets.open()
  const [registrar, fund, oracle, attestor, bank, alice, bob] = await Promise.all(
    ["registrar", "fund", "oracle", "attestor", "bank", "alice", "bob"].map(venue.wallet)
  )
  if (!(registrar && fund && oracle && attestor && bank && alice && bob)) throw new Error("nobody")
  programs = {
    registrar: [
      registrar,
      RegistrarBot.plan({
        policy,
        instruments: ["fund-a", "fund-b"].map((instrumentId) => ({
          instrumentId,
          provider: venue.party,
          issuer: fund.party,
          holderRequirements: [],
          issuerRequirements: []
        }))
      })
    ],
    fund: [fund, FundBot.plan({ policy })],
    oracle: [
      oracle,
      OracleBot.plan({
        quotes: () => [
          { instrumentId: "fund-a", value: Decimal.of("1.0437"), valuationTime: lately }
        ],
        audience: {
          venue: venue.party,
          fund: fund.party,
          registrar: registrar.party,
          attestors: [attestor.party]
        },
        instruments: [terms]
      })
    ],
    attestor: [attestor, AttestorBot.plan({ policy, instruments: [terms] })],
    alice: [alice, InvestorWallet.plan({ policy, terms: documentHash })],
    bob: [bob, InvestorWallet.plan({ policy, terms: documentHash })]
  }
  for (const instrumentId of ["fund-a", "fund-b"]) {
    await succeeds("/v1/instruments", {
      ...bodyOf(),
      instrumentId,
      registrar: registrar.party,
      oracle: oracle.party,
      holderCap: 10,
      pricing: "historic",
      fees: { subscription: 0, redemption: 0.005 }
    })
  }
  await venue.run(Bank.opens())
  await venue.run(Bank.states({ id: "exact", entries: [{ amount: "1000" }] }))
  await work("registrar", "oracle")
  for (const [holderId, { party }] of [["h1", alice] as const, ["h2", bob] as const]) {
    await succeeds("/v1/holders", { holderId, party, taxResidences: [] })
    await work("alice", "bob")
    await succeeds(`/v1/holders/${holderId}/accepted-terms:accept`, {})
  }
})
afterAll(() => venue.close())

/**
 * Prechecks that allowed an act, by name: the query, its offset and instant, asked again once the
 * act is refused.
 */
const then: Record<string, { readonly query: string; readonly at: number; readonly asOf: string }> =
  {}
const keeps = async (name: string, query: string, as = "operator", claims: Claims = {}) => {
  const judged = await allowed(query, as, claims)
  const { now } = JSON.parse(judged.text) as { readonly now: string }
  then[name] = { query, at: judged.asOf, asOf: now }
  return judged
}

const line = (amount: number, number = 1, statementId = Bank.credits) => ({
  cash: [{ statementId, line: number, amount }]
})
const claims = (members: object) =>
  succeeds("/v1/subscriptions", { instrumentId: "fund-a", holderId: "h1", ...members })
const envelope = async () =>
  JSON.parse((await venue.read("/v1/instruments/fund-a")).text) as {
    readonly now: string
    readonly offset: number
  }

describe("a precheck of an act that may be done", () => {
  it("never tells one refusal of an offer where there are two, or one of an offer that may be made", async () => {
    const offer = "act=admission.offer&holderId=h1"
    const early = await asks(`${offer}&expiresAt=2020-01-01T00:00:00Z`)
    expect(early).toMatchObject({ status: 200, act: "admission.offer", allowed: false })
    expect(refusing(early)).toEqual(["consent admission-consent", "window offer-in-time"])
    expect([early.figures, early.figuresHash]).toEqual([null, null])
    await succeeds("/v1/instruments/fund-a/admission-consent:propose", {
      fund: programs["fund"]?.[0].party,
      terms: "terms"
    })
    await work("registrar")
    await keeps("admission.offer", offer)
    // The precheck at the offset before the consent answers as it did then.
    const again = await asks(`${offer}&expiresAt=2020-01-01T00:00:00Z&at=${early.asOf}`)
    expect(refusing(again)).toEqual(["consent admission-consent", "window offer-in-time"])
    for (const holderId of ["h1", "h2"]) {
      await succeeds(`/v1/holders/${holderId}/admissions`, { instrumentId: "fund-a" })
    }
    expect(refusing(await asks(offer))).toEqual(["admission not-admitted-yet"])
  })

  it("says of a claim what the claim is refused for, and what it comes to at the last price", async () => {
    const claim = "act=subscription.claim&holderId=h1"
    expect(refusing(await asks(`${claim}&amount=1000.005`))).toEqual([
      "admission admitted",
      "cash currency-decimals"
    ])
    await work("alice", "bob")
    const judged = await keeps("subscription.claim", `${claim}&amount=1000`)
    expect(judged.figures).toEqual({
      price: "1.0437",
      units: "958.12973",
      cash: "1000",
      fee: "0",
      refund: "0",
      policyVersion: "1"
    })
    const canonical = JSON.stringify(
      Object.fromEntries(
        Object.entries(judged.figures ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
      )
    )
    expect(judged.figuresHash).toBe(
      createHash("sha256").update(`bursar-figures-v1\n${canonical}`).digest("hex")
    )
    expect((await allowed(`${claim}&units=100`)).figures).toMatchObject({ cash: "104.37" })
    expect(refusing(await asks(`${claim}&payment=ledger&orderId=mine-1`))).toEqual([
      "consent order-signed",
      "policy primary-market"
    ])
    await claims({ subscriptionId: "sub-2", amount: 1000 })
    await claims({ subscriptionId: "sub-3", amount: 1000 })
    const taken = await asks(`${claim}&amount=1000&subscriptionId=sub-2`)
    expect([taken.status, taken.slug]).toEqual([409, "already-exists"])
  })

  it("never forgets the bank lines of a delivery, or judges an order that cannot be delivered", async () => {
    const deliver = "act=subscription.deliver&subscriptionId"
    const unpriced = await asks(`${deliver}=sub-2`)
    expect([unpriced.status, unpriced.allowed]).toEqual([200, false])
    expect(unpriced.gates).toEqual([
      {
        gate: "policy",
        check: "SubscriptionState",
        ok: false,
        detail: "A record in state claimed does not answer to deliver.",
        recovery: null
      }
    ])
    await succeeds("/v1/instruments/fund-a/primary-market:propose", {
      fund: programs["fund"]?.[0].party,
      paymentAsset: { admin: programs["fund"]?.[0].party, id: "USD" },
      terms: { attestors: [programs["attestor"]?.[0].party], required: 1 }
    })
    await work("fund", "registrar", "oracle", "attestor")
    await claims({ subscriptionId: "sub-4", amount: 1000 })
    await work("attestor")
    const judged = await keeps("subscription.deliver", `${deliver}=sub-4&cash=stmt-1:4:1000`)
    expect(judged.figures).toMatchObject({ price: "1.0437", units: "958.12973", cash: "1000" })
    expect(refusing(await asks(`${deliver}=sub-4`))).toEqual(["cash cash-matched"])
    expect(refusing(await asks(`${deliver}=sub-4&cash=stmt-1:4:600&cash=stmt-1:4:600.00`))).toEqual(
      ["cash cash-line-repeated", "cash cash-over"]
    )
    await claims({ subscriptionId: "sub-5", amount: 1000 })
    await work("attestor")
    await succeeds("/v1/subscriptions/sub-5:deliver", line(1000, 1, "exact"))
    expect(refusing(await asks(`${deliver}=sub-4&cash=exact:1:1000`))).toEqual(["cash line-left"])
    await keeps("subscription.settle", "act=subscription.settle&subscriptionId=sub-5")
  })

  it("never counts units that a redemption does not find free", async () => {
    const claim = "act=redemption.claim&holderId=h1"
    const judged = await keeps("redemption.claim", `${claim}&units=100`)
    expect(judged.figures).toMatchObject({ price: "1.0437", units: "100", cash: "103.84" })
    expect(refusing(await asks(`${claim}&units=100000.0000001`))).toEqual([
      "units unit-decimals",
      "units units-free"
    ])
    await succeeds("/v1/redemptions", {
      redemptionId: "red-1",
      instrumentId: "fund-a",
      holderId: "h1",
      units: 100
    })
    for (const name of ["oracle", "alice", "registrar"]) await work(name)
    const settle = "act=redemption.settle&redemptionId=red-1"
    await keeps("redemption.settle", `${settle}&cash=stmt-2:1:103.84`)
    expect(refusing(await asks(settle))).toEqual(["cash cash-matched"])
  })
})

describe("a precheck under a hold and a restriction", () => {
  const orders = [
    ["subscription.claim", ["may-subscribe"]],
    ["subscription.deliver", ["may-receive"]],
    // Its units are out: that its cash is in is only noted.
    ["subscription.settle", []],
    ["redemption.claim", ["may-redeem"]],
    ["redemption.settle", ["may-be-paid"]]
  ] as const
  const ask = async (name: string, more = "", as = "operator", claims: Claims = {}) =>
    asks(`${then[name]?.query}${more}`, as, claims)

  it("never tells the first of them alone, tells them of a time when neither was there, or no more once they have ended", async () => {
    const { holdId } = await succeeds("/v1/instruments/fund-a:pause", { reason: "audit" }, "risk")
    const { restrictionId } = await succeeds(
      "/v1/holders/h1:restrict",
      { mode: "freeze", reason: "pledge" },
      "compliance"
    )
    for (const [name, checks] of orders) {
      const judged = await ask(name)
      const restricted = checks.map((check) => `restriction ${check}`)
      expect([name, ...refusing(judged)]).toEqual([name, "hold not-held", ...restricted])
      expect(judged.gates.find(({ gate }) => gate === "hold")).toEqual({
        gate: "hold",
        check: "not-held",
        ok: false,
        detail: `The hold ${String(holdId)} is open.`,
        recovery: "Have the hold released."
      })
      // An act of the past is judged by what stood then.
      expect([name, (await ask(name, `&at=${then[name]?.at}`)).allowed]).toEqual([name, true])
      expect([name, (await ask(name, `&asOf=${then[name]?.asOf}`)).allowed]).toEqual([name, true])
    }
    const during = await envelope()
    await succeeds(
      `/v1/holds/${String(holdId)}:release`,
      { reason: "done", accept: [] },
      "operator"
    )
    await succeeds(`/v1/restrictions/${String(restrictionId)}:lift`, { reason: "paid back" })
    for (const [name, checks] of orders) {
      expect([name, (await ask(name)).allowed]).toEqual([name, true])
      const past = await ask(name, `&asOf=${during.now}`)
      expect([name, refusing(past).length]).toEqual([name, 1 + checks.length])
    }
  })

  it("never tells an investor, or the application that speaks to it, of the restriction", async () => {
    const as = [
      ["investor", { holder: "h1" }],
      ["app", {}]
    ] as const
    const before = await Promise.all(
      as.map(([role, claims]) => ask("subscription.claim", "", role, claims))
    )
    const { restrictionId } = await succeeds(
      "/v1/holders/h1:restrict",
      { mode: "freeze", reason: "sanctions" },
      "compliance"
    )
    const after = await Promise.all(
      as.map(([role, claims]) => ask("subscription.claim", "", role, claims))
    )
    await succeeds(`/v1/restrictions/${String(restrictionId)}:lift`, { reason: "another person" })
    for (const judged of [...before, ...after]) {
      expect(judged.gates.map(({ gate }) => gate)).not.toContain("restriction")
      expect(judged.gates.map(({ gate }) => gate)).not.toContain("screening")
      expect(judged.text).not.toMatch(/restrict|sanction|screen/iu)
    }
    const standingRow = (ok: boolean) => ({
      gate: "admission",
      check: "standing",
      ok,
      detail: null,
      recovery: ok ? null : "Ask the venue."
    })
    const rest = ({ gates }: Told) => gates.filter(({ check }) => check !== "standing")
    for (const [index, answer] of after.entries()) {
      expect(answer.gates).toContainEqual(standingRow(false))
      expect(before[index]?.gates).toContainEqual(standingRow(true))
      expect(rest(answer)).toEqual(before[index] === undefined ? [] : rest(before[index]))
      expect([before[index]?.allowed, answer.allowed]).toEqual([true, false])
      expect(answer.figures).toEqual(before[index]?.figures)
    }
  })
})

describe("a precheck as it would be", () => {
  it("never answers for the version in force where another is asked after, or for a price that is none", async () => {
    const claim = "act=subscription.claim&holderId=h1&units=1000"
    const body = { limits: { maxSubscription: 1100 }, effectiveFrom: "2099-01-01T00:00:00Z" }
    const made = await Venue.send(venue, {
      method: "POST",
      path: "/v1/instruments/fund-a/policy:set",
      as: await Venue.bearer(["operator"]),
      body: JSON.stringify(body),
      headers: { "idempotency-key": crypto.randomUUID(), "if-match": '"1"' }
    })
    const { actionKey } = await Venue.json<{ readonly actionKey: string }>(made)
    await Venue.send(venue, {
      method: "POST",
      path: `/v1/approvals/${actionKey}:approve`,
      as: await Venue.bearer(["approver"])
    })
    await venue.settle()
    expect((await allowed(claim)).figures).toMatchObject({ cash: "1043.7", policyVersion: "1" })
    expect((await allowed(`${claim}&policyVersion=2`)).figures).toMatchObject({
      policyVersion: "2"
    })
    expect((await allowed(`${claim}&price=1.2`)).figures).toMatchObject({ cash: "1200" })
    const both = await asks(`${claim}&price=1.2&policyVersion=2`)
    expect(refusing(both)).toEqual(["policy maximum-subscription"])
    expect(both.figures).toMatchObject({ price: "1.2", cash: "1200", policyVersion: "2" })
    expect((await asks(`${claim}&policyVersion=9`)).slug).toBe("not-found")
    // The other instrument has no such version, though this one has.
    const offer = "act=admission.offer&holderId=h1"
    expect((await asks(`${offer}&policyVersion=2`)).status).toBe(200)
    const foreign = await asks(`${offer}&policyVersion=2`, "operator", {}, "fund-b")
    expect([foreign.status, foreign.slug]).toEqual([404, "not-found"])
    // What-if read of an order that has dealt.
    const deliver = "act=subscription.deliver&subscriptionId=sub-4"
    expect((await asks(`${deliver}&price=2`)).figures).toMatchObject({ price: "2", units: "500" })
    expect((await asks(deliver)).figures).toMatchObject({ price: "1.0437", units: "958.12973" })
    const { value } = await venue.read("/v1/instruments/fund-a")
    expect(value).toMatchObject({ policyVersion: 1 })
  })
})

describe("a precheck that is asked amiss", () => {
  const pointers = async (query: string) => {
    const { errors, slug, status } = await asks(query)
    return [status, slug, ...errors.map(({ pointer }) => pointer)]
  }
  it.each([
    ["act is missing", "holderId=h1", ["/query/act"]],
    ["act is none", "act=holder.close&holderId=h1", ["/query/act"]],
    ["no asset is named", "act=mint.start&holderId=h1&deposit=1", ["/query/asset"]],
    [
      "an asset without its registrar",
      "act=mint.start&holderId=h1&deposit=1&asset=BILL",
      ["/query/asset"]
    ],
    ["nobody is named", "act=admission.offer", ["/query/holderId"]],
    ["no order is named", "act=subscription.settle", ["/query/subscriptionId"]],
    ["no cycle is named", "act=dealing-cycle.settle", ["/query/cycleId"]],
    [
      "the act takes other parameters",
      "act=redemption.settle&subscriptionId=sub-2&amount=3",
      ["/query/redemptionId", "/query/subscriptionId", "/query/amount"]
    ],
    ["an offer has no price", "act=admission.offer&holderId=h1&price=2", ["/query/price"]],
    ["there is no such parameter", "act=admission.offer&holderId=h1&x=2", ["/query/x"]],
    ["neither amount nor units", "act=subscription.claim&holderId=h1", ["/query"]],
    ["an amount below zero", "act=subscription.claim&holderId=h1&amount=-1", ["/query/amount"]],
    ["a price of zero", "act=subscription.claim&holderId=h1&amount=1&price=0", ["/query/price"]],
    [
      "a price below zero",
      "act=subscription.claim&holderId=h1&amount=1&price=-0.01",
      ["/query/price"]
    ],
    [
      "a price of eleven places",
      "act=subscription.claim&holderId=h1&amount=1&price=1.00000000001",
      ["/query/price"]
    ],
    [
      "a version that is no whole number",
      "act=subscription.claim&holderId=h1&amount=1&policyVersion=1.5",
      ["/query/policyVersion"]
    ],
    [
      "a version of none",
      "act=subscription.claim&holderId=h1&amount=1&policyVersion=0",
      ["/query/policyVersion"]
    ],
    [
      "a bank line of two parts",
      "act=subscription.settle&subscriptionId=sub-5&cash=stmt-1:1000",
      ["/query/cash"]
    ],
    [
      "a bank line of nothing",
      "act=subscription.settle&subscriptionId=sub-5&cash=stmt-1:1:0",
      ["/query/cash"]
    ],
    [
      "a ledger-paid order without its order",
      "act=redemption.claim&holderId=h1&payment=ledger",
      ["/query"]
    ],
    [
      "units of which a price makes no decimal",
      "act=subscription.claim&holderId=h1&units=1000000000000000",
      ["/query/units"]
    ],
    [
      "a price of no unit",
      "act=subscription.claim&holderId=h1&units=1&price=10000000000",
      ["/query/price"]
    ],
    [
      "a bank line of more than any order",
      "act=subscription.settle&subscriptionId=sub-5&cash=stmt-1:1:1000000000000000",
      ["/query/cash"]
    ],
    [
      "moves that repeat their holder",
      `act=instrument.force-transfer&moves=h1:h2&moves=h1:h2:1&documentHash=${documentHash}`,
      ["/query/moves"]
    ],
    [
      "a move of nothing",
      `act=instrument.force-transfer&moves=h1:h2:0&documentHash=${documentHash}`,
      ["/query/moves"]
    ],
    [
      "a move to nobody",
      `act=instrument.force-transfer&moves=h1&documentHash=${documentHash}`,
      ["/query/moves"]
    ],
    [
      "an order without its document",
      "act=instrument.force-transfer&moves=h1:h2",
      ["/query/documentHash"]
    ],
    [
      "an amount beyond all decimals",
      `act=subscription.claim&holderId=h1&units=${"9".repeat(29)}`,
      ["/query/units"]
    ]
  ])("is answered though %s", async (_, query, expected) => {
    expect(await pointers(query)).toEqual([400, "invalid-request", ...expected])
  })

  it("never is of a size that no order has, and the order itself is placed", async () => {
    for (const absurd of [{ units: 1e15 }, { amount: 1e15 }]) {
      const [[name, size] = []] = Object.entries(absurd)
      const body = JSON.stringify({ instrumentId: "fund-a", holderId: "h1" }).replace(
        "}",
        `,"${name}":${String(size)}}`
      )
      for (const path of ["/v1/subscriptions", "/v1/redemptions"]) {
        const answer = await Venue.send(venue, {
          method: "POST",
          path,
          as: await Venue.bearer(["operator"]),
          body,
          headers: { "idempotency-key": crypto.randomUUID() }
        })
        const { errors } = await Venue.json<Venue.Problem>(answer)
        expect([answer.status, errors?.map(({ pointer }) => pointer)]).toEqual([
          400,
          [`/body/${String(name)}`]
        ])
      }
    }
  })

  it.each([
    ["nobody", "act=subscription.claim&holderId=nobody&amount=1"],
    ["an order that is not there", "act=subscription.settle&subscriptionId=absent"],
    ["a cycle that is not there", "act=dealing-cycle.settle&cycleId=absent"]
  ])("is answered of %s", async (_, query) => {
    expect(await pointers(query)).toEqual([404, "not-found"])
  })

  it("never is answered of another instrument's order, or of no instrument", async () => {
    const settle = "act=subscription.settle&subscriptionId=sub-5"
    const other = await asks(settle, "operator", {}, "fund-b")
    expect([other.status, other.slug]).toEqual([404, "not-found"])
    const none = await asks("act=subscription.claim&holderId=h1&amount=1", "operator", {}, "fund-z")
    expect([none.status, none.slug]).toEqual([404, "not-found"])
  })
})

describe("whoever asks", () => {
  const detailOf = ({ text }: Told) => (JSON.parse(text) as { readonly detail: string }).detail
  it("never is an investor who learns whether another's holder or order is there", async () => {
    const as = (holder: string) => ["investor", { holder }] as const
    const claim = (holderId: string) => `act=subscription.claim&amount=1000&holderId=${holderId}`
    expect((await asks(claim("h1"), ...as("h1"))).allowed).toBe(true)
    const settle = (orderId: string) => `act=subscription.settle&subscriptionId=${orderId}`
    expect((await asks(settle("sub-5"), ...as("h1"))).allowed).toBe(true)
    for (const [foreign, absent] of [
      [claim("h1"), claim("nobody")],
      [settle("sub-5"), settle("absent")]
    ] as const) {
      const [theirs, nowhere] = [await asks(foreign, ...as("h2")), await asks(absent, ...as("h2"))]
      expect([theirs.status, theirs.slug, detailOf(theirs)]).toEqual([
        404,
        "not-found",
        detailOf(nowhere)
      ])
    }
    const cycle = await asks("act=dealing-cycle.settle&cycleId=absent", ...as("h1"))
    expect([cycle.status, cycle.slug]).toEqual([403, "permission-denied"])
    const unnamed = await asks(claim("h1"), "investor")
    expect([unnamed.status, unnamed.slug]).toEqual([403, "permission-denied"])
  })

  it("never may not, or may not though it should", async () => {
    const query = "act=subscription.claim&amount=1000&holderId=h1"
    for (const role of ["operator", "approver", "risk", "compliance", "auditor", "app"]) {
      expect([role, (await asks(query, role)).status]).toEqual([role, 200])
    }
    for (const role of ["monitor", "feed", "registrar"]) {
      expect([role, (await asks(query, role)).status]).toEqual([role, 403])
    }
  })
})
