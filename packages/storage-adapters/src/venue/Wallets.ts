/**
 * Test wallets of the outside parties of a venue in memory: each is a party with a token of its own on
 * the simulated ledger, with the acts and the standing duty of its program (`ledger/wallets`).
 */
import { Engine, type Refusal } from "@bursar/engine-core"
import { Instant, type Party } from "@bursar/engine-core/kernel"
import type * as Templates from "@bursar/engine-core/templates"
import { Context, Data, Duration, Effect, Layer, Option } from "effect"
import { type Acts, acts } from "../ledger/wallets/Acts.ts"
import * as AttestorBot from "../ledger/wallets/AttestorBot.ts"
import * as Bot from "../ledger/wallets/Bot.ts"
import * as CustodianBot from "../ledger/wallets/CustodianBot.ts"
import type { Actor } from "../ledger/wallets/Duty.ts"
import * as FundBot from "../ledger/wallets/FundBot.ts"
import * as OracleBot from "../ledger/wallets/OracleBot.ts"
import type * as PartySession from "../ledger/wallets/PartySession.ts"
import * as Policy from "../ledger/wallets/Policy.ts"
import * as RegistrarBot from "../ledger/wallets/RegistrarBot.ts"
import * as HolderWallet from "../ledger/wallets/Wallet.ts"
import * as World from "../ledger/wallets/World.ts"
import { Participant } from "../ledger/simulated/Participant.ts"
import * as LedgerSession from "./LedgerSession.ts"

/** The party sees no contract that the act could answer, or has not what the act would use. */
export class NothingToDo extends Data.TaggedError("NothingToDo")<{
  readonly wallet: string
  readonly act: string
}> {
  override get message(): string {
    return `${this.wallet} has nothing that it could ${this.act}`
  }
}

/** An act that the wallet did not perform: refused by the ledger, nothing to do, or not read. */
export type WalletError = PartySession.SubmitError | NothingToDo | Refusal.Unavailable

/** A performed act: its name, what it was about, and the change as the ledger committed it. */
export interface PerformedAct extends PartySession.CommittedChange {
  readonly act: string
  readonly about: string
  readonly details: NonNullable<World.Act["details"]>
}

/** Standing duties, by actor: what its program does by itself. Everything is accepted by default. */
export interface Duties {
  readonly registrar: Partial<RegistrarBot.Options>
  readonly fund: Partial<FundBot.Options>
  readonly attestor: Partial<AttestorBot.Options>
  readonly oracle: Partial<OracleBot.Options>
  readonly custodian: Partial<CustodianBot.Options>
  readonly investor: Partial<HolderWallet.Options>
}

/** The acts of an actor as calls: the arguments of the plan, and the act once it is performed. */
type Calls<A extends Actor> = {
  readonly [name in keyof Acts[A]]: Acts[A][name] extends (...args: infer Args) => World.Plan
    ? (...args: Args) => Effect.Effect<PerformedAct, WalletError>
    : never
}

/** Members of every wallet. Once an act is committed, the engine reads it before the call returns. */
export interface Common {
  readonly party: Party.Party
  /** Contracts of a template that the party sees. */
  readonly find: <T extends Templates.Template>(
    template: T
  ) => Effect.Effect<ReadonlyArray<World.FoundContract<T>>, WalletError>
  /** Contracts that the party sees, read by a function of them, such as `Wallet.holdings`. */
  readonly show: <A>(read: (world: World.World) => A) => Effect.Effect<A, WalletError>
  /** Commits commands of the party in one transaction, for what no act does. */
  readonly submit: (
    ...commands: PartySession.PartyChange["commands"]
  ) => Effect.Effect<PartySession.CommittedChange, WalletError>
  /** Performs the first act of a plan; fails where it has none. */
  readonly perform: (plan: World.Plan) => Effect.Effect<PerformedAct, WalletError>
  /**
   * Performs the acts of the standing duty, or of another plan, one after another until it has no new
   * one; answers their number. Fails with the first act that the ledger refused.
   */
  readonly works: (plan?: World.Plan) => Effect.Effect<number, WalletError>
}

/** Wallet of an outside party, with the acts of its kind. */
export type Wallet<A extends Actor> = Common & Calls<A>

/**
 * Opens the wallet of an actor under a name, which is the hint of its party; a second call answers the
 * same wallet. A wallet that is opened with a duty keeps it by itself whenever the venue's clock runs
 * what is due; without one it acts only when it is called.
 */
type Open<A extends Actor> = (
  name: string,
  duty?: Duties[A]
) => Effect.Effect<Wallet<A>, WalletError>

/** Wallets of the outside parties of a venue in memory. */
export class Wallets extends Context.Service<
  Wallets,
  {
    readonly [actor in Actor]: Open<actor>
  } & {
    /** Lets each wallet that keeps a duty act until it has nothing new; answers the number of acts. */
    readonly work: Effect.Effect<number, WalletError>
  }
>()("@bursar/storage-adapters/venue/Wallets") {}

