/** A fund that distributes monthly, over HTTP: its venue, programs of its outside parties at the door, and a clock the test moves. */
import { ScheduleRunner, type settingsDefaults } from "@bursar/engine-core"
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import {
  type Deliveries,
  OracleBot,
  RegistrarBot,
  Wallet,
  type World
} from "@bursar/storage-adapters/simulated-ledger/actors"
import { Effect } from "effect"
import { expect } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Venue from "./venue.ts"
import * as WallClock from "./wallClock.ts"
import * as Wallets from "./wallets.ts"

export const policy = { accept: "all" } as const
const documentHash = "ab".repeat(32)

/** Terms of a par fund that pays cash on the third of the month after. */
export const par = {
  valuation: "par",
  parValue: 1,
  holderCap: 100,
  distribution: {
    schedule: "monthly",
    withholding: 0.15,
    payoutDecimals: 2,
    payout: "cash",
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 3 }
  }
} as const

/** The same by the price of its units, paid in units. */
export const accumulating = {
  ...par,
  valuation: "accumulating",
  parValue: null,
  distribution: { ...par.distribution, payout: "units" }
} as const

export type Json = Readonly<Record<string, unknown>>

export interface Fund {
  readonly venue: Wallets.WholeVenue
  readonly registrar: Wallets.Wallet
  readonly wallet: (name: string) => Wallets.Wallet
  /** Sets the clock, and lets engine and programs do what is due until all rest. */
  readonly at: (instant: string) => Promise<void>
  /** Lets every program do what it finds to do, until none finds anything; the names of their acts. */
  readonly work: () => Promise<ReadonlyArray<string>>
  /** Gives the registrar evidence of cash payments. */
  readonly pays: (payments: Deliveries.Payments) => void
  /** Keeps the registrar's program from delivering, or lets it deliver again. */
  readonly delivers: (policy: RegistrarBot.Options["policy"]) => void
  /** Publishes a point by the oracle's program. */
  readonly publishes: (
    quote: Omit<OracleBot.Quote, "instrumentId" | "value" | "valuationTime" | "withholdingRate"> & {
      readonly value: string
      readonly valuationTime: string
      readonly withholdingRate?: string
    }
  ) => Promise<void>
  readonly joins: (name: string) => Promise<void>
  /** Mints units to a holder by its credential. */
  readonly mints: (name: string, units: string) => Promise<void>
  /** A call without approvals: its status and its JSON. */
  readonly calls: (
    path: string,
    body: unknown,
    as?: string
  ) => Promise<{ readonly status: number; readonly value: Json }>
  /** The value of a read that has to succeed. */
  readonly reads: <A = Json>(path: string, as?: string, claims?: Json) => Promise<A>
  readonly close: () => Promise<void>
}

