/** Laws of deduplication: a commandId commits once in its window, and its outcome can be asked. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Duration, Effect, Option } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law, type Mishap } from "../LedgerUnderTest.ts"

const effects = (scene: Scene.Scene, commandId: string) =>
  Effect.gen(function* () {
    const end = yield* scene.venue.ledgerEnd
    const transactions = yield* Scene.transactions(scene.venue, {
      after: scene.since,
      through: end
    })
    return transactions.filter(
      (transaction) => Option.getOrNull(transaction.commandId) === commandId
    )
  })

/** Submits with a connection that is lost at the first try, and submits the same command again. */
const afterMishap = (mishap: Mishap) =>
  Effect.gen(function* () {
    const scene = yield* Scene.open
    const submission = Scene.submission(scene, Scene.proposal(scene))
    yield* scene.plant(mishap)
    const lost = yield* Scene.failure(scene.venue.submit(submission))
    expect(
      ["OutcomeUnknown", "Unreachable"],
      "the ways in which a lost submission may end"
    ).toContain(lost._tag)
    yield* scene.plant({ _tag: "None" })
    const before = yield* effects(scene, submission.commandId)
    const receipt = yield* scene.venue.submit(submission)
    const after = yield* effects(scene, submission.commandId)
    expect(
      after.map(({ updateId }) => updateId),
      "the updates under the commandId"
    ).toEqual([receipt.updateId])
    return { before: before.length, duplicate: receipt.duplicate, lost: lost._tag }
  })

