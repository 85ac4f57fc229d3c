/**
 * A month's lines, delivered by the registrar's program through the door alone: each once, with
 * stops and refusals in between.
 */
import { Date as Day, Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import {
  Deliveries,
  type PartySession,
  Policy,
  Wallet,
  World
} from "#adapters/ledger/wallets/index.ts"
import { wanted } from "../waiting.ts"
import * as Story from "./story.ts"

const quiet = () => new Promise((resolve) => setTimeout(resolve, 1_500))

const found = async <T extends Templates.Template>(
  session: PartySession.PartySession,
  template: T
) => {
  const offset = await Effect.runPromise(session.ledgerEnd)
  const contracts = await Effect.runPromise(session.acs(offset))
  const world: World.World = {
    party: session.party,
    now: Story.soon(0),
    contracts: new Map(contracts.map((one) => [one.contractId, one]))
  }
  return { world, all: World.find(world, template) }
}

const countOf = async (session: PartySession.PartySession, template: Templates.Template) =>
  (await found(session, template)).all.length

const cidOf = (done: PartySession.CommittedChange, entity: string): string => {
  const made = done.changes.flatMap((change) =>
    change._tag === "Created" && change.contract.template.entity === entity
      ? [change.contract.contractId]
      : []
  )
  return made.at(-1) ?? ""
}

/** A month of cash with this many lines, all of the one holder's parties, open and payable. */
const month = async (scene: Story.Scene, count: number) => {
  const { venue } = scene.parties
  const instrument = Story.instrument(scene)
  const amount = Decimal.of("7")
  const totals = (total: number) => ({
    entitlement: Decimal.fromInteger(7 * total),
    carryIn: Decimal.zero,
    gross: Decimal.fromInteger(7 * total),
    equalisation: Decimal.zero,
    withheld: Decimal.zero,
    net: Decimal.fromInteger(7 * total),
    carryOut: Decimal.zero,
    payoutUnits: Decimal.zero
  })
  const executed = await scene.act(
    Templates.createAndExercise(
      Templates.DistributionSlot,
      { venue, instrument, lastMonth: null },
      "Execute",
      {
        distributionId: "dist-1",
        fund: null,
        month: "2026-01",
        recordDate: Day.of("2026-01-31"),
        payableFrom: Story.soon(-1),
        pointCids: ["00aa"],
        rate: Decimal.zero,
        payout: "cash",
        payoutPrice: null,
        linesHash: Story.digest
      }
    )
  )
  const [name, fingerprint] = scene.holder.party.split("::")
  const added = await scene.act(
    Templates.exercise(Templates.Distribution, cidOf(executed, "Distribution"), "AddLines", {
      expectedCount: 0,
      lines: Array.from({ length: count }, (_, index) => ({
        number: index + 1,
        holder:
          index === 0
            ? scene.holder.party
            : (`${name}${index}::${fingerprint}` as typeof scene.holder.party),
        custodian: null,
        units: amount,
        entitlement: amount,
        carryIn: Decimal.zero,
        carriedFrom: null,
        gross: amount,
        equalisation: Decimal.zero,
        rate: Decimal.zero,
        rateSource: "default" as const,
        withheld: Decimal.zero,
        net: amount,
        carryOut: Decimal.zero,
        payoutUnits: null,
        carried: null,
        waits: false
      }))
    })
  )
  const sealed = await scene.act(
    Templates.exercise(Templates.Distribution, cidOf(added, "Distribution"), "Seal", {
      lineCount: count,
      totals: totals(count)
    })
  )
  return scene.act(
    Templates.exercise(Templates.Distribution, cidOf(sealed, "Distribution"), "Open", {})
  )
}

describe("the lines of a distribution", () => {
  it("are delivered in batches, and never again by a program that starts anew", async () => {
    const scene = await Story.set()
    try {
      const plan = Deliveries.plan({ policy: Policy.acceptAll, payments: "as-delivered" })
      await month(scene, 90)
      const first = await scene.start("registrar", plan)
      await wanted(async () =>
        (await countOf(scene.venue, Templates.DeliveredLine)) === 90 ? true : undefined
      )
      expect(first.messages.filter(({ _tag }) => _tag !== "Ready")).toMatchObject([
        { _tag: "Acted" },
        { _tag: "Acted" },
        { _tag: "Acted" }
      ])
      await first.stop()
      const second = await scene.start("registrar", plan)
      await quiet()
      expect(second.messages.map(({ _tag }) => _tag)).toEqual(["Ready"])
      expect(await countOf(scene.venue, Templates.DistributionLine)).toBe(0)
      await second.stop()
      const wallet = await scene.session("holder")
      const { world } = await found(wallet, Templates.DeliveredLine)
      expect(Wallet.payouts(world)).toMatchObject([
        { lineId: "dist-1.1", net: "7", reference: "dist-1.1" }
      ])
    } finally {
      await scene.close()
    }
  })

  it("wait while the distribution is closed, and are delivered once it opens again", async () => {
    const scene = await Story.set()
    try {
      const opened = await month(scene, 3)
      const turn = (committedChange: PartySession.CommittedChange, choice: "Open" | "Close") =>
        scene.act(
          Templates.exercise(
            Templates.Distribution,
            cidOf(committedChange, "Distribution"),
            choice,
            {}
          )
        )
      const closed = await turn(opened, "Close")
      const program = await scene.start(
        "registrar",
        Deliveries.plan({ policy: Policy.acceptAll, payments: "as-delivered" })
      )
      await quiet()
      expect(await countOf(scene.venue, Templates.DistributionLine)).toBe(3)
      await turn(closed, "Open")
      await wanted(async () =>
        (await countOf(scene.venue, Templates.DeliveredLine)) === 3 ? true : undefined
      )
      expect(program.messages.filter(({ _tag }) => _tag === "Failed")).toEqual([])
      await program.stop()
    } finally {
      await scene.close()
    }
  })
})

describe("an act of several parts", () => {
  it("is done part by part where the ledger refuses it as a whole, each part once", async () => {
    const scene = await Story.set()
    try {
      const { registrar, venue, fund } = scene.parties
      const configure = (id: string, admin = registrar) =>
        Templates.create(Templates.InstrumentConfiguration, {
          registrar,
          provider: venue,
          issuer: fund,
          instrument: { admin, id },
          defaultIdentifier: { source: "registrar", id, scheme: "internal" },
          additionalIdentifiers: [],
          holderRequirements: [],
          issuerRequirements: []
        })
      const commands = [configure("a"), configure("b", fund), configure("c")] as const
      const parts: ReadonlyArray<World.Act> = commands.map((command, index) => ({
        name: "part",
        about: String(index),
        change: { commandId: `part:${index}`, commands: [command] }
      }))
      const whole: World.Act = {
        name: "whole",
        about: "all",
        change: { commandId: "whole", commands },
        parts
      }
      const program = await scene.start("registrar", () => [whole])
      await quiet()
      expect(
        program.messages.flatMap((message) =>
          message._tag === "Ready" ? [] : [`${message._tag} ${message.act.change.commandId}`]
        )
      ).toEqual(["Failed whole", "Acted part:0", "Failed part:1", "Acted part:2"])
      const { all } = await found(
        await scene.session("registrar"),
        Templates.InstrumentConfiguration
      )
      expect(all.map(({ payload }) => payload.instrument.id).toSorted()).toEqual(["a", "c"])
      await program.stop()
    } finally {
      await scene.close()
    }
  })

  it("waits for its earliest ledger time, by token and by key", async () => {
    const scene = await Story.set()
    try {
      const notBefore = Story.soon(30 / 86_400)
      for (const name of ["fund", "holder"] as const) {
        const session = await scene.session(name)
        const done = await Effect.runPromise(
          session.submit({
            commandId: `terms-${name}`,
            notBefore,
            commands: [
              Templates.create(Templates.SignedTerms, {
                venue: scene.parties.venue,
                holder: session.party,
                holderId: name,
                documentHash: Story.digest,
                signedAt: Story.soon(0)
              })
            ]
          })
        )
        const [made] = done.changes.flatMap((change) =>
          change._tag === "Created" ? [change.contract] : []
        )
        expect(made?.createdAt).toBe(notBefore)
      }
    } finally {
      await scene.close()
    }
  })
})
