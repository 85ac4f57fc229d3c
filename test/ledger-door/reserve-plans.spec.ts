/** Answers of the programs of a backed instrument's parties: in their own name, once, in time, and for no other party. */
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as Duties from "#adapters/ledger/wallets/Duties.ts"
import * as Flags from "#adapters/ledger/wallets/Flags.ts"
import {
  CustodianBot,
  FundBot,
  Policy,
  RegistrarBot,
  Reserves,
  Wallet,
  type World
} from "#adapters/ledger/wallets/index.ts"

const party = (hint: string): Party.Party => Party.of(`${hint}::1220${"ab".repeat(32)}`)
const [venue, issuer, custodian, bank] = [
  party("venue"),
  party("issuer"),
  party("custodian"),
  party("bank")
]
const [alice, bob] = [party("alice"), party("bob")]
const instrument = { admin: issuer, id: "NOTE" }
const eur = { admin: bank, id: "EUR" }
const decimal = Decimal.of
const noon = Instant.of("2026-01-05T12:00:00Z")
const before = Instant.of("2026-01-05T11:59:59.999999Z")

type Contract = World.World["contracts"] extends ReadonlyMap<string, infer C> ? C : never

const contract = <T extends Templates.Template>(
  contractId: string,
  template: T,
  payload: Templates.Payload<T>
): Contract => ({
  contractId,
  template: template.typeRef,
  payload: Templates.encodePayload(template, payload),
  createdAt: before
})

const terms: Templates.ReserveTerms = {
  minCover: decimal("1"),
  assets: [
    { asset: eur, priceSource: null, freshness: null, haircut: Decimal.zero, maxShare: null }
  ]
}
const body = {
  venue,
  reserveId: "res-1",
  instrument,
  issuer,
  holder: custodian,
  unit: "EUR",
  decimals: 2,
  priceDecimals: 10,
  parValue: Decimal.one,
  initialSharePrice: null,
  loosenDelay: 0,
  terms
} as const

const proposal = (accepted: ReadonlyArray<Party.Party> = []) =>
  contract("00a1", Templates.ReserveProposal, { ...body, accepted })
const count = { ...body, outstanding: Decimal.zero, locked: [], pending: null, closing: false }
const reserve = contract("00a2", Templates.Reserve, count)
const amendment = contract("00a3", Templates.AmendmentProposal, {
  venue,
  amendmentId: "am-1",
  reserveId: "res-1",
  issuer,
  holder: custodian,
  terms
})
const lock = (
  options: { readonly accepted?: ReadonlyArray<Party.Party>; readonly amount?: string } = {}
) =>
  contract("00b1", Templates.LockAgreementProposal, {
    venue,
    lockAgreementId: "lock-1",
    reserveId: "res-1",
    asset: eur,
    holder: custodian,
    amount: decimal(options.amount ?? "0"),
    accepted: options.accepted ?? []
  })
const agreement = contract("00b2", Templates.LockAgreement, {
  venue,
  lockAgreementId: "lock-1",
  reserveId: "res-1",
  asset: eur,
  holder: custodian
})

const holding = (
  contractId: string,
  allocation: {
    readonly owner: Party.Party
    readonly amount: string
    readonly asset?: Templates.Asset
    readonly context?: string
  }
) =>
  contract(contractId, Templates.Holding, {
    registrar: (allocation.asset ?? eur).admin,
    owner: allocation.owner,
    provider: venue,
    instrument: allocation.asset ?? eur,
    amount: decimal(allocation.amount),
    restricted: false,
    lock:
      allocation.context === undefined
        ? null
        : { holders: [venue], observers: [], context: allocation.context, expiresAt: null },
    label: "",
    meta: {}
  })

type Mint = Templates.Payload<typeof Templates.MintOrder>
const mint = (other: Partial<Mint> = {}) =>
  contract("00c1", Templates.MintOrder, {
    venue,
    issuer,
    holder: custodian,
    mintId: "m-1",
    reserveId: "res-1",
    instrument,
    depositor: alice,
    asset: eur,
    deposit: decimal("100"),
    units: decimal("98"),
    executeBefore: noon,
    allocationCid: null,
    ...other
  })
/** The request for the deposit that the venue makes beside the order. */
const request = contract("00c4", Templates.SettlementIntent, {
  venue,
  settlementId: "m-1",
  reference: { kind: "mint", id: "m-1" },
  legs: [
    {
      legId: "deposit",
      sender: alice,
      receiver: custodian,
      instrument: eur,
      amount: decimal("100")
    }
  ],
  requestedAt: before,
  allocateBefore: noon,
  settleBefore: noon
})
type Allocation = Templates.Payload<typeof Templates.Allocation>
const allocation = (other: Partial<Allocation> = {}) =>
  contract("00c2", Templates.Allocation, {
    registrar: bank,
    sender: alice,
    receiver: custodian,
    executor: venue,
    reference: "m-1",
    holdingCid: "00c3",
    instrument: eur,
    amount: decimal("100"),
    settleBefore: noon,
    ...other
  })
