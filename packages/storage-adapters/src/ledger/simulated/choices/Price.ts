/**
 * Choice bodies of price points: only the oracle corrects one, by a new point that names the old.
 */
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { define } from "../Entity.ts"

export const oraclePoint = define(Templates.OraclePoint, {
  signatories: ["oracle"],
  observers: ["venue", "fund", "registrar", "attestors"],
  choices: {
    Correct: {
      controllers: ["oracle"],
      body: ({ self, contractId, argument }, scope) =>
        Result.map(
          scope.create(Templates.OraclePoint, { ...self, ...argument, corrects: contractId }),
          (corrected) => ({ contractId: corrected })
        )
    }
  }
})
