/** Duty of an actor: run its bot, perform one command, or show what it sees. */
import type { Result } from "effect"
import type * as Flags from "./Flags.ts"
import type * as Policy from "./Policy.ts"
import type * as World from "./World.ts"

export type ParsedFlags<A> = Result.Result<A, Flags.Usage>

export interface KeepDuty {
  readonly kind: "keep"
  readonly plan: World.Plan
  readonly delaySeconds: number
  /** A custodian acts as every party that its token may act as; every other actor as itself. */
  readonly actsAs: "itself" | "hosted"
}

export type Duty =
  | KeepDuty
  | { readonly kind: "once"; readonly plan: World.Plan }
  | { readonly kind: "show"; readonly show: (world: World.World) => unknown }

export const actors = ["registrar", "fund", "attestor", "oracle", "custodian", "investor"] as const
export type Actor = (typeof actors)[number]

export const keep = (plan: World.Plan, policy: Policy.Policy): KeepDuty => ({
  kind: "keep",
  plan,
  delaySeconds: policy.delay ?? 0,
  actsAs: "itself"
})
export const once = (plan: World.Plan): Duty => ({ kind: "once", plan })

/** Parses a duty from the command line's flags. */
export type DutyParser = (flags: Flags.Flags) => ParsedFlags<Duty>
