/** Contracts that any party creates: the name of their instrument, which keys of records contain, has a bound. */
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { expect, it } from "vitest"

const stranger = Party.of("stranger::1220ab")
const venue = Party.of("venue::1220cd")
const start = Instant.of("2026-01-01T00:00:00Z")

const point = Templates.encodePayload(Templates.OraclePoint, {
  oracle: stranger,
  venue,
  fund: stranger,
  registrar: stranger,
  attestors: [],
  instrumentId: "x",
  metric: "price",
  value: Decimal.of("1"),
  valuationTime: start,
  period: null,
  withholdingRate: null,
  statementRef: null,
  corrects: null
})

const holding = Templates.encodePayload(Templates.Holding, {
  registrar: stranger,
  owner: stranger,
  provider: venue,
  instrument: { admin: stranger, id: "x" },
  amount: Decimal.of("1"),
  restricted: false,
  lock: null,
  label: "",
  meta: {}
})

// A payload that does not decode is kept as a breach, which moves no record.
it.each([
  [256, true],
  [257, false]
])("a price and a holding of a name of %i characters are read: %s", (length, isRead) => {
  const name = "x".repeat(length)
  const priced = { ...point, instrumentId: name }
  const held = { ...holding, instrument: { admin: stranger, id: name } }
  const read = [
    Result.isSuccess(Templates.decodePayload(Templates.OraclePoint, priced)),
    Result.isSuccess(Templates.decodePayload(Templates.Holding, held))
  ]
  expect(read).toEqual([isRead, isRead])
})