const redemption = (
  other: Partial<Templates.Payload<typeof Templates.ReserveRedemptionOrder>> = {}
) =>
  contract("00d1", Templates.ReserveRedemptionOrder, {
    venue,
    issuer,
    holder: custodian,
    reserveRedemptionId: "r-1",
    reserveId: "res-1",
    instrument,
    owner: alice,
    units: decimal("50"),
    asset: eur,
    payout: decimal("51"),
    executeBefore: noon,
    lockedUnitsCid: null,
    ...other
  })

const actsAt =
  (now: Instant.Instant) =>
  (plan: World.Plan, by: Party.Party, ...contracts: ReadonlyArray<Contract>) =>
    plan({ party: by, now, contracts: new Map(contracts.map((one) => [one.contractId, one])) }).map(
      ({ name, details, change }) => ({ name, ...details, ...change })
    )
const acts = actsAt(before)

const policy = Policy.acceptAll
const fund = FundBot.plan({ policy })
const registrar = RegistrarBot.plan({ policy, instruments: [] })
const hosted = CustodianBot.plan({ policy })
const wallet = Wallet.plan({ policy })

describe("a reserve that is proposed", () => {
  const rows = [
    ["fund, as its issuer", issuer, fund],
    ["registrar, as its issuer", issuer, registrar],
    ["custodian, as its holder", custodian, hosted]
  ] as const
  it.each(rows)("is accepted by a %s, once, in its own name", (_, by, plan) => {
    expect(acts(plan, by, proposal())).toEqual([
      {
        name: "accept-reserve",
        commandId: "accept-reserve:00a1",
        reserveId: "res-1",
        instrumentId: "NOTE",
        commands: [Templates.exercise(Templates.ReserveProposal, "00a1", "Accept", { party: by })]
      }
    ])
    expect(acts(plan, by, proposal([by]))).toEqual([])
    expect(acts(plan, bob, proposal())).toEqual([])
  })
  it.each(rows)("is never accepted by a %s whose policy waits", (_, by) => {
    const waiting = { policy: { accept: ["another"] } }
    for (const plan of [
      FundBot.plan(waiting),
      RegistrarBot.plan({ ...waiting, instruments: [] }),
      CustodianBot.plan(waiting)
    ]) {
      expect(acts(plan, by, proposal(), reserve, amendment, lock())).toEqual([])
    }
  })
})

describe("an amendment", () => {
  it("is accepted by the issuer alone, on the reserve as it is now", () => {
    expect(acts(fund, issuer, reserve, amendment)).toMatchObject([
      { name: "accept-amendment", commands: [{ choice: "Accept", contractId: "00a3" }] }
    ])
    expect(acts(fund, issuer, reserve, amendment)[0]?.commands).toEqual([
      Templates.exercise(Templates.AmendmentProposal, "00a3", "Accept", { reserveCid: "00a2" })
    ])
    const others = [{ venue: bob }, { reserveId: "res-2" }].map((other, index) =>
      contract(`00f${index}`, Templates.Reserve, { ...count, ...other })
    )
    expect(acts(fund, issuer, ...others, amendment)).toEqual([])
    for (const plan of [fund, hosted]) {
      expect(acts(plan, custodian, reserve, amendment)).toEqual([])
    }
  })
})

