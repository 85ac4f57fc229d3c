/** Facts from the ledger that set the timers of the distributions whose lines or contract an update moved. */
import { Effect } from "effect"
import { contracts } from "../../projection/Contract.ts"
import type { FromLedger } from "../../projection/FromLedger.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import {
  DeliveredLine as DeliveredTemplate,
  Distribution as DistributionTemplate,
  DistributionLine as LineTemplate
} from "../../templates/Distribution.ts"
import { key } from "../../templates/Template.ts"
import { setTimers } from "./DistributionTimerSteps.ts"

/** Choices after which an instruction or a roll may be due. */
const choices: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  [key(DistributionTemplate.typeRef), ["Open", "Close"]],
  [key(LineTemplate.typeRef), ["Deliver", "Direct", "Void"]],
  [key(DeliveredTemplate.typeRef), ["Roll"]]
])

/** A distribution that an update moved, and the act of the update. */
interface MovedDistribution {
  readonly distributionId: string
  readonly act: Act
}

const timers: FromLedger = {
  template: DistributionTemplate.typeRef,
  whole: Effect.fn("DistributionTimer.whole")(function* ({ act, events, from }) {
    if (from === "snapshot") return []
    const ids = events.flatMap((event) =>
      event._tag === "Exercised" &&
      choices.get(key(event.template))?.includes(event.choice) === true
        ? [event.contractId]
        : []
    )
    if (ids.length === 0) return []
    const records = yield* Records
    const moved = yield* records.many(contracts, ids)
    const distributionIds = moved.flatMap(({ payload }) =>
      typeof payload === "object" && payload !== null && "distributionId" in payload
        ? [String(payload["distributionId"])]
        : []
    )
    return [...new Set(distributionIds)].map(
      (distributionId): MovedDistribution => ({ distributionId, act })
    )
  }),
  // Called once a batch, since each call searches the lines that the transaction has written.
  batch: Effect.fn("DistributionTimer.batch")(function* (findings) {
    const last = new Map(
      (findings as ReadonlyArray<MovedDistribution>).map(({ distributionId, act }) => [
        distributionId,
        act
      ])
    )
    for (const [distributionId, act] of last) yield* setTimers([distributionId], act)
  })
}

export const fromLedger: ReadonlyArray<FromLedger> = [timers]
