/** Laws of time and horizon: no effect before its causes, no read beyond the horizon or the end. */
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Result } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

const tolerance = 60_000_000_000n

export const laws: ReadonlyArray<Law> = grouped("time and horizon", [
  {
    id: "L23",
    name: "no transaction is effective before its inputs, or far from when it was recorded",
    proves: "Periods, lots and deadlines follow the ledger's time.",
    mistake: "The host's clock in place of the ledger's.",
    needs: "mishaps",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      yield* scene.plant({ _tag: "Skew" })
      for (let round = 0; round < 8; round++) {
        const made = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
        const { contractId, createdAt } = yield* Scene.soleCreated(made)
        const ended = yield* scene.venue.submit(
          Scene.submission(
            scene,
            Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Withdraw", {})
          )
        )
        expect(createdAt, "when the contract was created").toBe(made.effectiveAt)
        expect(
          Instant.atOrAfter(ended.effectiveAt, createdAt),
          "whether its end is effective at its creation or later"
        ).toBe(true)
        for (const { effectiveAt, recordTime } of [made, ended]) {
          const apart = effectiveAt - recordTime
          expect(
            apart <= tolerance && -apart <= tolerance,
            "whether effective time and record time are at most 60 seconds apart"
          ).toBe(true)
        }
      }
    })
  },
  {
    id: "L23",
    name: "no transaction is effective before the time it asked for",
    proves: "A step that is due later is not effective earlier.",
    mistake: "`notBefore` left out of the submission.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const { recordTime } = yield* scene.venue.submit(
        Scene.submission(scene, Scene.proposal(scene))
      )
      const notBefore = Instant.toMicros(Instant.fromNanos(recordTime + 5_000_000_000n))
      const receipt = yield* scene.venue.submit({
        ...Scene.submission(scene, Scene.proposal(scene)),
        notBefore
      })
      expect(
        Instant.atOrAfter(receipt.effectiveAt, notBefore),
        "whether it is effective at the time it asked for or later"
      ).toBe(true)
    })
  },
  {
    id: "L25",
    name: "below the horizon nothing is read, active contracts outlive it",
    proves: "The engine learns that a node was pruned past its place.",
    mistake: "Silence, or the remaining updates as if they were all.",
    needs: "pruning",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const atHorizon = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      const { contractId } = yield* Scene.soleCreated(atHorizon)
      const next = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      yield* scene.prune(atHorizon.offset)
      const end = yield* scene.venue.ledgerEnd
      expect(yield* scene.venue.horizon, "the horizon after pruning").toBe(atHorizon.offset)
      const below = Offset.of(atHorizon.offset - 1)
      const early = Scene.transactions(scene.venue, { after: below, through: end })
      const before = { _tag: "BeforeHorizon", earliest: atHorizon.offset }
      expect(
        yield* Scene.failure(early),
        "how updates from below the horizon are answered"
      ).toMatchObject(before)
      expect(
        yield* Scene.failure(Scene.active(scene.venue, below)),
        "how active contracts below the horizon are answered"
      ).toMatchObject(before)
      const after = yield* Scene.transactions(scene.venue, {
        after: atHorizon.offset,
        through: end
      })
      expect(
        after.map(({ offset }) => offset),
        "the offsets after the horizon"
      ).toEqual([next.offset])
      expect(yield* Scene.active(scene.venue, end), "the active contracts at the end").toContain(
        contractId
      )
    })
  },
  {
    id: "L26",
    name: "beyond the end nothing is read",
    proves: "A node that was set back is noticed.",
    mistake: "Silence, or a wait, where the offset is not there yet.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const end = yield* scene.venue.ledgerEnd
      const beyond = Offset.of(end + 1_000)
      const range = { after: scene.since, through: beyond }
      expect(
        (yield* Scene.failure(Scene.transactions(scene.venue, range)))._tag,
        "how updates beyond the end are answered"
      ).toBe("AfterEnd")
      expect(
        (yield* Scene.failure(Scene.active(scene.venue, beyond)))._tag,
        "how active contracts beyond the end are answered"
      ).toBe("AfterEnd")
      const outcome = scene.venue.outcome({
        commandId: "x",
        from: scene.since,
        through: beyond
      })
      expect(
        (yield* Scene.failure(outcome))._tag,
        "how an outcome beyond the end is answered"
      ).toBe("AfterEnd")
    })
  },
  {
    id: "L27",
    name: "a change of participant shows before anything is written",
    proves: "Offsets of another participant are never compared with ours.",
    mistake: "A description that is remembered from the start.",
    needs: "mishaps",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const before = yield* scene.venue.describe
      yield* scene.plant({ _tag: "ParticipantChange" })
      const after = yield* scene.venue.describe
      expect(after.participant, "the participant after its change").not.toBe(before.participant)
    })
  },
  {
    id: "L13",
    name: "the port's rights are to act as the venue and no more",
    proves: "A credential that could do more is told, and stops the start.",
    mistake: "Rights that are left out since the port has no use for them.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const { rights } = yield* scene.venue.describe
      expect(rights, "the rights of the port").toEqual([
        { kind: "CanActAs", party: scene.venue.venue }
      ])
    })
  },
  {
    id: "L29",
    name: "the largest and the smallest amount come back as they went",
    proves: "No digit of an amount is lost.",
    mistake: "Amounts that pass through a double.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const amounts = ["9999999999999999999999999999.9999999999", "0.0000000001", "1"].map(
        Decimal.of
      )
      for (const amount of amounts) {
        const receipt = yield* scene.venue.submit(
          Scene.submission(scene, Scene.mintRequest(scene, amount))
        )
        const { payload } = yield* Scene.soleCreated(receipt)
        expect(payload["amount"], "the amount in the created contract").toBe(Decimal.format(amount))
        const range = { after: Offset.of(receipt.offset - 1), through: receipt.offset }
        const [read] = yield* Scene.transactions(scene.venue, range)
        const [event] = read?.events ?? []
        const again = event?._tag === "Created" ? event.payload : {}
        const decoded = Templates.decodePayload(Templates.MintRequest, again)
        expect(
          Result.map(decoded, (request) => request.amount),
          "the amount as it is read again"
        ).toEqual(Result.succeed(amount))
        const { executeBefore: _, ...without } = again
        expect(
          Templates.decodePayload(Templates.MintRequest, without),
          "the payload without its optional member"
        ).toEqual(decoded)
      }
    })
  },
  {
    id: "L28",
    name: "a package is known by its name, an unknown one is told as such",
    proves: "A start says which package is missing.",
    mistake: "An error for the whole list, or a guess by the version's id.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const [vetted, missing] = yield* scene.venue.packages(["bursar-registry-v1", "nobody-v1"])
      expect(
        Option.isSome(vetted?.packageId ?? Option.none()),
        "whether the package that is there is known"
      ).toBe(true)
      expect(missing?.packageId, "the package that nobody has").toEqual(Option.none())
    })
  }
])
