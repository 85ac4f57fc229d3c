/** The laws of change: all or nothing, nothing for a refusal, and nothing used up twice. */
import { Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect } from "vitest"
import * as Probes from "../LedgerProbes.ts"
import * as Scene from "../LedgerScene.ts"
import type { Law } from "../LedgerUnderTest.ts"

const missing = "00".repeat(33)
const withdraw = (contractId: string) =>
  Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Withdraw", {})

/** A contract of the venue's alone. */
const proposed = Effect.gen(function* () {
  const scene = yield* Scene.open
  const receipt = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
  return { scene, contractId: (yield* Scene.soleCreated(receipt)).contractId }
})

export const laws: ReadonlyArray<Law> = [
  {
    id: "L8",
    name: "all commands of a submission commit, or none",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const before = yield* scene.venue.ledgerEnd
      const refused = yield* Scene.failure(
        scene.venue.submit(Scene.submission(scene, Scene.proposal(scene), withdraw(missing)))
      )
      expect(refused._tag).toBe("Refused")
      const end = yield* scene.venue.ledgerEnd
      expect(yield* Scene.active(scene.venue, end)).toEqual(
        yield* Scene.active(scene.venue, before)
      )
      expect(yield* Scene.transactions(scene.venue, { after: before, through: end })).toEqual([])
    })
  },
  {
    id: "L9",
    name: "a refusal changes nothing, takes no offset, and its commandId may be used again",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const commandId = scene.commandId()
      const good = Scene.submission(scene, Scene.proposal(scene))
      const bad = Scene.submission(scene, withdraw(missing))
      const before = yield* scene.venue.ledgerEnd
      expect(yield* Scene.failure(scene.venue.submit({ ...bad, commandId }))).toMatchObject({
        _tag: "Refused",
        code: "CONTRACT_NOT_FOUND"
      })
      expect(yield* scene.venue.ledgerEnd).toBe(before)
      const receipt = yield* scene.venue.submit({ ...good, commandId })
      expect(receipt.duplicate).toBe(false)
    })
  },
  {
    id: "L10",
    name: "a contract is consumed once, by one of two transactions",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      yield* scene.venue.submit(Scene.submission(scene, withdraw(contractId)))
      const again = yield* Scene.failure(
        scene.venue.submit(Scene.submission(scene, withdraw(contractId)))
      )
      expect(again).toMatchObject({ _tag: "Refused", contractId })
    })
  },
  {
    id: "L10",
    name: "a contract is consumed once inside one transaction",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      const twice = yield* Scene.failure(
        scene.venue.submit(Scene.submission(scene, withdraw(contractId), withdraw(contractId)))
      )
      expect(twice).toMatchObject({ _tag: "Refused", code: "CONTRACT_NOT_ACTIVE" })
    })
  },
  {
    id: "L10",
    name: "a choice's own consequences consume a contract once",
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const create = Templates.create(Probes.Token, { owner: owner.party, seenBy: [chooser.party] })
      const receipt = yield* owner.submit(Scene.submission(scene, create))
      const { contractId: tokenCid } = yield* Scene.soleCreated(receipt)
      const endTwice = Templates.exercise(Probes.Reach, reachCid, "EndTwice", { tokenCid })
      const refused = yield* Scene.failure(chooser.submit(Scene.submission(scene, endTwice)))
      expect(refused).toMatchObject({ _tag: "Refused", code: "CONTRACT_NOT_ACTIVE" })
      const end = yield* scene.venue.ledgerEnd
      expect(yield* Scene.active(owner, end)).toContain(tokenCid)
    })
  },
  {
    id: "L10",
    name: "of two racing for one contract exactly one wins",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      const accept = Templates.exercise(
        Templates.AdmissionConsentProposal,
        contractId,
        "Accept",
        {}
      )
      const race = yield* Effect.all(
        [
          Effect.result(scene.venue.submit(Scene.submission(scene, withdraw(contractId)))),
          Effect.result(scene.registrar.submit(Scene.submission(scene, accept)))
        ],
        { concurrency: "unbounded" }
      )
      expect(race.map(({ _tag }) => _tag).sort()).toEqual(["Failure", "Success"])
      const end = yield* scene.venue.ledgerEnd
      const range = { after: scene.since, through: end }
      const consuming = (yield* Scene.transactions(scene.venue, range)).flatMap(({ events }) =>
        events.filter((event) => event._tag === "Exercised" && event.contractId === contractId)
      )
      expect(consuming).toHaveLength(1)
    })
  },
  {
    id: "L8",
    name: "what a submission creates and ends is kept in one update",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      const receipt = yield* scene.venue.submit(
        Scene.submission(scene, withdraw(contractId), Scene.proposal(scene, "next"))
      )
      const previous = Offset.of(receipt.offset - 1)
      const range = { after: previous, through: receipt.offset }
      const [update, ...more] = yield* Scene.transactions(scene.venue, range)
      expect(more).toEqual([])
      expect(update?.events.map(({ _tag }) => _tag)).toEqual(["Exercised", "Created"])
    })
  }
]