const plans: { readonly [actor in Actor]: (duty: Duties[actor]) => World.Plan } = {
  registrar: (duty) => RegistrarBot.plan({ instruments: [], policy: Policy.acceptAll, ...duty }),
  fund: (duty) => FundBot.plan({ policy: Policy.acceptAll, ...duty }),
  attestor: (duty) => AttestorBot.plan({ instruments: [], policy: Policy.acceptAll, ...duty }),
  oracle: (duty) => OracleBot.plan({ quotes: () => [], ...duty }),
  custodian: (duty) => CustodianBot.plan({ policy: Policy.acceptAll, ...duty }),
  investor: (duty) => HolderWallet.plan({ policy: Policy.acceptAll, ...duty })
}

/** Acts by which a wallet makes ready what the act itself then uses: another holding, or fewer. */
const preparations: ReadonlySet<string> = new Set(["join", "divide"])

/** Largest number of preparations before an act. */
const preparationsMax = 100

/** Common members of the wallet of a party, by its session. */
const commonOf = (
  {
    actor,
    name,
    session
  }: {
    readonly actor: Actor
    readonly name: string
    readonly session: PartySession.PartySession
  },
  {
    duty,
    settle
  }: { readonly duty: World.Plan; readonly settle: Engine.Engine["Service"]["settle"] }
) => {
  const wallet = `the ${actor}'s wallet ${name}`
  const answered = new Set<string>()
  let submissions = 0
  const show: Common["show"] = (read) =>
    Effect.gen(function* () {
      const contracts = yield* Bot.active(session, yield* session.ledgerEnd)
      return read({ party: session.party, now: yield* Instant.now, contracts })
    })
  const once = (act: string, plan: World.Plan): Effect.Effect<PerformedAct, WalletError> =>
    Effect.gen(function* () {
      for (let tries = 0; tries <= preparationsMax; tries++) {
        const found = yield* Bot.runOnce({ session, plan, within: Duration.zero })
        if (Option.isNone(found)) break
        const { change } = found.value
        const { about, details = {}, name } = found.value.act
        if (preparations.has(name)) continue
        yield* settle
        return { ...change, act: name, about, details }
      }
      return yield* new NothingToDo({ wallet, act })
    })
  const works: Common["works"] = (plan = duty) =>
    Effect.gen(function* () {
      let count = 0
      let refused: PartySession.SubmitError | null = null
      const report = (message: Bot.Message) =>
        Effect.sync(() => {
          if (message._tag === "Acted") count++
          // The parts of a refused act are performed one by one.
          else if (message._tag === "Failed" && message.act.parts === undefined) {
            refused ??= message.error
          }
        })
      yield* Bot.runUntilIdle({ session, plan, report }, answered)
      yield* settle
      return refused === null ? count : yield* Effect.fail(refused as PartySession.SubmitError)
    })
  const common: Common = {
    party: session.party,
    show,
    find: (template) => show((world) => World.find(world, template)),
    submit: (...commands) =>
      Effect.tap(session.submit({ commandId: `${name}:${++submissions}`, commands }), () => settle),
    perform: (plan) => once("perform", plan),
    works
  }
  return { common, once }
}

/**
 * Layer of the wallets, for an engine of a program's own beside the simulated ledger; `memory` has it. The
 * ledger's operator adds their parties as they are opened.
 */
export const layer: Layer.Layer<Wallets, never, Participant | Engine.Engine> = Layer.effect(
  Wallets,
  Effect.gen(function* () {
    const participant = yield* Participant
    const { settle } = yield* Engine.Engine
    const opened = new Map<string, { readonly actor: Actor; readonly wallet: Common }>()
    const keeping: Array<Common["works"]> = []

    const open =
      <A extends Actor>(actor: A): Open<A> =>
      (name, duty) =>
        Effect.gen(function* () {
          const before = opened.get(name)
          if (before !== undefined) {
            if (before.actor === actor) return before.wallet as Wallet<A>
            const one = `there is one wallet ${name}, and it is the ${before.actor}'s`
            return yield* Effect.die(new Error(one))
          }
          const added = yield* Effect.mapError(
            participant.admin.addParty({ hint: name, kind: "local" }),
            LedgerSession.refusal
          )
          const session = LedgerSession.open(participant, added)
          const plan = plans[actor](duty ?? {})
          const { common, once } = commonOf({ actor, name, session }, { duty: plan, settle })
          const calls = Object.entries(acts[actor]).map(([act, planOf]) => [
            act,
            (...args: ReadonlyArray<never>) =>
              once(act, (planOf as (...args: ReadonlyArray<never>) => World.Plan)(...args))
          ])
          const wallet = { ...common, ...Object.fromEntries(calls) } as Wallet<A>
          opened.set(name, { actor, wallet })
          if (duty !== undefined) keeping.push(common.works)
          return wallet
        })

    return {
      registrar: open("registrar"),
      fund: open("fund"),
      attestor: open("attestor"),
      oracle: open("oracle"),
      custodian: open("custodian"),
      investor: open("investor"),
      work: Effect.gen(function* () {
        let count = 0
        for (const works of keeping) count += yield* works()
        return count
      })
    }
  })
)
