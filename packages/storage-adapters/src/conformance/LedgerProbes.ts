/** Test templates of the ledger suite, whose choices attempt illegal transactions. */
import * as Templates from "@bursar/engine-core/templates"
import { Result, Schema } from "effect"
import * as Entity from "../ledger/simulated/Entity.ts"
import { Party } from "@bursar/engine-core/kernel"

const named = (entity: string): Templates.TypeRef => ({
  packageName: "bursar-probe-v1",
  module: "Bursar.Probe",
  entity
})
const made = Schema.Struct({ contractId: Schema.String })

/** A contract signed by its owner. */
export const Token = Templates.define({
  typeRef: named("Token"),
  payload: Schema.Struct({ owner: Party.schema, seenBy: Schema.Array(Party.schema) }),
  choices: {}
})

/** A contract without signatories. */
export const Orphan = Templates.define({
  typeRef: named("Orphan"),
  payload: Schema.Struct({ seenBy: Schema.Array(Party.schema) }),
  choices: {}
})

/** A contract of one party whose choices act on contracts of another. */
export const Reach = Templates.define({
  typeRef: named("Reach"),
  payload: Schema.Struct({ owner: Party.schema, chooser: Party.schema }),
  choices: {
    /** Creates a token of any owner. */
    Make: { consuming: false, argument: Schema.Struct({ owner: Party.schema }), result: made },
    /** Archives a token of any owner. */
    End: {
      consuming: false,
      argument: Schema.Struct({ tokenCid: Schema.String }),
      result: Schema.Struct({})
    },
    /** Fetches a token of any owner. */
    Look: {
      consuming: false,
      argument: Schema.Struct({ tokenCid: Schema.String }),
      result: Schema.Struct({ owner: Party.schema })
    },
    /** A choice without controllers. */
    Free: { consuming: true, argument: Schema.Struct({}), result: Schema.Struct({}) },
    /** Archives one token twice in one transaction. */
    EndTwice: {
      consuming: false,
      argument: Schema.Struct({ tokenCid: Schema.String }),
      result: Schema.Struct({})
    }
  }
})

const token = Entity.define(Token, {
  signatories: ["owner"],
  observers: ["seenBy"],
  choices: {}
})

const orphan = Entity.define(Orphan, {
  signatories: [],
  observers: ["seenBy"],
  choices: {}
})

const reach = Entity.define(Reach, {
  signatories: ["owner"],
  observers: ["chooser"],
  choices: {
    Make: {
      controllers: ["chooser"],
      body: ({ argument: { owner } }, scope) =>
        Result.map(scope.create(Token, { owner, seenBy: [] }), (contractId) => ({ contractId }))
    },
    End: {
      controllers: ["chooser"],
      body: ({ argument: { tokenCid } }, scope) =>
        Result.map(scope.archive(Token, tokenCid), () => ({}))
    },
    Look: {
      controllers: ["chooser"],
      body: ({ argument: { tokenCid } }, scope) =>
        Result.map(scope.fetch(Token, tokenCid), ({ owner }) => ({ owner }))
    },
    Free: { controllers: [], body: () => Result.succeed({}) },
    EndTwice: {
      controllers: ["chooser"],
      body: ({ argument: { tokenCid } }, scope) =>
        Result.map(
          Result.andThen(scope.archive(Token, tokenCid), scope.archive(Token, tokenCid)),
          () => ({})
        )
    }
  }
})

/** Templates of the suite itself, which a ledger under test needs beside the venue's. */
export const entities: ReadonlyArray<Entity.Entity> = [token, orphan, reach]
