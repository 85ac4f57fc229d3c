/** Instances that die while they take statements in, make runs, or delete: each is there once and whole, or not at all. */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ports } from "../engine/world.ts"
import * as Deaths from "./intake-deaths.ts"

const passing = { hour: TestClock.adjust("61 minutes") }
const sides = ["before", "after"] as const

describe("an instance that takes a statement in", () => {
  it.effect.each(sides)(
    "never leaves two of it, none, or a stage, whichever call it dies at (%s the call)",
    (side) =>
      Deaths.intakes(side, passing).pipe(Effect.provide(ports({ settings: Deaths.settings })))
  )
})

describe("an instance that makes a run that somebody called for", () => {
  it.effect("never makes it twice, nor has two events of it, whichever call it dies after", () =>
    Deaths.calledRuns("after", passing).pipe(Effect.provide(ports({ settings: Deaths.settings })))
  )
})

describe("an instance that deletes statements past their period", () => {
  it.effect.each(sides)(
    "never leaves a part of one, nor touches another, whichever call it dies at (%s the call)",
    (side) =>
      Deaths.retentions(side, passing).pipe(Effect.provide(ports({ settings: Deaths.settings })))
  )
})
