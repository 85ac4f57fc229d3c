/** A venue and its outside parties at one door; the test plays the venue, by the venue's own token. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Fiber } from "effect"
import { Bot, PartySession, SigningKey, World } from "#adapters/ledger/wallets/index.ts"
import { open, type Opened } from "./opened.ts"
import { wanted } from "../waiting.ts"

type Sent = readonly [Templates.Command, ...ReadonlyArray<Templates.Command>]

export interface Scene {
  readonly door: Opened
  readonly venue: PartySession.PartySession
  readonly parties: Record<"venue" | "registrar" | "fund" | "oracle" | "attestor", Party.Party>
  readonly holder: { readonly party: Party.Party; readonly key: SigningKey.SigningKey }
  readonly tokens: Record<string, string>
  /** Submits as the venue. */
  readonly act: (...commands: Sent) => Promise<PartySession.CommittedChange>
  readonly session: (
    name: string,
    more?: Partial<PartySession.Options>
  ) => Promise<PartySession.PartySession>
  readonly start: (
    name: string,
    plan: World.Plan,
    more?: Partial<PartySession.Options>
  ) => Promise<Working>
  /** Waits until the venue sees a contract of the template that fits. */
  readonly await: <T extends Templates.Template>(
    template: T,
    fits?: (payload: Templates.Payload<T>) => boolean
  ) => Promise<World.FoundContract<T>>
  readonly close: () => Promise<void>
}

export interface Working {
  readonly messages: ReadonlyArray<Bot.Message>
  readonly stop: () => Promise<void>
}

export const instrumentId = "BOND-1"
export const cashId = "EUR"
export const digest = "ab".repeat(32)
export const soon = (days: number): Instant.Instant =>
  Instant.fromEpochMillis(Date.now() + days * 86_400_000)

export const set = async (options: Parameters<typeof open>[0] = {}): Promise<Scene> => {
  const door = await open(options)
  const key = SigningKey.fromSeed(Buffer.alloc(32, 7))
  const added = Object.fromEntries(
    await Promise.all(
      ["venue", "registrar", "fund", "oracle", "attestor"].map(
        async (name) => [name, await door.add(name)] as const
      )
    )
  )
  const holder = await door.add("holder", key.publicKey)
  const tokens: Record<string, string> = Object.fromEntries(
    Object.entries({ ...added, holder }).map(([name, { token }]) => [name, token])
  )
  const partyOf = (name: string): Party.Party => {
    const found = added[name]
    if (found === undefined) throw new Error(name)
    return found.party
  }
  const session: Scene["session"] = (name, more = {}) =>
    Effect.runPromise(
      PartySession.open({
        url: door.url,
        token: Effect.sync(() => tokens[name] ?? ""),
        ...(name === "holder" ? { key } : {}),
        ...more
      })
    )
  const venue = await session("venue")
  let counted = 0
  const world = async () => {
    const offset = await Effect.runPromise(venue.ledgerEnd)
    const contracts = await Effect.runPromise(venue.acs(offset))
    return {
      party: venue.party,
      now: soon(0),
      contracts: new Map(contracts.map((one) => [one.contractId, one]))
    }
  }
  return {
    door,
    venue,
    parties: {
      venue: partyOf("venue"),
      registrar: partyOf("registrar"),
      fund: partyOf("fund"),
      oracle: partyOf("oracle"),
      attestor: partyOf("attestor")
    },
    holder: { party: holder.party, key },
    tokens,
    act: (...commands) =>
      Effect.runPromise(venue.submit({ commandId: `venue:${++counted}`, commands })),
    session,
    start: async (name, plan, more) => {
      const opened = await session(name, more)
      const messages: Array<Bot.Message> = []
      const fiber = Effect.runFork(
        Bot.run({
          session: opened,
          plan,
          report: (one) => Effect.sync(() => void messages.push(one))
        })
      )
      await wanted(async () => messages.find(({ _tag }) => _tag === "Ready"))
      return {
        messages,
        stop: () => Effect.runPromise(Effect.asVoid(Fiber.interrupt(fiber)))
      }
    },
    await: (template, fits = () => true) =>
      wanted(async () => World.find(await world(), template).find(({ payload }) => fits(payload))),
    close: () => door.close()
  }
}

export const instrument = ({ parties }: Scene): Templates.Asset => ({
  admin: parties.registrar,
  id: instrumentId
})
export const cash = ({ parties }: Scene): Templates.Asset => ({
  admin: parties.registrar,
  id: cashId
})

export const proposeMarket = (scene: Scene, attestors: ReadonlyArray<Party.Party>) => {
  const { venue, fund, registrar, oracle } = scene.parties
  return scene.act(
    Templates.create(Templates.PrimaryMarketProposal, {
      venue,
      fund,
      registrar,
      oracle,
      attestors,
      required: attestors.length,
      marketId: "M1",
      instrument: instrument(scene),
      cash: cash(scene),
      until: null,
      accepted: []
    })
  )
}

export const claim = (
  scene: Scene,
  subscription: {
    readonly subscriptionId: string
    readonly cash: string
    readonly attestors: ReadonlyArray<Party.Party>
  }
) =>
  scene.act(
    Templates.create(Templates.SubscriptionClaim, {
      venue: scene.parties.venue,
      subscriptionId: subscription.subscriptionId,
      orderId: null,
      instrument: instrument(scene),
      holder: scene.holder.party,
      custodian: null,
      fund: null,
      mode: "wire",
      currency: "EUR",
      paymentAsset: null,
      cash: Decimal.of(subscription.cash),
      feeRate: null,
      cashDecimals: null,
      oracle: scene.parties.oracle,
      cycleId: null,
      orderedUnits: null,
      attestors: subscription.attestors,
      required: subscription.attestors.length,
      attested: [],
      pointCid: null,
      price: null,
      units: null
    })
  )

export const quote = (value: string, valuationTime = "2026-01-05T16:00:00Z") => ({
  instrumentId,
  value: Decimal.of(value),
  valuationTime: Instant.of(valuationTime)
})
