/**
 * Laws of reading: updates once and in order, checkpoints, active contracts equal to the fold of
 * updates.
 */
import { Decimal, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Stream } from "effect"
import { expect } from "vitest"
import * as Probes from "../LedgerProbes.ts"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

const zero = Offset.zero

/** Submits creates and an archive by several parties, and returns the offsets between them. */
const history = Effect.gen(function* () {
  const scene = yield* Scene.open
  const first = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene, "one")))
  const second = yield* scene.venue.submit(
    Scene.submission(scene, Scene.proposal(scene, "two"), Scene.proposal(scene, "three"))
  )
  const { contractId } = yield* Scene.soleCreated(first)
  const third = yield* scene.registrar.submit(
    Scene.submission(
      scene,
      Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Accept", {})
    )
  )
  const [two] = Scene.createdIn(second)
  const fourth = yield* scene.venue.submit(
    Scene.submission(
      scene,
      Templates.exercise(Templates.AdmissionConsentProposal, two?.contractId ?? "", "Withdraw", {})
    )
  )
  const end = yield* scene.venue.ledgerEnd
  return { scene, receipts: [first, second, third, fourth], end }
})

export const laws: ReadonlyArray<Law> = grouped("reading", [
  {
    id: "L1",
    name: "a receipt's offset appears in updates exactly once, with its updateId and commandId",
    proves: "The projection folds each change once, and finds its own by the commandId.",
    mistake:
      "An answer that is made before the commit, or a stream that repeats its last update when it reconnects.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const receipt = yield* scene.venue.submit(submission)
      const end = yield* scene.venue.ledgerEnd
      const transactions = yield* Scene.transactions(scene.venue, {
        after: scene.since,
        through: end
      })
      const ownTransactions = transactions.filter(({ updateId }) => updateId === receipt.updateId)
      expect(ownTransactions, "the updates with the receipt's updateId").toHaveLength(1)
      expect(
        transactions.filter(({ offset }) => offset === receipt.offset),
        "the updates at the receipt's offset"
      ).toHaveLength(1)
      expect(ownTransactions[0]?.offset, "the offset of that update").toBe(receipt.offset)
      expect(ownTransactions[0]?.commandId, "the commandId of that update").toEqual(
        Option.some(submission.commandId)
      )
    })
  },
  {
    id: "L2",
    name: "offsets strictly increase, and any stretch is the sum of its parts",
    proves: "A reader may read a range in pieces of any length.",
    mistake:
      "A bound that is taken in on the wrong side: `after` is exclusive, `through` inclusive.",
    check: Effect.gen(function* () {
      const { scene, end } = yield* history
      const all = yield* Scene.transactions(scene.venue, { after: zero, through: end })
      const offsets = all.map(({ offset }) => offset)
      expect(offsets, "the offsets in the order of the updates").toEqual(
        [...new Set(offsets)].sort((a, b) => a - b)
      )
      for (let middle = scene.since; middle <= end; middle = Offset.next(middle)) {
        const left = yield* Scene.transactions(scene.venue, { after: zero, through: middle })
        const right = yield* Scene.transactions(scene.venue, { after: middle, through: end })
        expect([...left, ...right], "the updates of both parts together").toEqual(all)
      }
    })
  },
  {
    id: "L3",
    name: "checkpoints carry a filtered tail over what did not match",
    proves: "A quiet venue is known to have caught up, and its health says so.",
    mistake: "A tail that sends matches alone, so that its reader looks behind for ever.",
    check: Effect.gen(function* () {
      const { scene, end } = yield* history
      const filter = { templates: [Templates.OraclePoint.typeRef], interfaces: [] }
      const reached = yield* Scene.whileTimePasses(
        scene.venue.updates({ after: zero, filter }).pipe(
          Stream.filter(({ _tag, offset }) => _tag === "Checkpoint" && offset >= end),
          Stream.runHead
        )
      )
      expect(Option.isSome(reached), "whether a checkpoint came at the end or after it").toBe(true)
    })
  },
  {
    id: "L4",
    name: "a stream cut anywhere and resumed from the last offset gives the same",
    proves: "A connection may break at every update.",
    mistake: "A resumed stream that begins with the last update again, or one after the next.",
    check: Effect.gen(function* () {
      const { scene, end } = yield* history
      const all = yield* Scene.transactions(scene.venue, { after: zero, through: end })
      for (let cut = 1; cut < all.length; cut++) {
        const head = yield* scene.venue
          .updates({ after: zero, filter: Scene.everything })
          .pipe(Stream.take(cut), Stream.runCollect, Scene.whileTimePasses)
        const last = head.at(-1)?.offset ?? zero
        const rest = yield* Scene.transactions(scene.venue, { after: last, through: end })
        expect(
          [...head.filter(({ _tag }) => _tag === "Transaction"), ...rest],
          "what came before the cut and after it"
        ).toEqual(all)
      }
    })
  },
  {
    id: "L5",
    name: "the active contracts at n are the fold of the updates up to n; at 0 there are none",
    proves: "Projection and snapshot are two ways to the same register.",
    mistake:
      "A snapshot of the present end whatever `at` is, or one without what was archived since.",
    check: Effect.gen(function* () {
      const { scene, end } = yield* history
      expect(yield* Scene.active(scene.venue, zero), "the active contracts at 0").toEqual([])
      for (let at = scene.since; at <= end; at = Offset.next(at)) {
        const updates = yield* Scene.transactions(scene.venue, { after: zero, through: at })
        expect(yield* Scene.active(scene.venue, at), "the active contracts at an offset").toEqual(
          Scene.fold(updates)
        )
      }
    })
  },
  {
    id: "L6",
    name: "a snapshot and the updates after it miss and repeat nothing while others write",
    proves: "A start from a snapshot loses no contract.",
    mistake: "A snapshot that is read in pages of different offsets.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const write = (index: number) =>
        scene.venue.submit(Scene.submission(scene, Scene.proposal(scene, `c${index}`)))
      yield* Effect.forEach(
        Array.from({ length: 10 }, (_, index) => index),
        write
      )
      const [at, snapshot] = yield* Effect.all(
        [
          Effect.flatMap(scene.venue.ledgerEnd, (at) =>
            Effect.map(Scene.active(scene.venue, at), (ids) => [at, ids] as const)
          ),
          Effect.forEach(
            Array.from({ length: 10 }, (_, index) => 10 + index),
            write,
            {
              concurrency: 5
            }
          )
        ],
        { concurrency: "unbounded" }
      ).pipe(Effect.map(([read]) => read))
      const end = yield* scene.venue.ledgerEnd
      const after = yield* Scene.transactions(scene.venue, { after: at, through: end })
      const createdAfter = after.flatMap(({ events }) => events.map(({ contractId }) => contractId))
      expect(
        createdAfter.filter((id) => snapshot.includes(id)),
        "the contracts both in the snapshot and created after it"
      ).toEqual([])
      expect(Scene.fold(after, snapshot), "the snapshot with the updates after it").toEqual(
        yield* Scene.active(scene.venue, end)
      )
    })
  },
  {
    id: "L7",
    name: "what is transient, or seen as a witness only, is not in the active contracts",
    proves: "A contract that ended where it began is never a holding.",
    mistake: "`inAcs` that is true of every create.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const receipt = yield* scene.venue.submit(
        Scene.submission(scene, {
          ...Scene.proposal(scene),
          _tag: "CreateAndExercise",
          choice: "Withdraw",
          arg: {}
        })
      )
      const events = Option.getOrThrow(receipt.transaction).events
      expect(
        events.map(({ _tag, inAcs }) => [_tag, inAcs]),
        "the events of a contract that ends where it begins"
      ).toEqual([
        ["Created", false],
        ["Exercised", false]
      ])
      expect(
        yield* Scene.active(scene.venue, receipt.offset),
        "the active contracts"
      ).not.toContain(events[0]?.contractId)
    })
  },
  {
    id: "L7",
    name: "a witness who is no stakeholder sees the create, but holds no contract",
    proves: "What a party merely saw is not its own.",
    mistake: "Active contracts by who saw them, and not by who signs or observes.",
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const make = Templates.exercise(Probes.Reach, reachCid, "Make", { owner: owner.party })
      const receipt = yield* chooser.submit(Scene.submission(scene, make))
      const range = { after: scene.since, through: receipt.offset }
      const seen = (yield* Scene.transactions(chooser, range)).at(-1)
      const created = seen?.events.find(({ _tag }) => _tag === "Created")
      expect(created?.inAcs, "whether the witness holds what it saw created").toBe(false)
      expect(
        yield* Scene.active(chooser, receipt.offset),
        "the witness's active contracts"
      ).not.toContain(created?.contractId)
    })
  },
  {
    id: "L28",
    name: "templates and interfaces of a filter add up, and views come when asked for",
    proves: "The projection asks for its templates and for the token interfaces at once.",
    mistake:
      "A filter of which only the last member counts, or views that come for all or for none; an unknown package that is silence.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const receipt = yield* scene.venue.submit(
        Scene.submission(
          scene,
          Scene.intent(scene),
          Scene.proposal(scene),
          Scene.mintRequest(scene, Decimal.one)
        )
      )
      const filter = {
        templates: [Templates.MintRequest.typeRef],
        interfaces: [Templates.AllocationRequestV1.typeRef]
      }
      const range = { after: scene.since, through: receipt.offset }
      const [seen] = yield* Scene.transactions(scene.venue, range, filter)
      const created = seen?.events.filter((event) => event._tag === "Created") ?? []
      expect(
        created.map(({ template }) => template.entity),
        "the templates that were created"
      ).toEqual(["SettlementIntent", "MintRequest"])
      expect(
        created.map(({ views }) => views.map(({ iface }) => iface.entity)),
        "the views that came"
      ).toEqual([["AllocationRequest"], []])
      const missingTemplate = { packageName: "no-such-package", module: "M", entity: "E" }
      const read = Scene.transactions(scene.venue, range, {
        templates: [missingTemplate],
        interfaces: []
      })
      expect(
        (yield* Scene.failure(read))._tag,
        "how a filter with an unknown package is answered"
      ).toBe("ProtocolError")
    })
  }
])
