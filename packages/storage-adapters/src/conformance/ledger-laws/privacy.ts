/** Laws of privacy: each reader sees the nodes it witnesses, and no other witness of them. */
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Stream } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

/**
 * The registrar accepts a proposal of the venue: the fund sees the agreement and not the
 * acceptance.
 */
const accepted = Effect.gen(function* () {
  const scene = yield* Scene.open
  const stranger = yield* scene.party("stranger")
  const proposed = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
  const { contractId } = yield* Scene.soleCreated(proposed)
  const accept = Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Accept", {})
  const submission = { ...Scene.submission(scene, accept), workflowId: "the-workflow" }
  const { offset } = yield* scene.registrar.submit(submission)
  const range = { after: proposed.offset, through: offset }
  return { scene, stranger, submission, range }
})

export const laws: ReadonlyArray<Law> = grouped("privacy", [
  {
    id: "L15",
    name: "each reader sees exactly the nodes it witnesses",
    proves: "The venue's record has what it may see: no more, and no less.",
    mistake: "A transaction shown whole, or its creates alone.",
    check: Effect.gen(function* () {
      const { scene, stranger, range } = yield* accepted
      const seenBy = (reader: Parameters<typeof Scene.transactions>[0]) =>
        Effect.map(Scene.transactions(reader, range), (seenTransactions) =>
          seenTransactions.map(({ events }) =>
            events.map(({ _tag, nodeId }) => `${nodeId} ${_tag}`)
          )
        )
      const both = [["0 Exercised", "1 Created"]]
      expect(yield* seenBy(scene.venue), "what the venue sees").toEqual(both)
      expect(yield* seenBy(scene.registrar), "what the registrar sees").toEqual(both)
      expect(yield* seenBy(scene.fund), "what the fund sees").toEqual([["1 Created"]])
      expect(yield* seenBy(stranger), "what a stranger sees").toEqual([])
    })
  },
  {
    id: "L15",
    name: "an observer does not see a choice that leaves the contract as it is",
    proves: "Observers are not told of every use.",
    mistake: "Observers taken for informees of non-consuming choices.",
    check: Effect.gen(function* () {
      const { scene, range } = yield* accepted
      const [update] = yield* Scene.transactions(scene.venue, range)
      const consent = update?.events.find(({ _tag }) => _tag === "Created")
      const offer = Templates.exercise(
        Templates.AdmissionConsent,
        consent?.contractId ?? "",
        "Offer",
        {
          holder: scene.fund.party,
          credentialId: "c",
          claims: [],
          validFrom: null,
          validUntil: null,
          expiresAt: null
        }
      )
      const { offset } = yield* scene.venue.submit(Scene.submission(scene, offer))
      const after = { after: range.through, through: offset }
      const seenBy = (reader: Parameters<typeof Scene.transactions>[0]) =>
        Effect.map(Scene.transactions(reader, after), (seenTransactions) =>
          seenTransactions.flatMap(({ events }) => events.map(({ _tag }) => _tag))
        )
      expect(yield* seenBy(scene.registrar), "what the registrar sees of the offer").toEqual([
        "Exercised",
        "Created"
      ])
      expect(yield* seenBy(scene.fund), "what the fund sees of the offer").toEqual(["Created"])
    })
  },
  {
    id: "L15",
    name: "no event names a witness other than its reader",
    proves: "Who else saw a node stays unknown.",
    mistake: "`witnessParties` handed on as the participant has them.",
    check: Effect.gen(function* () {
      const { scene, range } = yield* accepted
      for (const reader of [scene.registrar, scene.fund]) {
        const transactions = yield* Scene.transactions(reader, range)
        for (const { events } of transactions) {
          for (const { witnesses } of events)
            expect(witnesses, "the witnesses that an event names").toEqual([reader.party])
        }
      }
    })
  },
  {
    id: "L15",
    name: "a session reads nobody else's contracts",
    proves: "A wallet's reads are its party's.",
    mistake: "Reads by the participant's rights.",
    check: Effect.gen(function* () {
      const { scene, stranger, range } = yield* accepted
      expect(
        yield* Scene.active(stranger, range.through),
        "the stranger's active contracts"
      ).toEqual([])
      expect(
        yield* Scene.active(scene.fund, range.through),
        "the fund's active contracts"
      ).toHaveLength(1)
    })
  },
  {
    id: "L16",
    name: "only a submitter sees the commandId, every witness the workflowId",
    proves: "A commandId tells no outsider what the venue does.",
    mistake: "The id copied from the completion into every reader's update.",
    check: Effect.gen(function* () {
      const { scene, submission, range } = yield* accepted
      const namesFor = (reader: Parameters<typeof Scene.transactions>[0]) =>
        Effect.map(Scene.transactions(reader, range), (seenTransactions) =>
          seenTransactions.map(({ commandId, workflowId }) => [commandId, workflowId])
        )
      const workflow = Option.some("the-workflow")
      expect(yield* namesFor(scene.registrar), "the names that the submitter sees").toEqual([
        [Option.some(submission.commandId), workflow]
      ])
      expect(yield* namesFor(scene.fund), "the names that the fund sees").toEqual([
        [Option.none(), workflow]
      ])
      expect(yield* namesFor(scene.venue), "the names that the venue sees").toEqual([
        [Option.none(), workflow]
      ])
    })
  },
  {
    id: "L15",
    name: "what a reader does not witness moves it by checkpoints only",
    proves: "An empty update betrays that others acted.",
    mistake: "A transaction without events, where a checkpoint belongs.",
    check: Effect.gen(function* () {
      const { stranger, range } = yield* accepted
      const updates = yield* Stream.runCollect(
        stranger.updates({ ...range, filter: Scene.everything })
      )
      expect(
        updates.every(({ _tag }) => _tag === "Checkpoint"),
        "whether a stranger is sent checkpoints only"
      ).toBe(true)
    })
  }
])
