/** Laws of authority: no party acts for another, and authority is not inherited. */
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Stream } from "effect"
import { expect } from "vitest"
import * as Probes from "../LedgerProbes.ts"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

const unauthorized = { _tag: "Refused", code: "DAML_AUTHORIZATION_ERROR" }

const accept = (contractId: string) =>
  Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Accept", {})

export const laws: ReadonlyArray<Law> = grouped("authority", [
  {
    id: "L11",
    name: "nothing is created without every signatory",
    proves: "The venue alone makes no agreement.",
    mistake: "A port that signs for parties whose keys it has.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const alone = scene.venue.submit(Scene.submission(scene, Scene.consent(scene)))
      expect(
        yield* Scene.failure(alone),
        "how a creation that the venue alone signs ends"
      ).toMatchObject(unauthorized)
      const other = scene.registrar.submit(Scene.submission(scene, Scene.proposal(scene)))
      expect(
        yield* Scene.failure(other),
        "how a creation without the venue's signature ends"
      ).toMatchObject(unauthorized)
    })
  },
  {
    id: "L11",
    name: "nobody but its controllers exercises a choice",
    proves: "A holder's consent is the holder's.",
    mistake: "A participant's rights where the submitter's count.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const receipt = yield* scene.venue.submit(Scene.submission(scene, Scene.proposal(scene)))
      const { contractId } = yield* Scene.soleCreated(receipt)
      const refused = scene.venue.submit(Scene.submission(scene, accept(contractId)))
      expect(
        yield* Scene.failure(refused),
        "how a choice of the registrar's ends that the venue exercises"
      ).toMatchObject(unauthorized)
    })
  },
  {
    id: "L11",
    name: "what nobody signs is not created, what nobody controls is not exercised",
    proves: "An empty list of parties permits nothing.",
    mistake: '"All of none have signed" taken for true.',
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const orphan = Templates.create(Probes.Orphan, { seenBy: [owner.party] })
      const free = Templates.exercise(Probes.Reach, reachCid, "Free", {})
      for (const session of [owner, chooser]) {
        for (const command of [orphan, free]) {
          const refused = session.submit(Scene.submission(scene, command))
          expect(
            yield* Scene.failure(refused),
            "how a command ends that nobody signs or controls"
          ).toMatchObject(unauthorized)
        }
      }
    })
  },
  {
    id: "L11",
    name: "a body looks only at what its own authority is a party to",
    proves: "A choice cannot be used to read others' contracts.",
    mistake: "Fetches under the submitter's rights.",
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const stranger = yield* scene.party("stranger")
      const helper = yield* scene.party("helper", [stranger.party, chooser.party])
      const create = Templates.create(Probes.Token, { owner: stranger.party, seenBy: [] })
      const receipt = yield* stranger.submit(Scene.submission(scene, create))
      const { contractId: tokenCid } = yield* Scene.soleCreated(receipt)
      const look = Templates.exercise(Probes.Reach, reachCid, "Look", { tokenCid })
      const actAs = [stranger.party, chooser.party]
      const refused = helper.submit({ ...Scene.submission(scene, look), actAs })
      expect(
        yield* Scene.failure(refused),
        "how a look by the submitter's other rights ends"
      ).toMatchObject(unauthorized)
      expect(owner.party, "the stranger").not.toBe(stranger.party)
    })
  },
  {
    id: "L12",
    name: "a consequence has the signatories' and the actors' authority, never the submitter's other rights",
    proves: "Rights of a token do not leak into the bodies of choices.",
    mistake: "The submission's `actAs` added to the authority of every consequence.",
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const stranger = yield* scene.party("stranger")
      const helper = yield* scene.party("helper", [stranger.party, chooser.party])
      const make = (party: typeof owner.party) =>
        Templates.exercise(Probes.Reach, reachCid, "Make", { owner: party })
      const actAs = [stranger.party, chooser.party]
      const leak = helper.submit({ ...Scene.submission(scene, make(stranger.party)), actAs })
      expect(
        yield* Scene.failure(leak),
        "how a creation in the name of the submitter's other party ends"
      ).toMatchObject(unauthorized)
      const signatory = yield* chooser.submit(Scene.submission(scene, make(owner.party)))
      const actor = yield* chooser.submit(Scene.submission(scene, make(chooser.party)))
      expect(
        [signatory, actor].every(({ duplicate }) => !duplicate),
        "whether both creations were new"
      ).toBe(true)
    })
  },
  {
    id: "L13",
    name: "the venue's port acts as no other party, whatever it is given",
    proves: "The engine can be given no command that acts for a holder.",
    mistake: "`readAs`, or a command's argument, that gives authority.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.configuration(scene))
      expect(
        yield* Scene.failure(scene.venue.submit(submission)),
        "how an act of another party's through the venue's port ends"
      ).toMatchObject(unauthorized)
      const smuggled = { ...submission, actAs: [scene.registrar.party] }
      expect(
        (yield* Scene.failure(scene.venue.submit(smuggled)))._tag,
        "how one ends that names the other party as acting"
      ).toBe("Refused")
      const reading = { ...submission, readAs: [scene.registrar.party] }
      expect(
        yield* Scene.failure(scene.venue.submit(reading)),
        "how one ends that names the other party as reading"
      ).toMatchObject({
        _tag: "NotAuthorized",
        http: 403
      })
      const end = yield* scene.venue.ledgerEnd
      expect(
        yield* Scene.active(scene.registrar, end),
        "what the other party holds after all of them"
      ).toEqual([])
    })
  },
  {
    id: "L13",
    name: "a token that acts as another party is refused with 403",
    proves: "A stolen token of one party is no other's.",
    mistake: "`actAs` that is taken from the request and not compared with the token.",
    check: Effect.gen(function* () {
      const scene = yield* Scene.open
      const submission = Scene.submission(scene, Scene.proposal(scene))
      const refused = scene.fund.submit({ ...submission, actAs: [scene.venue.venue] })
      expect(yield* Scene.failure(refused), "how acting as the venue ends").toMatchObject({
        _tag: "NotAuthorized",
        http: 403
      })
      const both = scene.fund.submit({
        ...submission,
        actAs: [scene.fund.party, scene.venue.venue]
      })
      expect(yield* Scene.failure(both), "how acting as oneself and the venue ends").toMatchObject({
        _tag: "NotAuthorized",
        http: 403
      })
    })
  },
  {
    id: "L14",
    name: "what is not visible is not found; disclosed, it is usable, but gives no authority",
    proves: "A disclosed contract helps a command and opens nothing.",
    mistake: "Blobs that are dropped, trusted unread, or taken as a right to act.",
    needs: "probes",
    check: Effect.gen(function* () {
      const { scene, owner, chooser, reachCid } = yield* Scene.reach
      const create = Templates.create(Probes.Token, { owner: owner.party, seenBy: [] })
      const receipt = yield* owner.submit(Scene.submission(scene, create))
      const { contractId: tokenCid } = yield* Scene.soleCreated(receipt)
      const look = Templates.exercise(Probes.Reach, reachCid, "Look", { tokenCid })
      expect(
        yield* Scene.failure(chooser.submit(Scene.submission(scene, look))),
        "how a look at what is not visible ends"
      ).toMatchObject({
        _tag: "Refused",
        code: "CONTRACT_NOT_FOUND"
      })
      const filter = {
        templates: [Probes.Token.typeRef, Probes.Reach.typeRef],
        interfaces: [],
        includeBlobFor: [Probes.Token.typeRef, Probes.Reach.typeRef]
      }
      const active = yield* Stream.runCollect(owner.acs({ at: receipt.offset, filter }))
      const blobOf = (id: string) =>
        Option.getOrThrow(
          Option.fromUndefinedOr(active.find(({ contractId }) => contractId === id)).pipe(
            Option.flatMap(({ blob }) => blob)
          )
        )
      const disclosed = [tokenCid, reachCid].map((contractId) => ({
        contractId,
        createdEventBlob: blobOf(contractId)
      }))
      yield* chooser.submit({ ...Scene.submission(scene, look), disclosed })
      const stranger = yield* scene.party("stranger")
      expect(
        yield* Scene.failure(stranger.submit({ ...Scene.submission(scene, look), disclosed })),
        "how a stranger's look at what was disclosed ends"
      ).toMatchObject(unauthorized)
      const altered = disclosed.map((contract) => ({
        ...contract,
        createdEventBlob: Buffer.from(
          Buffer.from(contract.createdEventBlob, "base64")
            .toString("utf8")
            .replace("owner", "owned")
        ).toString("base64")
      }))
      expect(
        yield* Scene.failure(
          chooser.submit({ ...Scene.submission(scene, look), disclosed: altered })
        ),
        "how a look by an altered disclosure ends"
      ).toMatchObject({ _tag: "Refused" })
    })
  }
])
