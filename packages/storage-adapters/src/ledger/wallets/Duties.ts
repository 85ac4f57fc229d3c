/** Table of actors: the standing duty of each, and its single commands. */
import { Result, Schema } from "effect"
import * as AttestorBot from "./AttestorBot.ts"
import { commands } from "./Commands.ts"
import * as CustodianBot from "./CustodianBot.ts"
import { type Actor, type Duty, keep, type DutyParser, type ParsedFlags } from "./Duty.ts"
import * as Flags from "./Flags.ts"
import * as FundBot from "./FundBot.ts"
import * as ActorInputs from "./ActorInputs.ts"
import * as OracleBot from "./OracleBot.ts"
import * as RegistrarBot from "./RegistrarBot.ts"
import * as Wallet from "./Wallet.ts"

export { type Actor, actors, type Duty } from "./Duty.ts"

const keeping: { readonly [actor in Actor]: DutyParser } = {
  registrar: (flags) =>
    Result.gen(function* () {
      const { instruments = [], payments: _, ...policy } = yield* ActorInputs.file(flags)
      const decoded = yield* Flags.shaped(Schema.Array(RegistrarBot.Instrument), instruments)
      const paymentsNow = yield* ActorInputs.paymentsAtEveryLook(flags)
      const options = { instruments: decoded, policy }
      return keep(
        (world) => RegistrarBot.plan({ ...options, payments: paymentsNow() })(world),
        policy
      )
    }),
  fund: (flags) =>
    Result.map(ActorInputs.file(flags), (policy) => keep(FundBot.plan({ policy }), policy)),
  attestor: (flags) =>
    Result.gen(function* () {
      const termsNow = yield* ActorInputs.termsAtEveryLook(flags)
      const { policy, instruments } = termsNow()
      if (instruments.length === 0) {
        return yield* Flags.usage("an attestor must know --instrument and its --unit-decimals")
      }
      return keep((world) => AttestorBot.plan(termsNow())(world), policy)
    }),
  oracle: (flags) =>
    Result.gen(function* () {
      const path = yield* Flags.needed(flags, "prices")
      yield* ActorInputs.quotesOf(path)
      const audience = yield* ActorInputs.audienceOf(flags)
      const termsNow = yield* ActorInputs.termsAtEveryLook(flags)
      // A line that is not complete is read at the next evaluation.
      const quotes = () => Result.getOrElse(ActorInputs.quotesOf(path), () => [])
      const { policy } = termsNow()
      return keep((world) => OracleBot.plan({ quotes, ...audience, ...termsNow() })(world), policy)
    }),
  custodian: (flags) =>
    Result.map(ActorInputs.file(flags), (policy) => ({
      ...keep(CustodianBot.plan({ policy }), policy),
      actsAs: "hosted"
    })),
  investor: (flags) =>
    Result.map(ActorInputs.file(flags), ({ terms = flags.text("terms"), ...policy }) =>
      keep(Wallet.plan({ policy, ...(terms === undefined ? {} : { terms }) }), policy)
    )
}

const contracts: Duty = {
  kind: "show",
  show: (world) =>
    [...world.contracts.values()].map(({ contractId, template, payload }) => ({
      contractId,
      entity: template.entity,
      payload
    }))
}

export const read = (
  actor: Actor,
  command: string | undefined,
  flags: Flags.Flags
): ParsedFlags<Duty> => {
  if (command === undefined) return keeping[actor](flags)
  if (command === "contracts") return Result.succeed(contracts)
  const readFlags = commands[actor][command]
  return readFlags === undefined
    ? Flags.usage(
        `${actor} cannot ${command}; it can ${[...Object.keys(commands[actor]), "contracts"].join(", ")}`
      )
    : readFlags(flags)
}