export const laws: ReadonlyArray<Law> = grouped("deduplication", [
  {
    id: "L17",
    name: "the same commandId twice has one effect; the second answer says so",
    proves: "A step may be sent again after a crash.",
    mistake: "A second transaction, or a duplicate that is told as a refusal.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const first = yield* scene.venue.submit(submission)
      const second = yield* scene.venue.submit(submission)
      expect(
        [first.duplicate, second.duplicate],
        "whether each answer says that it is a repeat"
      ).toEqual([false, true])
      expect(second.updateId, "the update of the repeat").toBe(first.updateId)
      expect(second.offset, "the offset of the repeat").toBe(first.offset)
      expect(
        yield* effects(scene, submission.commandId),
        "the updates under the commandId"
      ).toHaveLength(1)
    })
  },
  {
    id: "L17",
    name: "the same commandId in parallel has one effect and is never refused",
    proves: "Two runners may send one step at once.",
    mistake: "`SUBMISSION_ALREADY_IN_FLIGHT` that is told as a definite refusal.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.result(scene.venue.submit(submission))),
        { concurrency: "unbounded" }
      )
      const tags = answers.map((answer) =>
        answer._tag === "Success"
          ? answer.success.duplicate
            ? "again"
            : "first"
          : answer.failure._tag
      )
      expect(
        tags.filter((tag) => tag === "first"),
        "the answers that say they were the first"
      ).toHaveLength(1)
      for (const tag of tags)
        expect(["first", "again", "Busy", "OutcomeUnknown"], "the answers there may be").toContain(
          tag
        )
      expect(
        yield* effects(scene, submission.commandId),
        "the updates under the commandId"
      ).toHaveLength(1)
    })
  },
  {
    id: "L18",
    name: "a rejected commandId may commit later",
    proves: "A step that was refused once may be tried again under its id.",
    mistake: "Ids that are remembered before they commit.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const notBefore = Instant.of("2999-01-01T00:00:00Z")
      const rejected = yield* Scene.failure(scene.venue.submit({ ...submission, notBefore }))
      expect(rejected._tag, "how a submission ends that is not due yet").toBe("Refused")
      expect(
        (yield* scene.venue.submit(submission)).duplicate,
        "whether the later try counts as a repeat"
      ).toBe(false)
    })
  },
  {
    id: "L18",
    name: "a submission that met contention may commit later under its commandId",
    proves: "`Busy` means: nothing happened, try again.",
    mistake: "Contention told as a refusal or as an unknown outcome.",
    needs: "mishaps",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      yield* scene.plant({ _tag: "Contention" })
      expect(
        (yield* Scene.failure(scene.venue.submit(submission)))._tag,
        "how a submission that met contention ends"
      ).toBe("Busy")
      yield* scene.plant({ _tag: "None" })
      expect(
        (yield* scene.venue.submit(submission)).duplicate,
        "whether the later try counts as a repeat"
      ).toBe(false)
      expect(
        yield* effects(scene, submission.commandId),
        "the updates under the commandId"
      ).toHaveLength(1)
    })
  },
  {
    id: "L19",
    name: "another user's commandId is another change",
    proves: "Ids of other programs at the node do not meet the engine's.",
    mistake: "Deduplication by the commandId alone.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      yield* scene.venue.submit(submission)
      const theirs = Scene.submission(scene, Scene.configuration(scene))
      const receipt = yield* scene.registrar.submit({
        ...theirs,
        commandId: submission.commandId
      })
      expect(receipt.duplicate, "whether another user's submission counts as a repeat").toBe(false)
    })
  },
  {
    id: "L19",
    name: "another set of acting parties is another change",
    proves: "The venue's ids are the venue's.",
    mistake: "Deduplication that leaves `actAs` out.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const second = yield* scene.party("second")
      const both = yield* scene.party("both", [second.party])
      const submission = Scene.submission(scene, Scene.configuration(scene, second.party))
      const bySecond = yield* both.submit({ ...submission, actAs: [second.party] })
      const byBoth = yield* both.submit({ ...submission, actAs: [second.party, both.party] })
      const byBothReversed = yield* both.submit({
        ...submission,
        actAs: [both.party, second.party]
      })
      expect(
        [bySecond.duplicate, byBoth.duplicate, byBothReversed.duplicate],
        "whether each set of acting parties counts as a repeat"
      ).toEqual([false, false, true])
    })
  },
  {
    id: "L19",
    name: "outside its window a commandId commits again",
    proves: "The window that the engine asks for is the one that counts.",
    mistake: "A window of the adapter's own.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const first = yield* scene.venue.submit(submission)
      const dedup = { _tag: "Since", offset: first.offset } as const
      const second = yield* scene.venue.submit({ ...submission, dedup })
      expect(second.duplicate, "whether one outside its window counts as a repeat").toBe(false)
      expect(second.updateId, "the update of one outside its window").not.toBe(first.updateId)
    })
  },
  {
    id: "L20",
    name: "a window longer than the ledger keeps is refused as such",
    proves: "The engine learns that it must ask for less, and that nothing happened.",
    mistake: "A window that is cut silently, or an error without its own kind.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const dedup = { _tag: "For", duration: Duration.days(4_000) } as const
      const refused = yield* Scene.failure(scene.venue.submit({ ...submission, dedup }))
      expect(refused._tag, "how a window of 4,000 days is answered").toBe("DedupUnsupported")
    })
  },
  {
    id: "L20",
    name: "a window from a pruned offset is refused as such",
    proves: "The engine learns the earliest offset, and that nothing happened.",
    mistake: "A window that begins later than was asked for, silently.",
    needs: "pruning",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const { offset } = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      yield* scene.prune(offset)
      const dedup = { _tag: "Since", offset: Offset.of(offset - 1) } as const
      const submission = { ...Scene.submission(scene, Scene.proposal(scene)), dedup }
      expect(
        yield* Scene.failure(scene.venue.submit(submission)),
        "how a window from a pruned offset is answered"
      ).toMatchObject({
        _tag: "DedupUnsupported",
        earliestOffset: offset
      })
    })
  },
  {
    id: "L21",
    name: "the outcome is there exactly where it was committed, and absence stays absence",
    proves: "After an unknown outcome the engine decides by this answer alone.",
    mistake:
      "A search that ends at a stale end, counts its lower bound, or answers None for what it has not read.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const { commandId } = submission
      const before = yield* scene.venue.ledgerEnd
      const ask = (from: Offset.Offset, through: Offset.Offset) =>
        Effect.map(
          scene.venue.outcome({ commandId, from, through }),
          Option.map(({ updateId }) => updateId)
        )
      expect(yield* ask(scene.since, before), "the outcome before it was sent").toEqual(
        Option.none()
      )
      const receipt = yield* scene.venue.submit(submission)
      yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      const end = yield* scene.venue.ledgerEnd
      expect(
        yield* ask(scene.since, before),
        "the outcome up to where nothing was sent yet"
      ).toEqual(Option.none())
      expect(yield* ask(scene.since, end), "the outcome of the whole range").toEqual(
        Option.some(receipt.updateId)
      )
      expect(yield* ask(receipt.offset, end), "the outcome after its offset").toEqual(Option.none())
      const last = Offset.of(receipt.offset - 1)
      expect(yield* ask(last, receipt.offset), "the outcome of its very offset").toEqual(
        Option.some(receipt.updateId)
      )
    })
  },
  {
    id: "L22",
    name: "a connection lost after the commit leaves one effect after a retry",
    proves: "The worst moment of a lost answer costs nothing.",
    mistake: "A lost answer told as a refusal, and the step sent anew under another id.",
    needs: "mishaps",
    check: Effect.map(afterMishap({ _tag: "DropAfterCommit" }), (observation) => {
      expect(observation, "what the retry found and was answered").toEqual({
        before: 1,
        duplicate: true,
        lost: "OutcomeUnknown"
      })
    })
  },
  {
    id: "L22",
    name: "a connection lost before the commit leaves one effect after a retry",
    proves: "A step that never arrived is not taken for done.",
    mistake: "A lost answer told as a success.",
    needs: "mishaps",
    check: Effect.map(afterMishap({ _tag: "DropBeforeCommit" }), (observation) => {
      expect(observation, "what the retry found and was answered").toMatchObject({
        before: 0,
        duplicate: false
      })
    })
  }
])
