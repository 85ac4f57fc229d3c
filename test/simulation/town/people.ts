/**
 * Staff of the venue, and the choice of who makes an act: now and then a person without the right.
 */
import type { Caller } from "@bursar/engine-core"
import * as Calls from "../../engine/calls.ts"
import { writeOf } from "./asking.ts"
import type { Town } from "./town.ts"

const many = (name: string, count: number, ...roles: Caller.Caller["roles"]) =>
  Array.from({ length: count }, (_, nth) => Calls.person(`${name}-${nth + 1}`, ...roles))

/** Dozens of them; some have two roles, and some have two that do not go together. */
export const staff: ReadonlyArray<Caller.Caller> = [
  ...many("operator", 8, "operator"),
  ...many("approver", 8, "approver"),
  ...many("both", 3, "operator", "approver"),
  ...many("risk", 4, "risk"),
  ...many("compliance", 4, "compliance"),
  ...many("careful", 2, "compliance", "approver"),
  ...many("auditor", 2, "auditor"),
  ...many("double", 2, "auditor", "approver"),
  ...many("monitor", 1, "monitor"),
  ...many("app", 2, "app")
]

const one = <A>(town: Town, items: ReadonlyArray<A>): A => {
  const found = items[town.die.roll(items.length)]
  if (found === undefined) throw new Error("nobody to pick from")
  return found
}

const makersOf = new Map<string, ReadonlyArray<Caller.Caller>>()

/** A person who may make the write; one time in twenty any person. */
export const maker = (town: Town, kind: string): Caller.Caller => {
  if (town.die.once(20)) return one(town, staff)
  const cachedMakers = makersOf.get(kind)
  if (cachedMakers !== undefined) return one(town, cachedMakers)
  const { makers } = writeOf(kind)
  const found = staff.filter(({ roles }) => makers.some((role) => roles.includes(role)))
  makersOf.set(kind, found)
  return one(town, found)
}

const approvers = staff.filter(({ roles }) => roles.includes("approver"))
const signers = approvers.filter(({ roles }) => !roles.includes("auditor"))

/** A person who may sign; one time in eight an approver who may not, or any person. */
export const signer = (town: Town): Caller.Caller =>
  town.die.once(8) ? one(town, town.die.once(2) ? approvers : staff) : one(town, signers)
