/** Faulty choices that each break one rule of reserves on purpose, and that the suite must catch. */
import { Decimal } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import type { Entity, Instance } from "../ledger/simulated/Entity.ts"
import { holding } from "../ledger/simulated/choices/Registry.ts"
import { reserve } from "../ledger/simulated/choices/Reserve.ts"

interface Fault {
  /** One law that the fault must break. */
  readonly breaks: string
  /** Entities that replace those of the ledger. */
  readonly entities: ReadonlyArray<Entity>
}

/** Replaces how a choice of an entity is exercised. */
const exercising = (
  entity: Entity,
  pending: (
    instance: Instance,
    ask: Parameters<Instance["pending"]>[0]
  ) => ReturnType<Instance["pending"]>
): Entity => ({
  ...entity,
  read: (payload) =>
    Result.map(entity.read(payload), (instance) => ({
      ...instance,
      pending: (ask) => pending(instance, ask)
    }))
})

/** Identity function that keeps the names of the faults in the type. */
const named = <const N extends string>(faults: Readonly<Record<N, Fault>>) => faults

const isRecord = (value: Ledger.LfValue): value is Ledger.LfRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Puts the terms that wait in force as soon as they are accepted. */
const atOnce = (payload: Ledger.LfRecord): Ledger.LfRecord => {
  const decoded = Result.getOrThrow(Templates.decodePayload(Templates.Reserve, payload))
  return decoded.pending === null
    ? payload
    : Templates.encodePayload(Templates.Reserve, {
        ...decoded,
        terms: decoded.pending.terms,
        pending: null
      })
}

/** Planted faults of choices, by which the suite is tested itself. */
export const faults = named({
  "a lock is ignored": {
    breaks: "R1",
    entities: [
      exercising(holding, (instance, ask) =>
        ask.choice === "Transfer"
          ? Result.flatMap(holding.read({ ...instance.payload, lock: null }), (unlocked) =>
              unlocked.pending(ask)
            )
          : instance.pending(ask)
      )
    ]
  },
  "the count of units is not raised": {
    breaks: "R2",
    entities: [
      exercising(reserve, (instance, ask) =>
        ask.choice === "Take" && isRecord(ask.argument)
          ? instance.pending({ ...ask, argument: { ...ask.argument, change: "0" } })
          : instance.pending(ask)
      )
    ]
  },
  "pending terms are in force early": {
    breaks: "R3",
    entities: [{ ...reserve, read: (payload) => reserve.read(atOnce(payload)) }]
  },
  "terms that tighten wait": {
    breaks: "R4",
    entities: [
      exercising(reserve, (instance, ask) => {
        const self = Result.getOrThrow(Templates.decodePayload(Templates.Reserve, instance.payload))
        if (ask.choice !== "Amend") return instance.pending(ask)
        const amendment = Templates.decodeArgument(Templates.Reserve, "Amend", ask.argument)
        const tightens =
          Result.isSuccess(amendment) &&
          Decimal.greaterThan(amendment.success.terms.minCover, self.terms.minCover)
        if (!tightens) return instance.pending(ask)
        return Result.map(instance.pending(ask), (pending) => ({
          ...pending,
          run: (scope) =>
            Result.map(scope.create(Templates.Reserve, self), (contractId) => ({ contractId }))
        }))
      })
    ]
  }
})

/** Name of a planted fault of a choice. */
export type FaultName = keyof typeof faults
