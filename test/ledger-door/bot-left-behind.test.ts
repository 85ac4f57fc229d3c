/** A party's program whose last offset the ledger has pruned while one of its acts is under way. */
import { Offset, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { expect } from "vitest"
import { DoorRefused } from "#adapters/ledger/wallets/DoorClient.ts"
import { Bot, type PartySession, type World } from "#adapters/ledger/wallets/index.ts"

const party = Party.of("holder::1220aa")

const act: World.Act = {
  name: "an act",
  about: "00",
  change: {
    commandId: "act-1",
    commands: [
      Templates.exercise(Templates.DistributionLine, "00", "Deliver", {
        distributionCid: "01",
        credentialCid: null,
        configurationCid: null,
        evidence: null
      })
    ]
  }
}

const pruned = new DoorRefused({
  status: 400,
  code: "PARTICIPANT_PRUNED_DATA_ACCESSED",
  cause: "pruned",
  category: 9,
  context: {}
})

// Switched off to see it red: the acts of a bot as a map of the reading that began them.
it.live("performs that act once, although the active contracts are read again meanwhile", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const messages: Array<Bot.Message["_tag"]> = []
    let submissions = 0
    let readings = 0
    const session: PartySession.PartySession = {
      party,
      userId: "holder",
      ledgerEnd: Effect.succeed(Offset.of(1)),
      acs: () => Effect.succeed([]),
      updates: () =>
        ++readings === 1
          ? Stream.fromEffect(Effect.andThen(Deferred.await(begun), Effect.fail(pruned)))
          : Stream.never,
      submit: () =>
        Effect.gen(function* () {
          submissions += 1
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(goOn)
          return { offset: Offset.of(2), updateId: "u", changes: [], duplicate: false }
        })
    }
    const acted = yield* Deferred.make<void>()
    const bot = yield* Effect.forkChild(
      Bot.run({
        session,
        plan: () => [act],
        report: ({ _tag }) => {
          messages.push(_tag)
          if (_tag === "Acted") return Deferred.succeed(acted, undefined)
          // The second reading of the active contracts.
          return messages.filter((tag) => tag === "Ready").length === 2
            ? Deferred.succeed(goOn, undefined)
            : Effect.void
        }
      })
    )
    yield* Deferred.await(acted)
    yield* Fiber.interrupt(bot)
    expect(messages).toEqual(["Ready", "Ready", "Acted"])
    expect(submissions).toBe(1)
  })
)
