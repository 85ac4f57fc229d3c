/** Deliveries planned by a registrar's program: every line that the ledger lets it deliver, in batches, and no other. */
import { Date, Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as Duties from "#adapters/ledger/wallets/Duties.ts"
import * as Flags from "#adapters/ledger/wallets/Flags.ts"
import {
  Deliveries,
  Policy,
  RegistrarBot,
  Wallet,
  type World
} from "#adapters/ledger/wallets/index.ts"

const party = (hint: string): Party.Party => Party.of(`${hint}::1220${"ab".repeat(32)}`)
const [venue, registrar, bank] = [party("venue"), party("registrar"), party("bank")]
const [alice, bob] = [party("alice"), party("bob")]
const instrument = { admin: registrar, id: "FUND-A" }
const payableFrom = Instant.of("2026-02-03T00:00:00Z")
const decimal = Decimal.of

type Contract = World.World["contracts"] extends ReadonlyMap<string, infer C> ? C : never

const contract = <T extends Templates.Template>(
  contractId: string,
  template: T,
  payload: Templates.Payload<T>
): Contract => ({
  contractId,
  template: template.typeRef,
  payload: Templates.encodePayload(template, payload),
  createdAt: payableFrom
})

type Distribution = Templates.Payload<typeof Templates.Distribution>
const distribution = (other: Partial<Distribution> = {}, contractId = "00d1") =>
  contract(contractId, Templates.Distribution, {
    venue,
    instrument,
    registrar,
    distributionId: "dist-1",
    fund: null,
    month: "2026-01",
    recordDate: Date.of("2026-01-31"),
    payableFrom,
    pointCids: ["00aa"],
    rate: decimal("0.3"),
    payout: "cash",
    payoutPrice: null,
    linesHash: "cd".repeat(32),
    lineCount: 1,
    totals: {
      entitlement: decimal("10"),
      carryIn: Decimal.zero,
      gross: decimal("10"),
      equalisation: Decimal.zero,
      withheld: decimal("3"),
      net: decimal("7"),
      carryOut: Decimal.zero,
      payoutUnits: Decimal.zero
    },
    sealed: true,
    open: true,
    ...other
  })

type Line = Templates.Payload<typeof Templates.DistributionLine>
const line = (number: number, other: Partial<Line> = {}) =>
  contract(`00e${String(number).padStart(3, "0")}`, Templates.DistributionLine, {
    venue,
    distributionId: "dist-1",
    lineId: `dist-1.${number}`,
    instrument,
    registrar,
    holder: alice,
    custodian: null,
    units: decimal("1000"),
    gross: decimal("10"),
    withheld: decimal("3"),
    net: decimal("7"),
    payoutUnits: null,
    waits: false,
    ...other
  })

const ofUnits = { payoutUnits: decimal("7") }
const inUnits = { payout: "units", payoutPrice: Decimal.one } as const

type Credential = Templates.Payload<typeof Templates.Credential>
const credential = (contractId: string, other: Partial<Credential> = {}) =>
  contract(contractId, Templates.Credential, {
    issuer: venue,
    holder: alice,
    registrar,
    instrumentId: instrument.id,
    credentialId: "credential",
    claims: [],
    validFrom: null,
    validUntil: null,
    ...other
  })

const configuration = contract("00c0", Templates.InstrumentConfiguration, {
  registrar,
  provider: venue,
  issuer: bank,
  instrument,
  defaultIdentifier: { source: "registrar", id: "FUND-A", scheme: "internal" },
  additionalIdentifiers: [],
  holderRequirements: [],
  issuerRequirements: []
})

const payment = (paid: string, paidOn = "2026-02-03") => ({
  paid,
  reference: `bank-${paid}`,
  paidOn: Date.of(paidOn)
})

const plan = (
  payments: Deliveries.Payments = "as-delivered",
  policy: Policy.Policy = Policy.acceptAll
) => Deliveries.plan({ policy, payments })

const acts = (
  plan: World.Plan,
  contracts: ReadonlyArray<Contract>,
  now: Instant.Instant = payableFrom,
  by: Party.Party = registrar
) => plan({ party: by, now, contracts: new Map(contracts.map((one) => [one.contractId, one])) })

/** Arguments of the deliveries, by the line's contract. */
const delivered = (...args: Parameters<typeof acts>) =>
  acts(...args).flatMap(({ change }) =>
    change.commands.map((command) => {
      if (command._tag !== "Exercise") throw new Error(command._tag)
      const read = Templates.decodeArgument(Templates.DistributionLine, "Deliver", command.arg)
      return { line: command.contractId, ...Result.getOrThrow(read) }
    })
  )

const none = { credentialCid: null, configurationCid: null, evidence: null }

describe("a registrar's program", () => {
  it("delivers cash with the payment of its line, else with that of its distribution", () => {
    const payments = [payment("dist-1"), payment("dist-1.2")]
    expect(delivered(plan(payments), [distribution(), line(1), line(2, { holder: bob })])).toEqual([
      {
        ...none,
        line: "00e001",
        distributionCid: "00d1",
        evidence: { reference: "bank-dist-1", paidOn: "2026-02-03" }
      },
      {
        ...none,
        line: "00e002",
        distributionCid: "00d1",
        evidence: { reference: "bank-dist-1.2", paidOn: "2026-02-03" }
      }
    ])
  })

  it("names the day and the line itself where a demo pays as it delivers", () => {
    expect(delivered(plan(), [distribution(), line(1)])).toMatchObject([
      { evidence: { reference: "dist-1.1", paidOn: "2026-02-03" } }
    ])
  })

  it("delivers units to a credential of the line's holder, with the instrument's configuration", () => {
    const contracts = [
      distribution(inUnits),
      line(1, ofUnits),
      credential("00f1", { holder: bob }),
      credential("00f2", { issuer: bank }),
      credential("00f3", { instrumentId: "FUND-B" }),
      credential("00f4", { validUntil: payableFrom }),
      credential("00f5"),
      configuration
    ]
    expect(delivered(plan([]), contracts)).toEqual([
      {
        line: "00e001",
        distributionCid: "00d1",
        credentialCid: "00f5",
        configurationCid: "00c0",
        evidence: null
      }
    ])
  })

  it.each([
    ["all of which is withheld", {}, { withheld: decimal("10"), net: Decimal.zero }],
    [
      "of units, all of which is withheld",
      inUnits,
      { withheld: decimal("10"), net: Decimal.zero, payoutUnits: Decimal.zero }
    ],
    ["of a rebasing instrument", { payout: "none" } as const, {}]
  ])("delivers a line %s with neither credential nor evidence", (_, terms, figures) => {
    expect(delivered(plan([]), [distribution(terms), line(1, figures)])).toEqual([
      { ...none, line: "00e001", distributionCid: "00d1" }
    ])
  })

  const before = Instant.of("2026-02-02T23:59:59.999999Z")
  const waiting: ReadonlyArray<
    readonly [
      what: string,
      contracts: ReadonlyArray<Contract>,
      plan?: World.Plan,
      now?: Instant.Instant,
      by?: Party.Party
    ]
  > = [
    ["while it waits", [distribution(), line(1, { waits: true })]],
    ["while its distribution is closed", [distribution({ open: false }), line(1)]],
    ["before its distribution is sealed", [distribution({ sealed: false }), line(1)]],
    ["before it is payable", [distribution(), line(1)], plan(), before],
    ["without its distribution", [line(1)]],
    ["by another's distribution", [distribution({ distributionId: "dist-2" }), line(1)]],
    ["by another venue's distribution", [distribution({ venue: bank }), line(1)]],
    [
      "by another instrument's distribution",
      [distribution({ instrument: { ...instrument, id: "FUND-B" } }), line(1)]
    ],
    ["of another registrar", [distribution(), line(1)], plan(), payableFrom, bank],
    ["of cash that was not paid", [distribution(), line(1)], plan([payment("dist-1.2")])],
    [
      "of cash that is to be paid on a later day",
      [distribution(), line(1)],
      plan([payment("dist-1", "2026-02-04")])
    ],
    ["of units without a credential", [distribution(inUnits), line(1, ofUnits)]],
    [
      "that the policy does not name",
      [distribution(), line(1)],
      plan("as-delivered", { accept: ["dist-2", "dist-1.2"] })
    ],
    [
      "that the policy rejects",
      [distribution(), line(1)],
      plan("as-delivered", { reject: ["dist-1"] })
    ]
  ]
  it.each(waiting.map(([what, ...members]) => [what, members] as const))(
    "never delivers a line %s",
    (_, [contracts, planned = plan(), now, by]) => {
      expect(acts(planned, contracts, now, by)).toEqual([])
    }
  )

  it("takes a payment from the day on that has begun in UTC+14", () => {
    const planned = plan([payment("dist-1", "2026-02-04")])
    const at = (time: string) => acts(planned, [distribution(), line(1)], Instant.of(time))
    expect(at("2026-02-03T09:59:59.999999Z")).toEqual([])
    expect(at("2026-02-03T10:00:00Z")).toHaveLength(1)
  })

  it("delivers 40 lines at once, and each by itself where the ledger refuses them together", () => {
    const lines = Array.from({ length: 85 }, (_, index) => line(85 - index))
    const all = acts(plan(), [distribution(), ...lines])
    expect(all.map(({ change }) => change.commands.length).toSorted((a, b) => a - b)).toEqual([
      5, 40, 40
    ])
    for (const { change, parts } of all) {
      expect(parts?.flatMap((part) => part.change.commands)).toEqual(change.commands)
      expect(change.notBefore).toBe(payableFrom)
    }
    const ids = all.flatMap(({ change, parts = [] }) => [
      change.commandId,
      ...parts.map((part) => part.change.commandId)
    ])
    expect(new Set(ids).size).toBe(88)
    const [alone] = acts(plan(), [distribution(), line(7)])
    expect(ids).toContain(alone?.change.commandId)
  })

  it("names the same lines by the same command, in whatever order it sees them", () => {
    const idsOf = (...lines: ReadonlyArray<Contract>) =>
      acts(plan(), [distribution(), ...lines]).map(({ change }) => change.commandId)
    expect(idsOf(line(1), line(2))).toEqual(idsOf(line(2), line(1)))
    expect(idsOf(line(1), line(2))).not.toEqual(idsOf(line(1), line(3)))
  })

  it("keeps the blocks of other lines while some are delivered", () => {
    const lines = Array.from({ length: 81 }, (_, index) => line(index + 1))
    const idsOf = (some: ReadonlyArray<Contract>) =>
      acts(plan(), [distribution(), ...some]).map(({ change }) => change.commandId)
    expect(idsOf(lines.slice(3))).toEqual(expect.arrayContaining(idsOf(lines).slice(1)))
  })

  it("does it as a part of its duty", () => {
    const duty = RegistrarBot.plan({
      instruments: [],
      policy: Policy.acceptAll,
      payments: "as-delivered"
    })
    expect(acts(duty, [distribution(), line(1)])).toMatchObject([{ name: "deliver-lines" }])
    const without = RegistrarBot.plan({ instruments: [], policy: Policy.acceptAll })
    expect(acts(without, [distribution(), line(1)])).toEqual([])
  })
})

describe("a person tells", () => {
  const duty = (actor: Duties.Actor, ...words: ReadonlyArray<string>) =>
    Result.flatMap(Flags.parse([actor, ...words]), (flags) => Duties.read(actor, words[0], flags))

  it("the registrar's program to deliver one line with its payment", () => {
    const read = duty(
      "registrar",
      "deliver",
      ...["--line-id", "dist-1.2", "--reference", "E2E-1", "--paid-on", "2026-02-02"]
    )
    const once = Result.getOrThrow(read)
    if (once.kind !== "once") throw new Error(once.kind)
    expect(delivered(once.plan, [distribution(), line(1), line(2)])).toMatchObject([
      { line: "00e002", evidence: { reference: "E2E-1", paidOn: "2026-02-02" } }
    ])
  })

  it.each([
    ["without a line", []],
    ["with a payment of no day", ["--line-id", "dist-1.2", "--reference", "E2E-1"]],
    [
      "with a payment of a day that is none",
      ["--line-id", "dist-1.2", "--reference", "E2E-1", "--paid-on", "2026-02-30"]
    ]
  ])("never the registrar's program to deliver %s", (_, flags) => {
    expect(Result.isFailure(duty("registrar", "deliver", ...flags))).toBe(true)
  })

  it("a holder's wallet to show the lines that were delivered to it", () => {
    const delivered = (contractId: string, holder: Party.Party) =>
      contract(contractId, Templates.DeliveredLine, {
        venue,
        distributionId: "dist-1",
        lineId: "dist-1.1",
        instrument,
        registrar,
        holder,
        custodian: null,
        units: decimal("1000"),
        gross: decimal("10"),
        withheld: decimal("3"),
        net: decimal("7"),
        payoutUnits: null,
        evidence: { reference: "E2E-1", paidOn: Date.of("2026-02-03") },
        holdingCid: null,
        deliveredAt: payableFrom
      })
    const shown = Result.getOrThrow(duty("investor", "payouts"))
    if (shown.kind !== "show") throw new Error(shown.kind)
    const contracts = [delivered("00d5", alice), delivered("00d6", bob)]
    expect(
      shown.show({
        party: alice,
        now: payableFrom,
        contracts: new Map(contracts.map((one) => [one.contractId, one]))
      })
    ).toEqual([
      {
        contractId: "00d5",
        lineId: "dist-1.1",
        instrumentId: "FUND-A",
        registrar,
        gross: "10",
        withheld: "3",
        net: "7",
        payoutUnits: null,
        reference: "E2E-1",
        paidOn: "2026-02-03"
      }
    ])
    expect(
      Wallet.payouts({ party: party("carol"), now: payableFrom, contracts: new Map() })
    ).toEqual([])
  })
})
