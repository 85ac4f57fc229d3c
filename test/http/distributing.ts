/** A fund that distributes monthly, over HTTP: its venue, programs of its outside parties at the door, and a clock the test moves. */
import { type settingsDefaults, Workers } from "@bursar/engine-core"
import { Decimal, Instant, type Party, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import {
  AttestorBot,
  type Deliveries,
  FundBot,
  OracleBot,
  RegistrarBot,
  Wallet,
  type World
} from "@bursar/storage-adapters/wallets"
import { Layer, Result } from "effect"
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

/** The same by an index: its units hold the income, and nothing is withheld or paid. */
export const rebasing = {
  ...accumulating,
  valuation: "rebasing",
  distribution: { ...accumulating.distribution, withholding: 0 }
} as const

export type Json = Readonly<Record<string, unknown>>

/** Members of a line; numbers as their text without trailing zeros, what is null as `null`. */
export type Figures = Readonly<Record<string, string>>

export interface Fund {
  readonly venue: Wallets.WholeVenue
  readonly registrar: Wallets.Wallet
  readonly wallet: (name: string) => Wallets.Wallet
  /** Sets the clock, and runs the due work of engine and programs until none is left. */
  readonly at: (instant: string) => Promise<void>
  /** Runs every program until none has an act left; returns the names of their acts. */
  readonly work: () => Promise<ReadonlyArray<string>>
  /** Gives the registrar evidence of cash payments. */
  readonly pays: (payments: Deliveries.Payments) => void
  /** Keeps the registrar's program from delivering, or lets it deliver again. */
  readonly delivers: (policy: RegistrarBot.Options["policy"]) => void
  /** Publishes a point by the oracle's program; of `fund-a` unless another instrument is named. */
  readonly publishes: (
    quote: Omit<OracleBot.Quote, "instrumentId" | "value" | "valuationTime" | "withholdingRate"> & {
      readonly instrumentId?: string
      readonly value: string
      readonly valuationTime: string
      readonly withholdingRate?: string
    }
  ) => Promise<void>
  readonly joins: (name: string) => Promise<void>
  /** A party with a wallet that is no holder, or not yet. */
  readonly arrives: (name: string) => Promise<void>
  /** Names the successor of a holder, which becomes one under its own name. */
  readonly succeeds: (name: string, successor: string) => Promise<void>
  /** Mints units to a holder by its credential; of `fund-a` unless another instrument is named. */
  readonly mints: (name: string, units: string, instrumentId?: string) => Promise<void>
  /** Offers units from a wallet to another one, which takes them. */
  readonly moves: (moves: {
    readonly from: string
    readonly to: string
    readonly units: string
    readonly instrumentId?: string
  }) => Promise<void>
  /** Replaces terms of an instrument's first policy version, approved by another person. */
  readonly sets: (instrumentId: string, terms: Json) => Promise<void>
  /** A write that has to succeed, approved where it must be; its result. */
  readonly writes: (path: string, body: unknown, as?: string) => Promise<Json>
  /** A call without approvals: its status and its JSON. */
  readonly calls: (
    path: string,
    body: unknown,
    as?: string
  ) => Promise<{ readonly status: number; readonly value: Json }>
  /** Lines of a distribution by their payee, each number of them digit by digit. */
  readonly lines: (distributionId: string) => Promise<Readonly<Record<string, Figures>>>
  /** The value of a read that has to succeed. */
  readonly reads: <A = Json>(path: string, as?: string, claims?: Json) => Promise<A>
  readonly close: () => Promise<void>
}

/**
 * Opens the fund on the last day of June; the ids of its holders are their names. A
 * successor is admitted where its predecessor is.
 */
export const open = async (
  options: {
    readonly terms?: Json
    /** Terms of each instrument; `fund-a` alone unless given. */
    readonly instruments?: Readonly<Record<string, Json>>
    readonly holders?: ReadonlyArray<string>
    /** Instruments of a holder that is not admitted to each of them. */
    readonly admissions?: Readonly<Record<string, ReadonlyArray<string>>>
    readonly settings?: Partial<typeof settingsDefaults>
    readonly from?: string
    /** Another port beside the clock, such as the readers of statements. */
    readonly plugged?: Layer.Layer<never>
    /** Terms of the instruments whose orders the oracle's program prices. */
    readonly priced?: ReadonlyArray<AttestorBot.Terms>
  } = {}
): Promise<Fund> => {
  const clock = WallClock.start(options.from ?? "2026-06-30T12:00:00Z")
  const venue = await Wallets.open({
    plugged: Layer.merge(clock.plugged, options.plugged ?? Layer.empty),
    ...(options.settings === undefined ? {} : { settings: options.settings })
  })
  const instruments = options.instruments ?? { "fund-a": options.terms ?? par }
  const instrumentIds = Object.keys(instruments)
  const admittedTo = (name: string) => options.admissions?.[name] ?? instrumentIds
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
    instruments: instrumentIds.map((instrumentId) => ({
      instrumentId,
      provider: venue.party,
      issuer: wallet("fund").party,
      holderRequirements: [],
      issuerRequirements: []
    }))
  }
  const plans = (): ReadonlyArray<readonly [string, World.Plan]> => [
    [
      "oracle",
      OracleBot.plan({ quotes: () => quotes, audience, instruments: options.priced ?? [] })
    ],
    ["oracle", AttestorBot.plan({ policy, instruments: options.priced ?? [] })],
    // The registrar's program, with a policy of its own for the delivery of lines.
    ["registrar", RegistrarBot.plan({ ...registers, policy: deliveries, payments })],
    ["fund", FundBot.plan({ policy })],
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
    expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
    return ended["result"] as Json
  }
  const signs = async (holderId: string) => {
    await work()
    await succeeds(`/v1/holders/${holderId}/accepted-terms:accept`, {})
    await work()
  }
  const arrives: Fund["arrives"] = async (name) => {
    if (wallets[name] !== undefined) return
    wallets[name] = await venue.wallet(name)
    names.push(name)
  }
  const joins: Fund["joins"] = async (name) => {
    await arrives(name)
    const holderId = name
    await succeeds(
      "/v1/holders:onboard",
      {
        holderId,
        party: wallet(name).party,
        taxResidences: [],
        admissions: admittedTo(name).map((instrumentId) => ({ instrumentId }))
      },
      "app"
    )
    await signs(holderId)
  }
  for (const [instrumentId, terms] of Object.entries(instruments)) {
    await succeeds("/v1/instruments", {
      ...bodyOf(),
      instrumentId,
      registrar: registrar.party,
      oracle: wallet("oracle").party,
      ...terms
    })
    await succeeds(`/v1/instruments/${instrumentId}/admission-consent:propose`, {
      fund: wallet("fund").party,
      terms: "terms"
    })
  }
  await work()
  for (const name of options.holders ?? []) await joins(name)
  let minted = 0
  return {
    venue,
    registrar,
    wallet,
    work,
    joins,
    arrives,
    at: async (instant) => {
      clock.set(instant)
      // Two rounds, since an act of a program in the first may make work for the engine in the
      // second.
      for (const _ of ["engine", "programs"]) {
        await venue.run(Workers.runOnce("schedules"))
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
        instrumentId: "fund-a",
        ...quote,
        value: Decimal.of(value),
        valuationTime: Instant.of(valuationTime),
        ...(withholdingRate === undefined ? {} : { withholdingRate: Decimal.of(withholdingRate) })
      })
      await work()
    },
    succeeds: async (name, successor) => {
      await arrives(successor)
      await succeeds(`/v1/holders/${name}:register-successor`, {
        party: wallet(successor).party,
        successorId: successor
      })
      await signs(successor)
      for (const instrumentId of admittedTo(name)) {
        await succeeds(`/v1/holders/${successor}/admissions`, { instrumentId })
      }
      await work()
    },
    writes: succeeds,
    sets: async (instrumentId, terms) => {
      const response = await Venue.send(venue, {
        method: "POST",
        path: `/v1/instruments/${instrumentId}/policy:set`,
        as: await Venue.bearer(["operator"]),
        body: JSON.stringify(terms),
        headers: { "idempotency-key": crypto.randomUUID(), "if-match": '"1"' }
      })
      const { actionKey } = await Venue.json<Json>(response)
      const path = `/v1/approvals/${String(actionKey)}:approve`
      const as = await Venue.bearer(["approver"])
      const headers = { "idempotency-key": crypto.randomUUID() }
      const signed = await Venue.send(venue, { method: "POST", path, as, headers })
      expect([response.status, signed.status]).toEqual([202, 202])
      await venue.settle()
    },
    moves: async ({ from, to, units, instrumentId = "fund-a" }) => {
      const sender = wallet(from)
      const amount = Decimal.of(units)
      const holding = (await sender.sees(Templates.Holding)).find(
        ({ payload: held }) =>
          held.owner === sender.party &&
          held.instrument.id === instrumentId &&
          held.amount >= amount
      )
      if (holding === undefined) throw new Error(`${from} has no holding of ${units}`)
      await sender.acts(
        Templates.exercise(Templates.Holding, holding.contractId, "OfferTransfer", {
          receiver: wallet(to).party,
          amount,
          executeBefore: Instant.of("2099-01-01T00:00:00Z")
        })
      )
      await work()
    },
    mints: async (name, units, instrumentId = "fund-a") => {
      const credential = await credentialOf(registrar, wallet(name).party, instrumentId)
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
    lines: async (distributionId) => {
      const { text } = await venue.read(`/v1/distributions/${distributionId}/lines?limit=1000`)
      const { value } = Result.getOrThrow(PlainJson.parse(text)) as unknown as {
        readonly value: ReadonlyArray<Readonly<Record<string, PlainJson.Plain>>>
      }
      return Object.fromEntries(
        value.map((line) => [
          String(line["holderId"] ?? line["party"]),
          Object.fromEntries(Object.entries(line).map(([member, value]) => [member, textOf(value)]))
        ])
      )
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

const textOf = (value: PlainJson.Plain): string =>
  PlainJson.isPlainNumber(value)
    ? Decimal.formatPlain(Decimal.of(value.text))
    : typeof value === "string"
      ? value
      : JSON.stringify(value)

const credentialOf = async (
  registrar: Wallets.Wallet,
  holder: Party.Party,
  instrumentId: string
): Promise<string> => {
  const found = (await registrar.sees(Templates.Credential)).find(
    ({ payload }) => payload.holder === holder && payload.instrumentId === instrumentId
  )
  if (found === undefined) throw new Error("the holder has no credential")
  return found.contractId
}