/** Opens the fund on the last day of June; the ids of its holders are their names. */
export const open = async (
  of: {
    readonly terms?: Json
    readonly holders?: ReadonlyArray<string>
    readonly settings?: Partial<typeof settingsDefaults>
    readonly from?: string
  } = {}
): Promise<Fund> => {
  const clock = WallClock.start(of.from ?? "2026-06-30T12:00:00Z")
  const venue = await Wallets.open({
    plugged: clock.plugged,
    ...(of.settings === undefined ? {} : { settings: of.settings })
  })
  const wallets: Record<string, Wallets.Wallet> = {}
  for (const name of ["registrar", "fund", "oracle"]) wallets[name] = await venue.wallet(name)
  const wallet = (name: string): Wallets.Wallet => {
    const found = wallets[name]
    if (found === undefined) throw new Error(`no party is called ${name}`)
    return found
  }
  const registrar = wallet("registrar")
  const names: Array<string> = []
  const quotes: Array<OracleBot.Quote> = []
  let payments: Deliveries.Payments = "as-delivered"
  let deliveries: RegistrarBot.Options["policy"] = policy
  const audience = {
    venue: venue.party,
    fund: wallet("fund").party,
    registrar: registrar.party,
    attestors: []
  }
  const registers = {
    policy,
    instruments: [
      {
        instrumentId: "fund-a",
        provider: venue.party,
        issuer: wallet("fund").party,
        holderRequirements: [],
        issuerRequirements: []
      }
    ]
  }
  const plans = (): ReadonlyArray<readonly [string, World.Plan]> => [
    ["oracle", OracleBot.plan({ quotes: () => quotes, audience })],
    // The registrar's program, with a policy of its own for the delivery of lines.
    ["registrar", RegistrarBot.plan({ ...registers, policy: deliveries, payments })],
    ...names.map((name) => [name, Wallet.plan({ policy, terms: documentHash })] as const)
  ]
  const work: Fund["work"] = async () => {
    const done: Array<string> = []
    for (let round = 0; round < 50; round++) {
      const before = done.length
      for (const [name, plan] of plans()) {
        const act = await wallet(name).does(plan)
        if (act !== "nothing") done.push(`${name} ${act}`)
      }
      if (done.length === before) return done
    }
    throw new Error(`the programs do not come to rest: ${done.join(", ")}`)
  }
  const succeeds = async (path: string, body: unknown, as = "operator"): Promise<Json> => {
    const ended = await venue.write(path, body, as)
    expect(ended).toMatchObject({ state: "succeeded" })
    return ended
  }
  const joins: Fund["joins"] = async (name) => {
    wallets[name] ??= await venue.wallet(name)
    names.push(name)
    const holderId = name
    await succeeds(
      "/v1/holders:onboard",
      {
        holderId,
        party: wallet(name).party,
        taxResidences: [],
        admissions: [{ instrumentId: "fund-a" }]
      },
      "app"
    )
    await work()
    await succeeds(`/v1/holders/${holderId}/accepted-terms:accept`, {})
    await work()
  }
  await succeeds("/v1/instruments", {
    ...bodyOf(),
    registrar: registrar.party,
    oracle: wallet("oracle").party,
    ...(of.terms ?? par)
  })
  await succeeds("/v1/instruments/fund-a/admission-consent:propose", {
    fund: wallet("fund").party,
    terms: "terms"
  })
  await work()
  for (const name of of.holders ?? []) await joins(name)
  let minted = 0
  return {
    venue,
    registrar,
    wallet,
    work,
    joins,
    at: async (instant) => {
      clock.set(instant)
      // Twice: what a program does in the first round may be due to the engine in the second.
      for (const _ of ["engine", "programs"]) {
        await venue.run(Effect.flatMap(ScheduleRunner, ({ runOnce }) => runOnce))
        await venue.settle()
        await work()
      }
    },
    pays: (made) => {
      payments = made
    },
    delivers: (by) => {
      deliveries = by
    },
    publishes: async ({ value, valuationTime, withholdingRate, ...quote }) => {
      quotes.push({
        metric: "income",
        ...quote,
        instrumentId: "fund-a",
        value: Decimal.of(value),
        valuationTime: Instant.of(valuationTime),
        ...(withholdingRate === undefined ? {} : { withholdingRate: Decimal.of(withholdingRate) })
      })
      await work()
    },
    mints: async (name, units) => {
      const credential = await credentialOf(registrar, wallet(name).party)
      await registrar.acts(
        Templates.exercise(Templates.Credential, credential, "Receive", {
          amount: Decimal.of(units),
          reference: { kind: "opening", id: `opening-${++minted}` },
          configurationCid: null
        })
      )
    },
    calls: async (path, body, as = "operator") => {
      const response = await Venue.send(venue, {
        method: "POST",
        path,
        as: await Venue.bearer([as]),
        body: JSON.stringify(body),
        headers: { "idempotency-key": crypto.randomUUID() }
      })
      return { status: response.status, value: await Venue.json<Json>(response) }
    },
    reads: async <A>(path: string, as = "operator", claims: Json = {}): Promise<A> => {
      const { status, text, value } = await venue.read(path, as, claims)
      expect({ status, text: status === 200 ? "" : text }).toEqual({ status: 200, text: "" })
      return value as A
    },
    close: async () => {
      await venue.close()
      clock.stop()
    }
  }
}

const credentialOf = async (registrar: Wallets.Wallet, holder: Party.Party): Promise<string> => {
  const found = (await registrar.sees(Templates.Credential)).find(
    ({ payload }) => payload.holder === holder
  )
  if (found === undefined) throw new Error("the holder has no credential")
  return found.contractId
}
