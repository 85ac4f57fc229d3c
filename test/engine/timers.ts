/** Timers: records that the clock moves, twice if it must. */
import { Collection, Instant, Integer } from "@bursar/engine-core/kernel"
import { Schema } from "effect"

export const Timer = Schema.Struct({
  timerId: Schema.String,
  state: Schema.Literals(["set", "rung", "stopped"]),
  rings: Integer.schema,
  ringsAt: Instant.schema,
  stopsAt: Instant.schema,
  touched: Integer.schema
})
const Fact = Schema.Struct({ on: Schema.Literals(["ring", "stop", "touch"]) })

export const timers = Collection.define<typeof Timer.Type, typeof Fact.Type>("timer", {
  doc: "A timer.",
  id: (self) => self.timerId,
  record: Timer,
  fact: Fact,
  evolve: (self, { on }) => {
    if (self.state === "stopped" && on !== "touch") throw new Error("it has stopped")
    if (on === "touch") return { ...self, touched: self.touched + 1 }
    return on === "ring"
      ? { ...self, state: "rung", rings: self.rings + 1 }
      : { ...self, state: "stopped" }
  },
  keptBy: "engine",
  filters: { state: (self) => self.state, owner: (self) => self.timerId.split("-")[0] ?? null },
  ripens: ["state"],
  due: (self) =>
    self.state === "set"
      ? { at: self.ringsAt, fact: { on: "ring" } }
      : self.state === "rung"
        ? { at: self.stopsAt, fact: { on: "stop" } }
        : undefined,
  announce: (self, fact) =>
    fact === undefined
      ? []
      : [
          {
            type: "hold.released",
            resourceKind: "hold",
            resourceId: self.timerId,
            instrumentId: null,
            party: null,
            holderIds: [],
            payload: { on: fact.on }
          }
        ],
  invariants: {
    "it is touched less than ten times": (self) => self.touched < 10
  }
})

export const timer = (timerId: string, ringsAt: number, stopsAt: number): typeof Timer.Type => ({
  timerId,
  state: "set",
  rings: 0,
  ringsAt: Instant.fromEpochMillis(ringsAt),
  stopsAt: Instant.fromEpochMillis(stopsAt),
  touched: 0
})
