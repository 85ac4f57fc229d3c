/** Controls in the way of an act: sets one, removes it, and reads the gates of the act meanwhile. */
import { Catalogue, type Operation, Records } from "@bursar/engine-core"
import { Instant, type Party, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Result, Schema } from "effect"
import { gateChecksOf } from "#core/kernel/Gates.ts"
import * as Calls from "../engine/calls.ts"

export const modes = ["freeze", "receive-only", "redeem-only"] as const
/** A hold on all of the instrument, or a restriction of one holder. */
export type Control = "hold" | (typeof modes)[number]
export const controls: ReadonlyArray<Control> = ["hold", ...modes]

/** A write that a test drives. */
export interface Act {
  readonly kind: string
  readonly params?: Readonly<Record<string, string>>
  readonly body?: { readonly [member: string]: Calls.Json }
}

let count = 0

/** Sets a control; answers how it is taken away again. */
export const sets = (control: Control, holderId = "h1") =>
  Effect.gen(function* () {
    const id = `control-${++count}`
    const set =
      control === "hold"
        ? yield* Calls.write(
            "instrument.pause",
            { instrumentId: "fund-a" },
            { holdId: id, reason: "to see" }
          )
        : yield* Calls.write(
            "holder.restrict",
            { holderId },
            // One on all that a holder has, and one on this instrument, stop the same here.
            {
              restrictionId: id,
              mode: control,
              reason: "pledge",
              ...(control === "freeze" ? {} : { instrumentId: "fund-a" })
            }
          )
    if (set.why !== "") throw new Error(`${control}: ${set.why}`)
    return control === "hold"
      ? Calls.write("hold.release", { holdId: id }, {})
      : Calls.write("restriction.lift", { restrictionId: id }, { reason: "seen" })
  })

/** Result of an effect that runs while a control is in force; the control is ended afterwards. */
export const under = <A, E, R>(control: Control, what: Effect.Effect<A, E, R>, holderId = "h1") =>
  Effect.gen(function* () {
    const away = yield* sets(control, holderId)
    const came = yield* what
    const gone = yield* away
    if (gone.why !== "") throw new Error(`${control} stays: ${gone.why}`)
    return came
  })

export const writes = ({ kind, params = {}, body = {} }: Act) => Calls.write(kind, params, body)

/** Every row that judges an act as it would run now; only what declares its gates has them. */
export const rowsOf = (venue: Party.Party, { kind, params = {}, body = {} }: Act) =>
  Effect.gen(function* () {
    const operation: Operation.Operation | undefined = Catalogue.operations.find(
      (one) => one.kind === kind
    )
    if (operation?.gates === undefined) throw new Error(`${kind} declares no gates`)
    const plain = Result.getOrThrow(PlainJson.parse(JSON.stringify({ ...body, ...params })))
    const input = Schema.decodeUnknownSync(operation.input)(plain)
    const records = yield* Records
    const act = {
      operationId: "op_asked",
      venue,
      actor: "olga",
      role: "operator" as const,
      signedBy: [],
      sealed: null,
      cause: { by: "operation" as const, operationId: "op_asked" },
      now: yield* Instant.now
    }
    return gateChecksOf(yield* records.rehearse(operation.gates(input, act)))
  })

/** Rows of an act's checks that refuse, as the tables name them. */
export const refusing = (venue: Party.Party, act: Act) =>
  Effect.map(rowsOf(venue, act), (rows) =>
    rows.filter(({ ok }) => !ok).map(({ gate, check }) => `${gate} ${check}`)
  )
