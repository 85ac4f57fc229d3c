/** Inputs of an actor from files: the present content, and the last good content while a file cannot be read. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Decimal } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Commands from "#adapters/ledger/wallets/Commands.ts"
import * as Flags from "#adapters/ledger/wallets/Flags.ts"
import * as ActorInputs from "#adapters/ledger/wallets/ActorInputs.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bursar-known-"))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const flagsOf = (...args: ReadonlyArray<string>) => Result.getOrThrow(Flags.parse(args))

const inputsText = (price: string | null) =>
  JSON.stringify({
    accept: ["R1"],
    instruments: [
      {
        instrumentId: "FUND-A",
        unitDecimals: 6,
        swung: price === null ? [] : [{ valuationTime: "2026-01-05T16:00:00Z", price }]
      }
    ]
  })

describe("the terms of a policy file", () => {
  it("never would be those of the start, when a swung price is told later", () => {
    const path = join(folder, "policy.json")
    writeFileSync(path, inputsText(null))
    const terms = Result.getOrThrow(ActorInputs.termsAtEveryLook(flagsOf("--policy", path)))
    expect(terms().instruments[0]?.swung).toEqual([])
    writeFileSync(path, inputsText("1.0452"))
    expect(terms().instruments[0]?.swung?.[0]?.price).toBe(Decimal.of("1.0452"))
    expect(terms().policy.accept).toEqual(["R1"])
    writeFileSync(path, inputsText("1.05").slice(0, 40))
    expect(terms().instruments[0]?.swung?.[0]?.price).toBe(Decimal.of("1.0452"))
    writeFileSync(path, inputsText("1.06"))
    expect(terms().instruments[0]?.swung?.[0]?.price).toBe(Decimal.of("1.06"))
  })

  it("says where a file of a policy, or a line of prices, is not JSON", () => {
    const path = join(folder, "slip.json")
    writeFileSync(path, '{\n  "accept": ["R1",]\n}')
    const policy = ActorInputs.file(flagsOf("--policy", path))
    writeFileSync(path, '{"value": "1"}\n\n{"value" "1"}\n')
    const quotes = ActorInputs.quotesOf(path)
    const said = <A>(read: Result.Result<A, Flags.Usage>) =>
      Result.isFailure(read) ? read.failure.why : ""
    expect([said(policy), said(quotes)]).toEqual([
      expect.stringContaining(`${path}: it is not JSON at line 2, column 19: `),
      expect.stringContaining(`${path}, line 3: it is not JSON at line 1, column 10: `)
    ])
  })

  it("never would be taken up although the first reading makes no sense", () => {
    const path = join(folder, "wrong.json")
    writeFileSync(path, JSON.stringify({ instruments: [{ instrumentId: "FUND-A" }] }))
    expect(Result.isFailure(ActorInputs.termsAtEveryLook(flagsOf("--policy", path)))).toBe(true)
  })

  it("are joined by those of the flags", () => {
    const path = join(folder, "policy.json")
    writeFileSync(path, inputsText(null))
    const { instruments } = Result.getOrThrow(
      ActorInputs.terms(
        flagsOf(
          "--policy",
          path,
          "--instrument",
          "FUND-B",
          "--unit-decimals",
          "4",
          "--redemption-fee-rate",
          "0.01"
        )
      )
    )
    expect(instruments.map(({ instrumentId }) => instrumentId)).toEqual(["FUND-A", "FUND-B"])
    expect(instruments[1]).toMatchObject({
      unitDecimals: 4,
      redemptionFeeRate: Decimal.of("0.01")
    })
  })
})

describe("a registrar's command about one contract", () => {
  it.each([
    ...["accept-burn", "reject-burn", "accept-mint", "reject-mint"],
    ...["accept-market", "decline-market", "accept-powers", "decline-powers", "end-powers"]
  ])("%s names it by its reference, or by its contract id", (command) => {
    const read = Commands.commands.registrar[command]
    if (read === undefined) throw new Error(`there is no ${command}`)
    expect(Result.isSuccess(read(flagsOf("--reference", "r1")))).toBe(true)
    expect(Result.isSuccess(read(flagsOf("--contract-id", "00aa")))).toBe(true)
    expect(Result.isFailure(read(flagsOf("--order-id", "o1")))).toBe(true)
  })
})
