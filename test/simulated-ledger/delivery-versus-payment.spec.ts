/** The documented example of two assets swapped in one transaction: who needs what, and who sees what. */
import { Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as World from "./world.ts"

const { Entity } = SimulatedLedger
const named = (entity: string) => ({ packageName: "swap-v1", module: "Swap", entity })
const cid = Schema.String

const Asset = Templates.define({
  typeRef: named("Asset"),
  payload: Schema.Struct({ issuer: Party.schema, owner: Party.schema, name: Schema.String }),
  choices: {
    Transfer: {
      consuming: true,
      argument: Schema.Struct({ newOwner: Party.schema }),
      result: Schema.Struct({ assetCid: cid })
    }
  }
})

const Swap = Templates.define({
  typeRef: named("Swap"),
  payload: Schema.Struct({ one: Party.schema, two: Party.schema }),
  choices: {
    Settle: {
      consuming: true,
      argument: Schema.Struct({ oneCid: cid, twoCid: cid }),
      result: Schema.Struct({})
    }
  }
})

const Proposal = Templates.define({
  typeRef: named("Proposal"),
  payload: Schema.Struct({ proposer: Party.schema, counterparty: Party.schema, allocated: cid }),
  choices: {
    AcceptAndSettle: {
      consuming: true,
      argument: Schema.Struct({ allocated: cid }),
      result: Schema.Struct({})
    }
  }
})

const entities = [
  Entity.define(Asset, {
    signatories: ["issuer", "owner"],
    observers: [],
    choices: {
      Transfer: {
        controllers: ["owner", "argument.newOwner"],
        body: ({ self, argument }, scope) =>
          Result.map(scope.create(Asset, { ...self, owner: argument.newOwner }), (assetCid) => ({
            assetCid
          }))
      }
    }
  }),
  Entity.define(Swap, {
    signatories: ["one", "two"],
    observers: [],
    choices: {
      Settle: {
        controllers: ["one", "two"],
        body: ({ self, argument }, scope) =>
          Result.gen(function* () {
            yield* scope.exercise(Asset, argument.oneCid, "Transfer", { newOwner: self.two })
            yield* scope.exercise(Asset, argument.twoCid, "Transfer", { newOwner: self.one })
            return {}
          })
      }
    }
  }),
  Entity.define(Proposal, {
    signatories: ["proposer"],
    observers: ["counterparty"],
    choices: {
      AcceptAndSettle: {
        controllers: ["counterparty"],
        body: ({ self, argument }, scope) =>
          Result.gen(function* () {
            const swap = yield* scope.create(Swap, { one: self.proposer, two: self.counterparty })
            return yield* scope.exercise(Swap, swap, "Settle", {
              oneCid: self.allocated,
              twoCid: argument.allocated
            })
          })
      }
    }
  })
]

const ledger = SimulatedLedger.layerMemory({ ...World.options, entities })

/** Alice has an asset of bank A, Bob one of bank B; the issuers sign by being asked, as acting together. */
const scene = Effect.gen(function* () {
  const participant = yield* SimulatedLedger.Participant
  const sessionOf = yield* World.parties("alice", "bob", "carol", "bankA", "bankB")
  const issue = (issuer: "bankA" | "bankB", owner: "alice" | "bob") =>
    Effect.gen(function* () {
      const parties = [sessionOf(issuer).party, sessionOf(owner).party]
      const user = {
        userId: `issue-${owner}`,
        tokenHash: null,
        rights: parties.map((party) => ({ kind: "CanActAs" as const, party })),
        expiresAt: null,
        active: true
      }
      const command = Templates.create(Asset, {
        issuer: sessionOf(issuer).party,
        owner: sessionOf(owner).party,
        name: issuer
      })
      const { nodes } = yield* participant.submit(user, {
        ...World.submission(command),
        actAs: parties,
        readAs: [],
        submissionId: owner,
        workflowId: null,
        disclosed: [],
        minLedgerTime: null,
        traceparent: null
      })
      return nodes[0]?.contractId ?? ""
    })
  const aliceAsset = yield* issue("bankA", "alice")
  const bobAsset = yield* issue("bankB", "bob")
  const proposal = yield* World.make(
    sessionOf("alice"),
    "Proposal",
    Templates.create(Proposal, {
      proposer: sessionOf("alice").party,
      counterparty: sessionOf("bob").party,
      allocated: aliceAsset
    })
  )
  const accept = Templates.exercise(Proposal, proposal, "AcceptAndSettle", { allocated: bobAsset })
  return { sessionOf, aliceAsset, accept, end: yield* participant.ledgerEnd }
})

const settled = Effect.gen(function* () {
  const { sessionOf, aliceAsset, accept, end } = yield* scene
  const blob = yield* World.blobOf(sessionOf("alice"), aliceAsset, end, Asset.typeRef)
  const receipt = yield* sessionOf("bob").submit({
    ...World.submission(accept),
    disclosed: [{ contractId: aliceAsset, createdEventBlob: blob }]
  })
  return { sessionOf, receipt }
})

describe("delivery versus payment", () => {
  it.effect("Bob alone cannot create what both must sign", () =>
    Effect.gen(function* () {
      const sessionOf = yield* World.parties("alice", "bob")
      const both = Templates.create(Swap, {
        one: sessionOf("alice").party,
        two: sessionOf("bob").party
      })
      const refused = yield* Effect.flip(World.act(sessionOf("bob"), both))
      expect(refused).toMatchObject({ _tag: "Refused", code: "DAML_AUTHORIZATION_ERROR" })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("Bob cannot use Alice's asset without having been shown it", () =>
    Effect.gen(function* () {
      const { sessionOf, accept } = yield* scene
      const refused = yield* Effect.flip(World.act(sessionOf("bob"), accept))
      expect(refused).toMatchObject({ _tag: "Refused", code: "CONTRACT_NOT_FOUND" })
    }).pipe(Effect.provide(ledger))
  )

  it.effect("a party sees its part alone", () =>
    Effect.gen(function* () {
      const { sessionOf, receipt } = yield* settled
      const seenBy = (hint: Parameters<typeof sessionOf>[0]) =>
        Effect.map(World.nodes(sessionOf(hint), receipt), (nodes) =>
          nodes.map(({ _tag, nodeId, template }) => `${nodeId} ${_tag} ${template.entity}`)
        )
      expect(yield* seenBy("alice")).toEqual([
        "0 Exercised Proposal",
        "1 Created Swap",
        "2 Exercised Swap",
        "3 Exercised Asset",
        "4 Created Asset",
        "5 Exercised Asset",
        "6 Created Asset"
      ])
      expect(yield* seenBy("bob")).toHaveLength(7)
      expect(yield* seenBy("bankA")).toEqual(["3 Exercised Asset", "4 Created Asset"])
      expect(yield* seenBy("bankB")).toEqual(["5 Exercised Asset", "6 Created Asset"])
      expect(yield* seenBy("carol")).toEqual([])
    }).pipe(Effect.provide(ledger))
  )

  it.effect("the contract between is archived", () =>
    Effect.gen(function* () {
      const { sessionOf, receipt } = yield* settled
      const nodes = yield* World.nodes(sessionOf("alice"), receipt)
      expect(
        nodes.filter(({ template }) => template.entity === "Swap").map(({ inAcs }) => inAcs)
      ).toEqual([false, false])
      expect(nodes.map((node) => (node._tag === "Exercised" ? node.lastDescendant : null))).toEqual(
        [6, null, 6, 4, null, 6, null]
      )
    }).pipe(Effect.provide(ledger))
  )
})
