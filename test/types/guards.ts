/**
 * Guards of a choice: the compiler takes no list that lacks a text of the body, or has one more. The
 * texts that whoever maps a ledger is given are therefore those that the ledger aborts with.
 */
import { Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Entity } from "@bursar/storage-adapters/simulated-ledger"
import { Result, Schema } from "effect"

const Door = Templates.define({
  typeRef: { packageName: "door-v1", module: "Door", entity: "Door" },
  payload: Schema.Struct({ owner: Party.schema, open: Schema.Boolean }),
  choices: {
    Enter: { consuming: false, argument: Schema.Struct({}), result: Schema.Struct({}) }
  }
})

const parties = { signatories: ["owner"], observers: [] } as const

/** A helper's text counts as the choice's own. */
const demandOpen = (open: boolean) => Entity.demand([open, "the door is shut"])

export const whole: Entity.Entity = Entity.define(Door, {
  ...parties,
  choices: {
    Enter: {
      controllers: ["owner"],
      guards: ["the door is shut"],
      body: ({ self }) => Result.map(demandOpen(self.open), () => ({}))
    }
  }
})

// @ts-expect-error: the text of the helper is not named
export const lacking: Entity.Entity = Entity.define(Door, {
  ...parties,
  choices: {
    Enter: {
      controllers: ["owner"],
      body: ({ self }) => Result.map(demandOpen(self.open), () => ({}))
    }
  }
})

// @ts-expect-error: no body aborts with the second text
export const more: Entity.Entity = Entity.define(Door, {
  ...parties,
  choices: {
    Enter: {
      controllers: ["owner"],
      guards: ["the door is shut", "the door is painted"],
      body: ({ self }) => Result.map(demandOpen(self.open), () => ({}))
    }
  }
})

export const paths = Entity.define(Door, {
  // @ts-expect-error: a flag is no party
  signatories: ["open"],
  observers: [],
  choices: { Enter: { controllers: ["owner"], body: () => Result.succeed({}) } }
})
