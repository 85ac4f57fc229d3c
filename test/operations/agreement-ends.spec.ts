/** The end of an agreement that only the ledger ends: a second one is kept, and moves nothing. */
import { Records } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { admissionConsents } from "#core/admissions/AdmissionConsent.ts"
import { fromLedger } from "#core/admissions/AdmissionConsentFromLedger.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"

const { AdmissionConsent } = Templates

describe("an admission consent that has ended", () => {
  it.effect("keeps a second revocation as a breach, since no clock can have ended it before", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const records = yield* Records
      const consents = Effect.map(records.list(admissionConsents, { limit: 10 }), (found) =>
        found.map(({ record: { state, endedAt } }) => ({ state, endedAt }))
      )
      const { cid: contractId, payload } = yield* Fund.newestContract(AdmissionConsent)
      yield* stage.registrar.act(Templates.exercise(AdmissionConsent, contractId, "Revoke", {}))
      const ended = yield* consents
      assert.deepEqual(
        ended.map(({ state }) => state),
        ["ended"]
      )
      const offset = 1_000_000 as Offset.Offset
      const effectiveAt = Instant.of(Fund.start)
      const cause = { by: "update", updateId: "1220ff", offset, effectiveAt } as const
      const reading = fromLedger.find(({ template }) => template.entity === "AdmissionConsent")
      yield* records.transact(
        reading?.exercised?.(
          "Revoke",
          payload,
          {
            act: { cause, now: effectiveAt },
            venue: stage.venue,
            offset,
            updateId: "1220ff",
            operationId: null,
            nodeId: 0,
            effectiveAt,
            ledgerTime: effectiveAt,
            contractId
          },
          {
            _tag: "Exercised",
            nodeId: 0,
            lastDescendant: 0,
            contractId,
            template: AdmissionConsent.typeRef,
            iface: Option.none(),
            choice: "Revoke",
            arg: {},
            result: {},
            actors: [],
            consuming: true,
            witnesses: [],
            inAcs: true
          }
        ) ?? Effect.die("no reading")
      )
      assert.deepEqual(yield* consents, ended)
      assert.deepEqual(yield* Fund.surprises, [
        "admission-consent end: A admission-consent in state ended does not answer to end."
      ])
    }).pipe(Effect.provide(world()))
  )
})
