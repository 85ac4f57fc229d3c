/** A venue in one process as one object: its clock and its wallets are members of it, with Effect and without. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Venue } from "@bursar/storage-adapters/venue"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { acts } from "#adapters/ledger/wallets/Acts.ts"
import { actors } from "#adapters/ledger/wallets/Duty.ts"
import { terms } from "../venue/market.ts"

const start = "2026-07-01T12:00:00Z"
const at = (text: string) => Instant.format(Instant.of(text))
const isDecimal: Decimal.Decimal = Decimal.one

describe("a venue in one process, with Effect", () => {
  it.live("has the clock by which an undecided action lapses, and the wallet that configures", () =>
    Effect.gen(function* () {
      const venue = yield* Venue.make
      const olive = venue.as({ sub: "olive", roles: ["operator"] })
      const registrar = yield* venue.wallets.registrar("registrar")
      yield* registrar.configure({
        instrumentId: "elf",
        provider: registrar.party,
        issuer: registrar.party
      })
      assert.lengthOf(yield* registrar.find(Templates.InstrumentConfiguration), 1)
      const { actionKey } = yield* olive.write("instrument.record", terms)
      assert.isNotNull(actionKey)
      yield* venue.clock.by("PT2H")
      const { state } = yield* olive.read("approvals.get", { actionKey: actionKey ?? "" })
      assert.strictEqual(state, "lapsed")
    }).pipe(Effect.provide(Venue.memory({ clock: start, settings: { approvalExpiry: 3_600_000 } })))
  )
})

describe("a venue in one process, of promises", () => {
  it("moves its clock, opens its wallets, and has every act of each of them", async () => {
    await using venue = await Venue.open(Venue.memory({ clock: start }))
    expect(Instant.format(await venue.clock.now())).toBe(at(start))
    await venue.clock.to("2026-07-02")
    await venue.clock.by("PT1H")
    await venue.clock.set("2026-07-02T02:00:00Z")
    await venue.clock.runDue()
    expect(Instant.format(await venue.clock.now())).toBe(at("2026-07-02T02:00:00Z"))
    for (const actor of actors) {
      const wallet = await venue.wallets[actor](actor)
      expect(wallet.party).toContain(`${actor}::`)
      for (const act of Object.keys(acts[actor])) expect(wallet).toHaveProperty(act)
    }
    const registrar = await venue.wallets.registrar("registrar")
    const investor = await venue.wallets.investor("investor")
    await registrar.issue({
      instrumentId: "USD",
      provider: registrar.party,
      receiver: investor.party,
      amount: Decimal.of("60"),
      reference: "first"
    })
    const { act } = await investor.acceptTransfer("USD")
    expect(act).toBe("accept-transfer")
    const [holding] = await investor.find(Templates.Holding)
    const amount: typeof isDecimal | undefined = holding?.payload.amount
    expect(amount).toBe(Decimal.of("60"))
    expect(await venue.wallets.work()).toBe(0)
  })

  it("is rejected with the wallet's error, and with a refusal as an Error", async () => {
    await using venue = await Venue.open(Venue.memory({ clock: start }))
    const investor = await venue.wallets.investor("investor")
    await expect(investor.acceptTransfer("USD")).rejects.toThrow(
      "the investor's wallet investor has nothing that it could acceptTransfer"
    )
    await expect(venue.wallets.fund("investor")).rejects.toThrow(
      "there is one wallet investor, and it is the investor's"
    )
    await expect(venue.clock.to("2026-06-30")).rejects.toThrow("the clock runs forward")
    await expect(venue.clock.to("tomorrow")).rejects.toThrow("RFC 3339")
    const nobody = venue.as({ sub: "nobody", roles: [] })
    await expect(nobody.list("instruments.list")).rejects.toBeInstanceOf(Venue.Refused)
  })

  it("never takes the place of the engine's own venue over other ports, in its type", () => {
    // @ts-expect-error A layer of the engine alone has neither clock nor wallets.
    const open = () => Venue.open(Venue.memory() as unknown as EngineLayer)
    expect(open).toBeTypeOf("function")
  })
})

type EngineLayer = typeof import("@bursar/engine-core").Engine.layer
