/**
 * Laws of machines can fail: each planted fault is named by the law that it breaks, and by no
 * other.
 */
import { describe, expect, it } from "vitest"
import * as Machine from "#core/kernel/Machine.ts"
import { laws, walk } from "#core/testing/index.ts"

/** A machine that keeps every law; each fault is planted into a copy of it. */
const sound: Machine.Machine = Machine.declare("DoorState", {
  doc: "A door.",
  states: { open: "It is open.", shut: "It is shut.", walled: "It is no more." },
  triggers: {
    shut: { by: ["run"], announces: ["webhook.test"] },
    open: { by: ["clock"] },
    wall: { by: ["ledger"] }
  },
  initial: "open",
  opens: { by: ["hold.release"] },
  moves: { open: { shut: "shut" }, shut: { open: "open", wall: "walled" }, walled: {} },
  forward: ["wall"]
})

const broken = (machine: Machine.Machine): ReadonlyArray<string> =>
  Object.entries(laws).flatMap(([name, law]) => (law(machine).length === 0 ? [] : [name]))

const plant = (fault: object): Machine.Machine => ({ ...sound, ...fault })

describe("laws of machines", () => {
  it("a sound machine breaks none", () => {
    expect(broken(sound)).toEqual([])
  })

  it.each<[law: string, fault: object]>([
    ["every state says in a sentence what it means", { states: { ...sound.states, open: "open" } }],
    [
      "a record opens in its initial state at least, and only in states there are",
      { opensIn: ["shut"] }
    ],
    [
      "every move leads from a state there is to a state there is, by a trigger there is",
      { moves: { ...sound.moves, walled: { knock: "open" } } }
    ],
    [
      "every state is reached from those a record opens in",
      {
        states: { ...sound.states, ajar: "Nobody gets here." },
        moves: { ...sound.moves, ajar: {} }
      }
    ],
    [
      "every trigger moves a record from some state",
      { triggers: { ...sound.triggers, knock: { by: ["run"] } } }
    ],
    [
      "every state can come to an end, unless the machine says why none does",
      { moves: { ...sound.moves, walled: { shut: "shut" } } }
    ],
    [
      "every state can come to an end, unless the machine says why none does",
      { endless: "It says it never ends, and it does." }
    ],
    [
      "somebody whom the vocabulary knows pulls every trigger",
      { triggers: { ...sound.triggers, wall: { by: ["mason"] } } }
    ],
    ["somebody whom the vocabulary knows pulls every trigger", { opens: { by: [] } }],
    [
      "every announcement is an event the vocabulary knows",
      { triggers: { ...sound.triggers, wall: { by: ["run"], announces: ["door.walled"] } } }
    ],
    ["every forward trigger is a trigger there is, and moves the record", { forward: ["knock"] }]
  ])("%s", (law, fault) => {
    expect(broken(plant(fault))).toContain(law)
  })

  it("a walk names every step at which the kernel does not do what the table says", () => {
    // A move that is not enumerable: the table's readers do not see it, and the kernel finds it by
    // name.
    const open = Object.defineProperty({}, "shut", { value: "shut", enumerable: false })
    expect(walk(plant({ moves: { ...sound.moves, open } }), "open", ["shut"])).toEqual([
      "open shut: admit",
      "open shut: allows",
      "open shut: follow"
    ])
  })

  it("a history with a move the table lacks throws, and names the machine", () => {
    expect(() => Machine.follow(sound, "open", "toString")).toThrow("corrupt history")
    expect(() => Machine.follow(sound, "walled", "open")).toThrow("DoorState")
  })
})
