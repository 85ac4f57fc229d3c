/** Writes of the toys on the ledger that tests ask for, how each ended, and how often it committed. */
import { Records } from "@bursar/engine-core"
import { Effect } from "effect"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"

export const operator = Calls.person("olga", "operator")

let keys = 0
export const newKey = (): string => `k${++keys}`

export const declared = { operations: Notes.operations, fromLedger: Notes.fromLedger }

export const ask = (
  write: (typeof Notes.operations)[number],
  noteId: string,
  registrar: string | null = null
) =>
  Effect.map(
    Calls.submit(write, operator, {
      params: { noteId },
      body: registrar === null ? "{}" : `{"registrar":"${registrar}"}`,
      key: newKey()
    }),
    (answer) => String(Calls.field(answer, "operationId"))
  )

export const find = (operationId: string) =>
  Effect.flatMap(Records, (records) => records.get(operations, operationId))

export const stateOf = (operationId: string) => Effect.map(find(operationId), ({ state }) => state)

export const isFinal = (operationId: string) =>
  Effect.map(find(operationId), ({ finishedAt }) => finishedAt !== null)

export const commitsOf = (operationId: string) =>
  Effect.map(Notes.commits, (all) => all.get(operationId) ?? 0)
