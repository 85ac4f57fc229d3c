/**
 * Security test 24: whatever is claimed, delivered, settled, signed and held at the same time, and in
 * whatever order the store and the ledger hear of it, units, cash and the register add up.
 */
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Calls from "../../engine/calls.ts"
import * as Passing from "../../engine/passing.ts"
import * as Floor from "./dealing-floor.ts"
import * as Books from "./floor-books.ts"
import * as Interleaved from "./interleaved.ts"

// Switched off in a copy and seen red: `not-held` of HoldRules.ts (an act was done while held),
// `line-left` of CashLine.ts (a line paid twice), `same-approver` of
// Approval.ts (the maker signed), and a `settle` out of `closed` let in by Subscription.ts.

/** `RUNS=2000 SEED=7` walks further, or elsewhere; `TALLY=1` says what came about. */
const runs = Number(process.env["RUNS"] ?? 30)
const seed = Number(process.env["SEED"] ?? 24)

interface Real {
  readonly floor: Floor.Floor
  readonly audit: () => Promise<Books.Seen>
  /** Begins something and waits for nobody: its turns come among those of all others. */
  readonly begin: (label: string, what: Effect.Effect<unknown, unknown, Floor.Here>) => void
}

/**
 * A command without a model: any step may be tried at any time, and the books judge the outcome.
 */
const command = (
  label: string,
  what: (floor: Floor.Floor) => Effect.Effect<unknown, unknown, Floor.Here>
): fc.AsyncCommand<object, Real> => ({
  check: () => true,
  run: async (_, { audit, begin, floor }) => {
    await audit()
    begin(label, what(floor))
  },
  toString: () => label
})

const orderId = fc.constantFrom(...Floor.orderIds)
const delivered = fc.constant(Floor.orderIds[0])
const priced = fc.constantFrom(Floor.orderIds[1], Floor.orderIds[2])
const maker = fc.constantFrom<Floor.Who>("olga", "otto")
const signer = fc.constantFrom<Floor.Who>("ada", "ada", "otto", "olga")
const key = fc.constantFrom(null, null, "k1", "k2")

const request = (subscriptionId: fc.Arbitrary<string>) =>
  fc.record({
    subscriptionId,
    who: maker,
    key,
    holderId: fc.constantFrom(...Floor.holderIds),
    line: fc.constantFrom(1, 1, 2)
  })

const actOnOrder = (verb: string, subscriptionId: fc.Arbitrary<string>) =>
  request(subscriptionId).map(({ line, ...call }) => {
    const paying = verb === "deliver" ? { ...call, line } : call
    const named = `${call.who} ${verb}s ${call.subscriptionId} key ${call.key} line ${line}`
    return command(named, () => Floor.submit(`subscription.${verb}`, paying))
  })

const signed = request(priced).map((call) =>
  command(
    `${call.who} has ${call.subscriptionId} delivered, key ${call.key} line ${call.line}`,
    () => Floor.deliverSigned(call)
  )
)

const instance = fc
  .constantFrom(0, 1)
  .map((index) =>
    command(`instance ${index} works`, ({ instances }) => instances[index] ?? Effect.void)
  )

/** The pause runs beside whatever is queued: what was signed and has not begun finds it held. */
const heldAtOnce = ({ instances }: Floor.Floor) => Effect.andThen(Floor.hold, instances[0])

const every: ReadonlyArray<fc.Arbitrary<fc.AsyncCommand<object, Real>>> = [
  actOnOrder("claim", orderId),
  actOnOrder("claim", orderId),
  actOnOrder("deliver", priced),
  signed,
  signed,
  actOnOrder("deliver", orderId),
  actOnOrder("settle", delivered),
  actOnOrder("settle", priced),
  actOnOrder("withdraw", orderId),
  actOnOrder("release", orderId),
  orderId.map((id) => command(`${id} is attested`, (floor) => Floor.attest(floor, id))),
  fc
    .record({ nth: fc.nat(4), who: signer })
    .map(({ nth, who }) => command(`${who} approves ${nth}`, () => Floor.approve(nth, who))),
  fc
    .record({ nth: fc.nat(4), who: signer })
    .map(({ nth, who }) => command(`${who} approves ${nth}`, () => Floor.approve(nth, who))),
  instance,
  instance,
  instance,
  fc.constant(command("instrument is held", () => Floor.hold)),
  fc.constant(command("instrument is held at once", heldAtOnce)),
  fc.constant(command("instrument is let go", () => Floor.lift))
]

/** Tally of outcomes over all walks: a walk in which nothing happens proves nothing. */
const tally = new Map<string, number>()
const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1)

const walk = (commands: Iterable<fc.AsyncCommand<object, Real>>, scheduler: fc.Scheduler) => {
  const turns: Interleaved.Turns = { scheduler: null }
  return Calls.runCase(
    Effect.gen(function* () {
      const floor = yield* Floor.open
      const run = Effect.runPromiseWith(yield* Effect.context<Floor.Here>())
      const broken: Array<unknown> = []
      let underWay = 0
      const real: Real = {
        floor,
        audit: () => run(Books.audit(floor.begun)),
        begin: (label, what) => {
          underWay += 1
          run(what).then(
            (answer) => {
              underWay -= 1
              count(`${label.split(" ")[1]}: ${String(answer)}`)
            },
            (error) => broken.push(error)
          )
        }
      }
      turns.scheduler = scheduler
      yield* Effect.promise(() =>
        fc.scheduledModelRun(scheduler, () => ({ model: {}, real }), commands)
      )
      turns.scheduler = null
      // From here the scheduler hands out no turns: only the clock delays a call.
      const rest = Effect.andThen(
        Calls.settle,
        Effect.map(Books.audit(floor.begun), Books.isAtRest)
      )
      const atRest = yield* Passing.until(
        Effect.map(rest, (isAtRest) => isAtRest && underWay === 0),
        60
      )
      expect(broken).toEqual([])
      expect(atRest, "everything ends").toBe(true)
      const { orders, operations } = yield* Books.close(floor.begun)
      for (const { state } of orders) count(`order ${state}`)
      for (const { kind, state, problem } of operations) {
        const refusal = (problem ?? {}) as { readonly check?: unknown }
        count([kind, state, refusal.check ?? ""].join(" "))
        if (refusal.check === "not-held") count(`an act ${state} not-held`)
      }
    }).pipe(Effect.provide(Floor.layer(turns)))
  )
}

/**
 * Outcomes that only an interleaving produces: the call passed the door and was refused when it
 * ran.
 */
const telling = [
  "order closed",
  "order released",
  "an act failed not-held",
  "subscription.deliver failed SubscriptionState",
  "subscription.settle failed SubscriptionState"
]

describe("everybody at once", () => {
  it("count each unit, bank line, end and signature once, and mint nothing of a held instrument", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands([...every], { maxCommands: 40, size: "max" }),
        fc.scheduler({ act: Interleaved.act }),
        walk
      ),
      { numRuns: runs, seed }
    )
    if (process.env["TALLY"] !== undefined) console.log(tally)
    expect(Object.fromEntries(telling.map((what) => [what, tally.has(what)]))).toEqual(
      Object.fromEntries(telling.map((what) => [what, true]))
    )
  })
})
