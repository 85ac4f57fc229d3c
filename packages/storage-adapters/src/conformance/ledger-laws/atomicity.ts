/** Laws of atomicity: all or nothing, no effect of a refusal, no contract consumed twice. */
import { Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect } from "vitest"
import * as Probes from "../LedgerProbes.ts"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

const missing = "00".repeat(33)
const withdraw = (contractId: string) =>
  Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Withdraw", {})

/** Submits a contract that only the venue signs. */
const proposed = Effect.gen(function* () {
  const scene = yield* Scene.open
  const receipt = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
  return { scene, contractId: (yield* Scene.soleCreated(receipt)).contractId }
})

export const laws: ReadonlyArray<Law> = grouped("atomicity", [
  {
    id: "L8",
    name: "all commands of a submission commit, or none",
    proves: "No write of the engine is done by halves.",
    mistake: "Commands that are sent one by one.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const before = yield* scene.venue.ledgerEnd
      const refused = yield* Scene.failure(
        scene.venue.submit(Scene.submission(scene, Scene.proposal(scene), withdraw(missing)))
      )
      expect(refused._tag, "how the submission ends").toBe("Refused")
      const end = yield* scene.venue.ledgerEnd
      expect(yield* Scene.active(scene.venue, end), "the active contracts after it").toEqual(
        yield* Scene.active(scene.venue, before)
      )
      expect(
        yield* Scene.transactions(scene.venue, { after: before, through: end }),
        "the updates it left"
      ).toEqual([])
    })
  },
  {
    id: "L9",
    name: "a refusal changes nothing, takes no offset, and its commandId may be used again",
    proves: "`Refused` means that the effect does not exist; the step may be tried again.",
    mistake:
      "A refused id that is remembered as used, or an error after the commit that is told as a refusal.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const commandId = scene.commandId()
      const good = Scene.submission(scene, Scene.proposal(scene))
      const bad = Scene.submission(scene, withdraw(missing))
      const before = yield* scene.venue.ledgerEnd
      expect(
        yield* Scene.failure(scene.venue.submit({ ...bad, commandId })),
        "how the first submission ends"
      ).toMatchObject({
        _tag: "Refused",
        code: "CONTRACT_NOT_FOUND"
      })
      expect(yield* scene.venue.ledgerEnd, "the ledger's end after a refusal").toBe(before)
      const receipt = yield* scene.venue.submit({ ...good, commandId })
      expect(receipt.duplicate, "whether the second try counts as a repeat").toBe(false)
    })
  },
  {
    id: "L10",
    name: "a contract is consumed once, by one of two transactions",
    proves: "No unit is spent twice.",
    mistake: "A contract that is gone and told as a success.",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      yield* scene.venue.submit(Scene.submission(scene, withdraw(contractId)))
      const again = yield* Scene.failure(
        scene.venue.submit(Scene.submission(scene, withdraw(contractId)))
      )
      expect(again, "how the second use of the contract ends").toMatchObject({
        _tag: "Refused",
        contractId
      })
    })
  },
  {
    id: "L10",
    name: "a contract is consumed once inside one transaction",
    proves: "Two commands of one submission spend no unit twice.",
    mistake: "Commands that are judged against the state before the transaction alone.",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      const twice = yield* Scene.failure(
        scene.venue.submit(Scene.submission(scene, withdraw(contractId), withdraw(contractId)))
      )
      expect(twice, "how a submission that uses it twice ends").toMatchObject({
        _tag: "Refused",
        code: "CONTRACT_NOT_ACTIVE"
      })
    })
  },
  {
    id: "L10",
    name: "a choice's own consequences consume a contract once",
    proves: "A choice's body spends no unit twice.",
    mistake: "Consequences that are judged apart from the transaction around them.",
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const create = Templates.create(Probes.Token, { owner: owner.party, seenBy: [chooser.party] })
      const receipt = yield* owner.submit(Scene.submission(scene, create))
      const { contractId: tokenCid } = yield* Scene.soleCreated(receipt)
      const endTwice = Templates.exercise(Probes.Reach, reachCid, "EndTwice", { tokenCid })
      const refused = yield* Scene.failure(chooser.submit(Scene.submission(scene, endTwice)))
      expect(refused, "how a choice that ends a token twice ends").toMatchObject({
        _tag: "Refused",
        code: "CONTRACT_NOT_ACTIVE"
      })
      const end = yield* scene.venue.ledgerEnd
      expect(yield* Scene.active(owner, end), "the owner's active contracts after it").toContain(
        tokenCid
      )
    })
  },
  {
    id: "L10",
    name: "of two racing for one contract exactly one wins",
    proves: "Two hosts, or a host and a wallet, may act at the same moment.",
    mistake: "A loser that is told as done, or both as refused.",
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
      expect(race.map(({ _tag }) => _tag).sort(), "how the two ended").toEqual([
        "Failure",
        "Success"
      ])
      const end = yield* scene.venue.ledgerEnd
      const range = { after: scene.since, through: end }
      const consuming = (yield* Scene.transactions(scene.venue, range)).flatMap(({ events }) =>
        events.filter((event) => event._tag === "Exercised" && event.contractId === contractId)
      )
      expect(consuming, "the choices that consumed the contract").toHaveLength(1)
    })
  },
  {
    id: "L8",
    name: "what a submission creates and ends is kept in one update",
    proves: "The projection sees a change whole.",
    mistake: "A transaction that is delivered in pieces at several offsets.",
    check: Effect.gen(function* () {
      const { scene, contractId } = yield* proposed
      const receipt = yield* scene.venue.submit(
        Scene.submission(scene, withdraw(contractId), Scene.proposal(scene, "next"))
      )
      const previous = Offset.of(receipt.offset - 1)
      const range = { after: previous, through: receipt.offset }
      const [update, ...more] = yield* Scene.transactions(scene.venue, range)
      expect(more, "updates beside the one at the receipt's offset").toEqual([])
      expect(
        update?.events.map(({ _tag }) => _tag),
        "the events of the update"
      ).toEqual(["Exercised", "Created"])
    })
  }
])
