/** World of a bot: the contracts that its party sees now, and the acts that its plans decide on. */
import type { Instant, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import type { PartyChange } from "./PartySession.ts"
import type { WireContract, Update } from "./Wire.ts"

/** Contracts that a party sees, as its program is given them. */
export interface World {
  readonly party: Party.Party
  readonly now: Instant.Instant
  readonly contracts: ReadonlyMap<string, WireContract>
}

/** An act of a plan. */
export interface Act {
  readonly name: string
  /** Contract that the act answers, or that it creates. */
  readonly about: string
  readonly change: PartyChange
  /** Details of the act for a person. */
  readonly details?: { readonly [name: string]: string }
  /** Acts to perform one by one where the ledger refuses all of them together. */
  readonly parts?: ReadonlyArray<Act>
}

/** A plan: pure function from the world to the acts to perform. */
export type Plan = (world: World) => ReadonlyArray<Act>

/** Contract of a template with its identifier. */
export interface FoundContract<T extends Templates.Template> {
  readonly contractId: string
  readonly payload: Templates.Payload<T>
  readonly createdAt: Instant.Instant
}

/** Memo of decoded payloads: a contract does not change. Null: it does not decode. */
const decoded = new WeakMap<WireContract, { readonly payload: unknown } | null>()

const decode = <T extends Templates.Template>(
  template: T,
  contract: WireContract
): Templates.Payload<T> | null => {
  let found = decoded.get(contract)
  if (found === undefined) {
    const payload = Templates.decodePayload(template, contract.payload)
    found = Result.isSuccess(payload) ? { payload: payload.success } : null
    decoded.set(contract, found)
  }
  return found === null ? null : (found.payload as Templates.Payload<T>)
}

/** Live contracts of one template; those that do not decode are ignored. */
export const find = <T extends Templates.Template>(
  world: World,
  template: T
): ReadonlyArray<FoundContract<T>> => {
  const found: Array<FoundContract<T>> = []
  for (const contract of world.contracts.values()) {
    if (!Templates.same(contract.template, template.typeRef)) continue
    const payload = decode(template, contract)
    if (payload !== null) {
      const { contractId, createdAt } = contract
      found.push({ contractId, createdAt, payload })
    }
  }
  return found
}

/** Memoises a function of the world. */
export const remembered = <A extends object>(read: (world: World) => A): ((world: World) => A) => {
  const memo = new WeakMap<World, A>()
  return (world) => {
    const found = memo.get(world) ?? read(world)
    memo.set(world, found)
    return found
  }
}

/** Applies an update to the contracts. */
export const apply = (
  contracts: Map<string, WireContract>,
  { changes }: Pick<Update, "changes">
) => {
  for (const change of changes) {
    if (change._tag === "Created") contracts.set(change.contract.contractId, change.contract)
    else contracts.delete(change.contractId)
  }
}

/** Act that answers a contract: its commandId is derived from it, so that it is answered once. */
export const answer = <T extends Templates.Template, K extends Templates.ChoiceName<T>>(
  name: string,
  to: { readonly template: T; readonly contractId: string; readonly choice: K },
  argument: Templates.Argument<T, K>,
  details?: Act["details"]
): Act => ({
  name,
  about: to.contractId,
  change: {
    commandId: `${name}:${to.contractId}`,
    commands: [Templates.exercise(to.template, to.contractId, to.choice, argument)]
  },
  ...(details === undefined ? {} : { details })
})
