/** Counterparties of bank entries: stored sealed in blocks, and shown as the file names them. */
import { Queries } from "@bursar/engine-core"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as StatementQueries from "#core/overviews/external-statement/StatementQueries.ts"
import * as Counterparties from "#core/statements/external-statement/Counterparties.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import type { CashEntry } from "#core/statements/external-statement/StatementLine.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import * as Secrets from "#core/writes/Secrets.ts"
import { Records } from "@bursar/engine-core"
import * as Calls from "../engine/calls.ts"
import * as Accounts from "./accounts.ts"
import * as Intakes from "./intakes.ts"
import * as Story from "./story.ts"

type Counterparty = Counterparties.Counterparty | null

const bank = Intakes.source({
  externalSourceId: "bank-1",
  kind: "cash",
  account: "account-1",
  accountIs: null
})

/** Hands in a file of entries with these counterparties; its stored lines, and the lines as they are shown. */
const handed = (counterparties: ReadonlyArray<Counterparty>) =>
  Effect.gen(function* () {
    const cast = yield* Story.cast
    yield* Story.recorded(cast)
    yield* TestClock.setTime(Date.parse("2026-07-03T00:00:00Z"))
    yield* Accounts.plants({
      externalAccountId: "account-1" as never,
      instrumentId: "fund-a",
      segregated: true
    })
    const lines = counterparties.map((counterparty) => ({
      ...{ amount: "100", direction: "credit", counterparty }
    }))
    const { id } = yield* Intakes.receive(Intakes.file({ businessDate: "2026-06-30", lines }), {
      named: { externalSourceId: "bank-1" }
    })
    const records = yield* Records
    const statement = yield* records.get(externalStatements, id)
    const stored = yield* Stream.runCollect(StatementLookups.linesOf(statement))
    const queries = yield* Queries
    const { rows } = yield* queries.streamed(StatementQueries.get, {
      caller: Calls.operator,
      params: { externalStatementId: id },
      point: {}
    })
    const shown = rows === null ? [] : yield* Stream.runCollect(rows)
    return { stored, shown: shown as ReadonlyArray<Record<string, unknown>> }
  }).pipe(Effect.provide(Intakes.engine({ sources: [bank] })))

const name = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => !text.includes("\0"))
const counterparty = fc.option(fc.record({ name: fc.option(name), account: fc.option(name) }), {
  nil: null
})

const entry = {
  ...{ kind: "cash", line: 1, bookingDate: "2026-06-30", valueDate: null, amount: 1n },
  ...{ currency: "EUR", direction: "credit", bankReference: null, reference: null }
} as unknown as Omit<CashEntry, "counterparty">

const nonce = new Uint8Array(12)
const [k1] = Intakes.sealing.sealingKeys
const k2 = { keyId: "k2", secret: new Uint8Array(32).fill(9) }

describe("the counterparty of an entry", () => {
  it.effect("is shown as the file names it, whichever entries of the file have one", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(counterparty, { minLength: 1, maxLength: 250, size: "max" }),
          async (counterparties) => {
            const { shown } = await Calls.runCase(handed(counterparties))
            assert.deepEqual(
              shown.map((line) => line["counterparty"] as Counterparty),
              counterparties
            )
            assert.isFalse(shown.some((line) => "counterparties" in line))
          }
        ),
        { numRuns: 10 }
      )
    )
  )

  it.effect("never lies open in a row, and blocks are of at most 64 lines", () =>
    Effect.gen(function* () {
      const counterparty = { name: "Example AG", account: "DE1" }
      const { shown, stored } = yield* handed(Array.from({ length: 1_201 }, () => counterparty))
      assert.notInclude(
        JSON.stringify(stored, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
        "Example"
      )
      const sealedAt = stored.flatMap((line) =>
        line.kind === "cash" && line.counterparties !== undefined ? [line.line] : []
      )
      assert.deepEqual(
        sealedAt,
        Array.from({ length: 19 }, (_, block) => 1 + 64 * block)
      )
      assert.deepEqual(shown.at(-1)?.["counterparty"], counterparty)
    })
  )

  it.effect("is read under a key that seals no more, and as earlier versions stored it", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const counterparty = { name: "Example AG", account: null }
      const sealed = { keys: [k1!], nonce }
      const read = Counterparties.reader({ keys: [k2, k1!] }, crypto)
      const own = Secrets.seal(JSON.stringify(counterparty), sealed, crypto)
      assert.deepEqual(read({ ...entry, counterparty: own }), counterparty)
      const block = Counterparties.seal(
        [counterparty, { name: null, account: "DE1" }],
        sealed,
        crypto
      )
      assert.isNull(read({ ...entry, counterparty: null, counterparties: block }))
      assert.deepEqual(read({ ...entry, counterparty: 1 }), { name: null, account: "DE1" })
      assert.deepEqual(read({ ...entry, counterparty: 0 }), counterparty)
    }).pipe(Effect.provide(NodeCrypto.layer))
  )

  it.effect("is no other one where its block was changed or its key is missing", () =>
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const block = Counterparties.seal(
        [{ name: "A", account: null }],
        { keys: [k1!], nonce },
        crypto
      )
      const read = (line: Pick<CashEntry, "counterparties" | "counterparty">, keys = [k1!]) =>
        Effect.exit(
          Effect.sync(() => Counterparties.reader({ keys }, crypto)({ ...entry, ...line }))
        )
      const changed = `${block.slice(0, -2)}${block.endsWith("A=") ? "B=" : "A="}`
      const faults = [
        read({ counterparty: 0, counterparties: changed }),
        read({ counterparty: 0, counterparties: block }, [k2]),
        read({ counterparty: 1, counterparties: block }),
        read({ counterparty: 0 })
      ]
      for (const fault of faults) assert.isTrue(Exit.isFailure(yield* fault))
    }).pipe(Effect.provide(NodeCrypto.layer))
  )
})