describe("a lock agreement", () => {
  const accept = (argument: {
    readonly party: Party.Party
    readonly reserveCid: string | null
    readonly holdingCids: ReadonlyArray<string>
  }) => [
    {
      name: "accept-lock",
      commands: [Templates.exercise(Templates.LockAgreementProposal, "00b1", "Accept", argument)]
    }
  ]
  it("is accepted by the asset's registrar first, and then by the holder on its reserve", () => {
    const first = { party: bank, reserveCid: null, holdingCids: [] }
    expect(acts(registrar, bank, lock())).toMatchObject(accept(first))
    expect(acts(hosted, custodian, lock(), reserve)).toEqual([])
    const second = { party: custodian, reserveCid: "00a2", holdingCids: [] }
    expect(acts(hosted, custodian, lock({ accepted: [bank] }), reserve)).toMatchObject(
      accept(second)
    )
    expect(acts(hosted, custodian, lock({ accepted: [bank] }))).toEqual([])
    expect(acts(registrar, bank, lock({ accepted: [bank] }))).toEqual([])
  })
  it("takes a free holding of exactly its amount, divides one that has more, and waits for one", () => {
    const lockProposal = lock({ accepted: [bank], amount: "40" })
    const exact = holding("00e1", { owner: custodian, amount: "40" })
    const more = holding("00e2", { owner: custodian, amount: "70" })
    const taken = { party: custodian, reserveCid: "00a2", holdingCids: ["00e1"] }
    expect(acts(hosted, custodian, lockProposal, reserve, more, exact)).toMatchObject(accept(taken))
    expect(acts(hosted, custodian, lockProposal, reserve, more)).toMatchObject([
      { name: "divide", commands: [{ choice: "Transfer", contractId: "00e2" }] }
    ])
    const useless = [
      holding("00e3", { owner: custodian, amount: "39" }),
      holding("00e4", { owner: custodian, amount: "40", context: "res-1" }),
      holding("00e5", { owner: bob, amount: "40" }),
      holding("00e6", { owner: custodian, amount: "40", asset: { admin: bob, id: "EUR" } })
    ]
    expect(acts(hosted, custodian, lockProposal, reserve, ...useless)).toEqual([])
  })
  it("locks more when the holder is told to, with what is locked before, once a reference", () => {
    const plan = Reserves.lockMore({
      lockAgreementId: "lock-1",
      amount: decimal("10"),
      reference: "again"
    })
    const free = holding("00e1", { owner: custodian, amount: "40" })
    const locked = holding("00e2", { owner: custodian, amount: "70", context: "res-1" })
    const elsewhere = holding("00e3", { owner: custodian, amount: "5", context: "res-2" })
    const more = (lockedCid: string | null) => [
      {
        name: "lock-more",
        commandId: "lock-more:again",
        commands: [
          Templates.exercise(Templates.LockAgreement, "00b2", "LockMore", {
            reserveCid: "00a2",
            holdingCid: "00e1",
            amount: decimal("10"),
            lockedCid
          })
        ]
      }
    ]
    expect(acts(plan, custodian, agreement, reserve, free, locked)).toMatchObject(more("00e2"))
    expect(acts(plan, custodian, agreement, reserve, free, elsewhere)).toMatchObject(more(null))
    const banks = holding("00e4", { owner: bank, amount: "40" })
    expect(acts(plan, bank, agreement, reserve, banks)).toEqual([])
    expect(acts(plan, custodian, agreement, free)).toEqual([])
  })
})

describe("a mint order", () => {
  const cash = holding("00e1", { owner: alice, amount: "100" })
  it("is funded by its depositor's wallet for as long as the order lasts, and then accepted", () => {
    expect(acts(wallet, alice, mint(), cash)).toMatchObject([
      {
        name: "allocate",
        commands: [
          Templates.exercise(Templates.Holding, "00e1", "Allocate", {
            allocationId: "m-1",
            executor: venue,
            receiver: custodian,
            amount: decimal("100"),
            settleBefore: noon
          })
        ]
      }
    ])
    expect(acts(wallet, alice, mint(), allocation())).toMatchObject([
      {
        name: "accept-mint-order",
        commandId: "accept-mint-order:00c1",
        deposit: "100",
        units: "98",
        commands: [
          Templates.exercise(Templates.MintOrder, "00c1", "Accept", { allocationCid: "00c2" })
        ]
      }
    ])
    expect(acts(wallet, alice, mint({ allocationCid: "00c2" }), allocation())).toEqual([])
  })
  const others: ReadonlyArray<readonly [what: string, other: Partial<Allocation>]> = [
    ["sender", { sender: bob }],
    ["order", { reference: "m-2" }],
    ["asset", { instrument: { admin: bob, id: "EUR" } }],
    ["receiver", { receiver: bob }],
    ["executor", { executor: bob }],
    ["amount", { amount: decimal("99") }],
    ["end", { settleBefore: before }]
  ]
  it.each(others)("is never accepted with an allocation of another %s", (_, other) => {
    expect(acts(wallet, alice, mint(), allocation(other))).toEqual([])
  })
  it("is funded once where it is also requested, and a request without an order is not", () => {
    expect(acts(wallet, alice, mint(), request, cash)).toMatchObject([{ name: "allocate" }])
    expect(acts(wallet, alice, mint(), request, allocation())).toMatchObject([
      { name: "accept-mint-order" }
    ])
    expect(acts(wallet, alice, request, cash)).toEqual([])
  })
  it("is declined together with the request for its deposit", () => {
    const declines = Reserves.mints({ accept: [], reject: "all" })
    expect(acts(declines, alice, mint(), request)[0]?.commands).toEqual([
      Templates.exercise(Templates.MintOrder, "00c1", "Decline", {}),
      Templates.exercise(Templates.SettlementIntent, "00c4", "AllocationRequest_Reject", {
        actor: alice
      })
    ])
    expect(acts(declines, alice, mint({ mintId: "m-2" }), request)[0]?.commands).toHaveLength(1)
  })
  it("is never answered by another, past its time, or for who only agreed to hold", () => {
    expect(acts(wallet, bob, mint(), cash)).toEqual([])
    expect(actsAt(noon)(wallet, alice, mint(), cash)).toEqual([])
    const holds = Wallet.plan({ policy: { accept: ["NOTE", "res-1"] } })
    expect(acts(holds, alice, mint(), cash)).toEqual([])
    expect(acts(Wallet.plan({ policy: { accept: ["m-1"] } }), alice, mint(), cash)).toHaveLength(1)
  })
})

