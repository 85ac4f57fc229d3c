/** Holdings that any party creates in the venue's name: amounts that no register may sum. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import { world } from "../engine/world.ts"
import * as Backed from "../operations/backed.ts"
import * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as Reconciling from "../operations/reconciling.ts"

const largest = "9999999999999999999999999999.9999999999"
const limit = "1000000000000000000"
const below = "999999999999999999.9999999999"

/** The bank has holdings of its own asset created in the venue's name. */
const creates = (scene: Backed.Scene, ...amounts: ReadonlyArray<string>) => {
  const { bank, usd, venue } = scene
  return bank.act(
    ...amounts.map((amount) =>
      Templates.create(Templates.Holding, {
        registrar: bank.party,
        owner: bank.party,
        provider: venue,
        instrument: usd,
        amount: Decimal.of(amount),
        restricted: false,
        lock: null,
        label: "",
        meta: {}
      })
    )
  )
}

const holding = (amount: string) =>
  Powers.saying(Templates.Holding, { amount: `${amount}.0000000000` })

/** Units of the bank's own asset in the register, and its supply, as text. */
const registered = Effect.gen(function* () {
  const records = yield* Records
  const entries = yield* records.list(registerEntries, { limit: 100 })
  const found = yield* records.list(supplies, { limit: 100 })
  return [...entries, ...found]
    .filter(({ record }) => record.instrumentId === "USD")
    .map(({ record }) => Decimal.formatPlain(record.units))
})

describe("holdings in the venue's name", () => {
  it.effect("never stop the projection, whatever their sum, and are counted below 10^18", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* creates(scene, largest, largest)
      yield* creates(scene, largest, limit)
      assert.deepEqual(yield* registered, [])
      yield* creates(scene, below, below)
      assert.deepEqual(yield* registered, Array(2).fill("1999999999999999999.9999999998"))
      assert.deepEqual(
        yield* Fund.surprises,
        Array(4).fill(
          "contract read: Holding: An amount of more than 18 digits before the point is not counted."
        )
      )
      // An instrument of the venue is priced and its projection agrees with the ledger.
      yield* Backed.prices(scene, "2")
      const { value } = yield* Reconciling.run('{"scope":{"checks":["projection-drift"]}}')
      assert.strictEqual(value.verdict, "clear")
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "are counted once they are divided, and no longer where they grow beyond the limit",
    () =>
      Effect.gen(function* () {
        const scene = yield* Backed.opened()
        const { bank } = scene
        yield* creates(scene, limit)
        const whole = yield* holding(limit)
        yield* bank.act(
          Templates.exercise(Templates.Holding, whole.cid, "OfferTransfer", {
            receiver: scene.custodian.party,
            amount: Decimal.of("1"),
            executeBefore: Backed.farDeadline
          })
        )
        assert.deepEqual(yield* registered, Array(2).fill(limit))
        const rest = yield* holding("999999999999999999")
        yield* creates(scene, "2")
        const more = yield* holding("2")
        yield* bank.act(
          Templates.exercise(Templates.Holding, rest.cid, "Merge", {
            holdingCids: [more.cid]
          })
        )
        assert.deepEqual(yield* registered, ["1", "1"])
      }).pipe(Effect.provide(world()))
  )
})
