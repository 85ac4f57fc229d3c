/** Choice bodies of the runner's marker: the venue alone signs it and ends it. */
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define } from "../Entity.ts"

export const spentCommand = define(Templates.SpentCommand, {
  signatories: ["venue"],
  observers: [],
  choices: {
    Archive: {
      controllers: ["venue"],
      body: () => Result.succeed({})
    }
  }
})