describe("a redemption order", () => {
  const units = holding("00e1", { owner: alice, amount: "60", asset: instrument })
  it("takes units that its owner's wallet locks, once", () => {
    expect(acts(wallet, alice, redemption(), units)).toMatchObject([
      {
        name: "accept-reserve-redemption",
        commandId: "accept-reserve-redemption:00d1",
        units: "50",
        payout: "51",
        commands: [
          Templates.exercise(Templates.ReserveRedemptionOrder, "00d1", "Accept", {
            holdingCid: "00e1"
          })
        ]
      }
    ])
    expect(acts(wallet, alice, redemption({ lockedUnitsCid: "00e1" }), units)).toEqual([])
  })
  it("is never answered by another, past its time, or for who only agreed to hold", () => {
    expect(acts(wallet, bob, redemption(), units)).toEqual([])
    expect(actsAt(noon)(wallet, alice, redemption(), units)).toEqual([])
    const holds = Wallet.plan({ policy: { accept: ["NOTE", "res-1"] } })
    expect(acts(holds, alice, redemption(), units)).toEqual([])
  })
})

/** Acts of a person's command in a world with everything in it. */
const commanded = (
  actor: Duties.Actor,
  by: Party.Party,
  command: string,
  ...flags: Array<string>
) => {
  const duty = Result.getOrThrow(Duties.read(actor, command, Result.getOrThrow(Flags.parse(flags))))
  if (duty.kind !== "once") throw new Error(duty.kind)
  return acts(
    duty.plan,
    by,
    proposal(),
    reserve,
    amendment,
    lock(by === custodian ? { accepted: [bank] } : {}),
    agreement,
    mint(),
    allocation(),
    redemption(),
    holding("00e1", { owner: alice, amount: "60", asset: instrument }),
    holding("00e2", { owner: custodian, amount: "60" })
  )
}

describe("a person tells its program to", () => {
  const rows: ReadonlyArray<
    readonly [
      command: string,
      actor: Duties.Actor,
      by: Party.Party,
      id: string,
      choice: string,
      flags: ReadonlyArray<string>
    ]
  > = [
    ["accept-reserve", "fund", issuer, "res-1", "Accept", []],
    ["decline-reserve", "registrar", issuer, "res-1", "Decline", []],
    ["accept-reserve", "custodian", custodian, "res-1", "Accept", []],
    ["decline-reserve", "custodian", custodian, "res-1", "Decline", []],
    ["accept-amendment", "fund", issuer, "am-1", "Accept", []],
    ["decline-amendment", "registrar", issuer, "am-1", "Decline", []],
    ["recount", "registrar", issuer, "res-1", "Recount", ["--units", "5"]],
    ["accept-lock", "registrar", bank, "lock-1", "Accept", []],
    ["decline-lock", "registrar", bank, "lock-1", "Decline", []],
    ["accept-lock", "custodian", custodian, "lock-1", "Accept", []],
    ["decline-lock", "custodian", custodian, "lock-1", "Decline", []],
    ["lock-more", "custodian", custodian, "lock-1", "LockMore", ["--amount", "5"]],
    ["accept-mint", "investor", alice, "m-1", "Accept", []],
    ["decline-mint", "investor", alice, "m-1", "Decline", []],
    ["accept-reserve-redemption", "investor", alice, "r-1", "Accept", []],
    ["decline-reserve-redemption", "custodian", alice, "r-1", "Decline", []],
    ["withdraw-allocation", "investor", alice, "m-1", "Allocation_Withdraw", []]
  ]
  it.each(rows)("%s as %s, and it does that alone", (command, actor, by, id, choice, flags) => {
    const said = (reference: string, as: Party.Party) =>
      commanded(actor, as, command, "--reference", reference, ...flags)
    expect(said(id, by)).toMatchObject([{ commands: [{ choice }] }])
    expect(said("another", by)).toEqual([])
    expect(said(id, bob)).toEqual([])
  })
})
