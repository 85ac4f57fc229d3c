/** Requests to the door, as tests write them. */
import type { Opened } from "./opened.ts"
import { dig } from "./opened.ts"

export const point = "#bursar-admin-v1:Bursar.Admin.Price:OraclePoint"
export const holding = "#bursar-registry-v1:Bursar.Registry:Holding"
export const holdingInterface = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"

/** A contract that one party alone signs. */
export const createPoint = (
  party: string,
  more: {
    readonly readers?: ReadonlyArray<string>
    readonly value?: unknown
    readonly instrumentId?: string
  } = {}
) => ({
  CreateCommand: {
    templateId: point,
    createArguments: {
      oracle: party,
      venue: party,
      fund: party,
      registrar: party,
      attestors: more.readers ?? [],
      instrumentId: more.instrumentId ?? "I",
      metric: "price",
      value: more.value ?? "1.25",
      valuationTime: "2026-01-05T09:00:00Z"
    }
  }
})

export const createHolding = (party: string, amount = "10") => ({
  CreateCommand: {
    templateId: holding,
    createArguments: {
      registrar: party,
      owner: party,
      provider: party,
      instrument: { admin: party, id: "EUR" },
      amount,
      restricted: false,
      label: "",
      meta: {}
    }
  }
})

export const archive = (contractId: string) => ({
  ExerciseCommand: { templateId: point, contractId, choice: "Archive", choiceArgument: {} }
})

export const correct = (contractId: string, value = "2") => ({
  ExerciseCommand: {
    templateId: point,
    contractId,
    choice: "Correct",
    choiceArgument: { value, valuationTime: "2026-01-05T09:00:00Z" }
  }
})

export const eventFormat = (party: string, ...cumulative: ReadonlyArray<object>) => ({
  filtersByParty: {
    [party]: { cumulative: cumulative.map((filter) => ({ identifierFilter: filter })) }
  },
  verbose: true
})

export const effects = (party: string, ...cumulative: ReadonlyArray<object>) => ({
  includeTransactions: {
    transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS",
    eventFormat: eventFormat(party, ...cumulative)
  }
})

export const deltas = (party: string, ...cumulative: ReadonlyArray<object>) => ({
  includeTransactions: {
    transactionShape: "TRANSACTION_SHAPE_ACS_DELTA",
    eventFormat: eventFormat(party, ...cumulative)
  }
})

export interface Submitted {
  readonly contractId: string
  readonly offset: number
  readonly updateId: string
}

/** Submits and expects success; the first contract that was created. */
export const submit = async (
  door: Opened,
  by: { readonly party: string; readonly token: string },
  commandId: string,
  ...commands: ReadonlyArray<object>
): Promise<Submitted> => {
  const answer = await door.ask(by.token, "/v2/commands/submit-and-wait-for-transaction", {
    commands: { commandId, actAs: [by.party], commands },
    transactionFormat: effects(by.party).includeTransactions
  })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  const events = dig(answer.json, "transaction", "events")
  const created = Array.isArray(events)
    ? events.flatMap((event) => dig(event, "CreatedEvent", "contractId") ?? [])
    : []
  return {
    contractId: String(created[0]),
    offset: Number(dig(answer.json, "transaction", "offset")),
    updateId: String(dig(answer.json, "transaction", "updateId"))
  }
}
