/**
 * Layers of the simulated ledger: the node in memory or on a database, and the venue's port to it.
 */
import { Instant, Offset, type Party } from "@bursar/engine-core/kernel"
import { Duration, Effect, Layer, Option, Result, Stream } from "effect"
import type { Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Administration from "./Administration.ts"
import { all } from "./choices/index.ts"
import * as Core from "./Core.ts"
import type * as Entity from "./Entity.ts"
import type * as Entry from "./Entry.ts"
import * as Faults from "./Faults.ts"
import * as Identifiers from "./Identifiers.ts"
import * as Interpreter from "./Interpreter.ts"
import * as LedgerError from "./LedgerError.ts"
import * as Operator from "./Operator.ts"
import {
  Participant,
  type Attempt,
  type Reading,
  type SeenActive,
  type SeenTransaction
} from "./Participant.ts"
import * as Prepared from "./Prepared.ts"
import * as Registry from "./Registry.ts"
import type { SimStore, StoreLost } from "./SimStore.ts"
import * as SimStoreMemory from "./SimStoreMemory.ts"
import * as SimStorePostgres from "./SimStorePostgres.ts"
import * as Tail from "./Tail.ts"
import * as Users from "./Users.ts"
import * as Views from "./Views.ts"
import * as Writer from "./Writer.ts"

export * as ErrorOutcomes from "./ErrorOutcomes.ts"
export type * as Entry from "./Entry.ts"
export * as Entity from "./Entity.ts"
export * as Faults from "./Faults.ts"
export * as Identifiers from "./Identifiers.ts"
export * as LedgerError from "./LedgerError.ts"
export * from "./Participant.ts"
export * as Prepared from "./Prepared.ts"
export * as SimStoreMemory from "./SimStoreMemory.ts"
export * as SimStorePostgres from "./SimStorePostgres.ts"
export { StoreLost } from "./SimStore.ts"
export { existingUsers, migrate } from "./simSchema.ts"
export * as Users from "./Users.ts"
export * as Venue from "./VenueLedger.ts"
export * as Views from "./Views.ts"

/** Options of a simulated ledger: its names and its templates. */
export interface Options {
  readonly ledgerId: string
  readonly participantId: string
  /** Templates beside those of the engine. */
  readonly entities?: ReadonlyArray<Entity.Entity>
  /** Rules in place of those of the engine's templates: of a faulty ledger, which its suite must notice. */
  readonly replacements?: ReadonlyArray<Entity.Entity>
  readonly settings?: Partial<Core.Settings>
  /** Interval after which a tail without matching updates sends a checkpoint. */
  readonly checkpointAfter?: Duration.Duration
  readonly faults?: Faults.Faults
}

/** Finds a template from outside that another one has the name of, the engine's included; null: there is none. */
export const twiceIn = (entities: ReadonlyArray<Entity.Entity>): string | null =>
  Registry.twiceIn([...all, ...entities])

/**
 * Milliseconds for which a token's user is cached; a revocation by another process takes effect
 * after that.
 */
const rememberedMillis = 1_000
const acsPage = 500

type Service = Participant["Service"]

/** Layer of the node in memory. */
export const layerMemory = (options: Options): Layer.Layer<Participant, StoreLost> =>
  Layer.effect(
    Participant,
    Effect.suspend(() => make(SimStoreMemory.make(options), options))
  )

/**
 * Layer of the node on a database: schema ledger_sim of the provided SqlClient. It applies its
 * operator's commands.
 */
export const layerPostgres = (
  options: Options
): Layer.Layer<Participant, StoreLost, SqlClient.SqlClient> =>
  Layer.effect(
    Participant,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* make(yield* SimStorePostgres.make(options), options)
      yield* Effect.forkScoped(Operator.attend(sql, node))
      return node
    })
  )

/** Layer of the node on a given store. */
export const layerStore = (
  store: SimStore,
  options: Options
): Layer.Layer<Participant, StoreLost> => Layer.effect(Participant, make(store, options))

/** Simulated ledger over a store. */
export const make = (
  store: SimStore,
  options: Options
): Effect.Effect<Service, StoreLost, Scope.Scope> =>
  Effect.gen(function* () {
    const registry = Registry.make({
      entities: [...all, ...(options.entities ?? [])],
      replacements: options.replacements ?? []
    })
    const settings: Core.Settings = { ...Core.defaults, ...options.settings }
    const faults = options.faults ?? Faults.make()
    const writer = yield* Writer.make({ store, registry, settings, faults })
    const identities = remembered(store, faults)
    const reads = reading({ store, registry, writer, faults, options })
    const acts = acting({ registry, settings, store, writer })
    const admin = Administration.make({
      store,
      changed: identities.forget,
      prune: (upTo) =>
        upTo > writer.readable()
          ? Effect.fail(Core.afterEnd(writer.readable()))
          : writer.prune(Offset.max(upTo, writer.state().prunedOffset))
    })
    return {
      ledgerId: writer.state().ledgerId,
      participantId: Effect.sync(
        () => faults.plan().participantChange ?? writer.state().participantId
      ),
      synchronizerId: Views.synchronizerId,
      authenticate: identities.authenticate,
      ...acts,
      ...reads,
      packages: Effect.succeed(registry.packages),
      parties: (user) =>
        Effect.map(admin.parties, (parties) =>
          parties.filter(({ party }) => user.rights.some((right) => right.party === party))
        ),
      admin,
      faults
    }
  })

const lost = (error: StoreLost): LedgerError.LedgerError => Writer.unavailable(error)

/** Cache of the tokens' users, read from the store at most once a second. */
const remembered = (store: SimStore, faults: Faults.Faults) => {
  const usersByToken = new Map<
    string,
    { readonly user: Users.User | undefined; readonly until: bigint }
  >()
  const authenticate: Service["authenticate"] = (token) =>
    Effect.gen(function* () {
      if (token === undefined || faults.plan().tokenExpiry === true) {
        return yield* Users.unauthenticated()
      }
      const now = yield* Instant.now
      const hash = Users.hash(token)
      const before = usersByToken.get(hash)
      if (before !== undefined && now < before.until) {
        return yield* Effect.fromResult(Users.admit(before.user, now))
      }
      const user = Option.getOrUndefined(yield* Effect.mapError(store.userByToken(hash), lost))
      if (usersByToken.size > 10_000) usersByToken.clear()
      usersByToken.set(hash, { user, until: now + BigInt(rememberedMillis) * 1_000_000n })
      return yield* Effect.fromResult(Users.admit(user, now))
    })
  return { authenticate, forget: () => usersByToken.clear() }
}

/** Submission, and preparation and execution for external parties. */
const acting = ({
  registry,
  settings,
  store,
  writer
}: {
  readonly registry: Registry.Registry
  readonly settings: Core.Settings
  readonly store: SimStore
  readonly writer: Writer.Writer
}): Pick<Service, "submit" | "submitAsync" | "prepare" | "execute"> => {
  const request = (user: Users.User, attempt: Attempt) =>
    Effect.gen(function* () {
      yield* Effect.fromResult(Users.demand(user, "CanActAs", attempt.actAs))
      yield* Effect.fromResult(Users.demand(user, "CanReadAs", attempt.readAs))
      return { ...attempt, userId: user.userId, pinned: null } satisfies Core.Request
    })

  const prepare: Service["prepare"] = (user, ask) =>
    Effect.gen(function* () {
      yield* Effect.fromResult(Users.demandPrepare(user, ask.actAs))
      const preparedAt = yield* Instant.now
      const longest = Instant.fromNanos(preparedAt + Core.nanos(settings.dedupMax))
      const maxRecordTime =
        ask.maxRecordTime ?? Instant.fromNanos(preparedAt + Core.nanos(Duration.hours(24)))
      if (maxRecordTime > longest) {
        return yield* LedgerError.make("INVALID_ARGUMENT", "maxRecordTime is too far away")
      }
      const state = writer.state()
      const offset = Offset.next(state.offset)
      const changeId = Identifiers.changeId(ask)
      const { inputs } = yield* Effect.fromResult(
        Interpreter.interpret(
          {
            registry,
            active: (contractId) => state.contracts.get(contractId),
            seed: Identifiers.seed({ ledgerId: state.ledgerId, changeId, offset }),
            offset,
            now: Instant.max(preparedAt, ask.minLedgerTime ?? preparedAt),
            inputsMax: settings.inputsMax
          },
          { ...ask, readAs: [] }
        )
      )
      const bytes = Prepared.encode({
        bursarSim: 1,
        userId: ask.userId,
        commandId: ask.commandId,
        actAs: ask.actAs,
        commands: ask.commands.map(Prepared.fromCommand),
        disclosed: ask.disclosed.map(({ createdEventBlob, contractId }) =>
          contractId === undefined ? { createdEventBlob } : { createdEventBlob, contractId }
        ),
        inputs: [...inputs.keys()].sort(),
        preparedAt,
        maxRecordTime,
        ...(ask.minLedgerTime === null ? {} : { minLedgerTime: ask.minLedgerTime })
      })
      return { bytes, hash: Identifiers.preparedHash(bytes) }
    })

  const execute: Service["execute"] = (user, ask) =>
    Effect.gen(function* () {
      const content = yield* Effect.fromResult(Prepared.decode(ask.prepared))
      yield* Effect.fromResult(Users.demand(user, "CanExecuteAs", content.actAs))
      const parties = yield* Effect.mapError(store.parties, lost)
      yield* Effect.fromResult(
        Prepared.verifySignatures({
          bytes: ask.prepared,
          actAs: content.actAs,
          signatures: ask.signatures,
          parties
        })
      )
      const now = yield* Instant.now
      // Beyond the deduplication window a second execution could not be recognised.
      const latest = Instant.fromNanos(now + Core.nanos(settings.dedupMax))
      if (now > content.maxRecordTime || content.maxRecordTime > latest) {
        return yield* LedgerError.make("INVALID_EXTERNAL_TRANSACTION", "past its maxRecordTime")
      }
      const commands = yield* Effect.fromResult(
        Result.all(content.commands.map(Prepared.toCommand))
      )
      return yield* writer.submit({
        userId: content.userId,
        actAs: content.actAs,
        readAs: [],
        commandId: content.commandId,
        submissionId: ask.submissionId,
        commands,
        dedup: null,
        workflowId: null,
        disclosed: content.disclosed,
        minLedgerTime: content.minLedgerTime ?? null,
        traceparent: null,
        pinned: content.inputs
      })
    })

  return {
    submit: (user, attempt) => Effect.flatMap(request(user, attempt), writer.submit),
    submitAsync: (user, attempt) => Effect.flatMap(request(user, attempt), writer.hand),
    prepare,
    execute
  }
}

/** Reads, filtered to the nodes that the user's parties see. */
const reading = ({
  store,
  registry,
  writer,
  faults,
  options
}: {
  readonly store: SimStore
  readonly registry: Registry.Registry
  readonly writer: Writer.Writer
  readonly faults: Faults.Faults
  readonly options: Options
}): Pick<
  Service,
  | "updates"
  | "update"
  | "seenTransaction"
  | "acs"
  | "completions"
  | "contractById"
  | "ledgerEnd"
  | "horizon"
> => {
  const checkpointAfter = options.checkpointAfter ?? Duration.seconds(1)
  const pruned = () => writer.state().prunedOffset
  const position = { end: writer.readable, pruned, moved: writer.moved, checkpointAfter }

  const may = (user: Users.User, reading: Reading) =>
    Effect.gen(function* () {
      yield* Effect.fromResult(Users.demand(user, "CanReadAs", reading.byParty.keys()))
      yield* Effect.fromResult(Views.validate(registry, reading))
    })

  const readTransactions =
    (reading: Reading): Tail.Source<SeenTransaction>["read"] =>
    (range) =>
      Effect.gen(function* () {
        const atHand = writer.recent(range.after)?.filter(({ offset }) => offset <= range.through)
        const rows =
          atHand === undefined
            ? yield* Effect.mapError(store.transactions(range), lost)
            : atHand.slice(0, range.limit)
        const matched = rows.flatMap((row) =>
          Option.toArray(Views.transaction(registry, reading, row))
        )
        return { matched, readTo: lastRead(rows, range) }
      })

  const updates: Service["updates"] = (user, query) =>
    Stream.unwrap(
      Effect.as(
        may(user, query.reading),
        misbehaving(
          faults.plan(),
          Tail.follow({ ...position, read: readTransactions(query.reading) }, query)
        )
      )
    )

  const acs: Service["acs"] = (user, { at, reading }) => {
    const page = (after: Entry.Contract | null) =>
      Effect.gen(function* () {
        if (at < pruned()) return yield* Core.pruned(pruned())
        if (at > writer.readable()) return yield* Core.afterEnd(writer.readable())
        const rows = yield* Effect.mapError(store.activeAt({ at, after, limit: acsPage }), lost)
        const next = rows.length < acsPage ? undefined : rows.at(-1)
        return [
          rows.flatMap((row) => Views.active(registry, reading, row) ?? []),
          Option.fromUndefinedOr(next)
        ] as const
      })
    return Stream.unwrap(
      Effect.as(
        may(user, reading),
        Stream.paginate<Entry.Contract | null, SeenActive, LedgerError.LedgerError>(null, page)
      )
    )
  }

  return {
    updates,
    acs,
    update: (user, { by, reading }) =>
      Effect.gen(function* () {
        yield* may(user, reading)
        const found = yield* Effect.mapError(store.transaction(by), lost)
        const visible = Option.flatMap(found, (row) =>
          row.offset > writer.readable() ? Option.none() : Views.transaction(registry, reading, row)
        )
        return Option.isSome(visible)
          ? visible.value
          : yield* LedgerError.make("UPDATE_NOT_FOUND", "The update is not there")
      }),
    seenTransaction: (user, { transaction, reading }) =>
      Effect.map(may(user, reading), () => Views.transaction(registry, reading, transaction)),
    completions: (user, query) =>
      Stream.unwrap(
        Effect.as(
          Effect.fromResult(Users.demand(user, "CanReadAs", query.parties)),
          Tail.follow(
            {
              ...position,
              read: (range) =>
                Effect.map(Effect.mapError(store.completions(range), lost), (rows) => ({
                  matched: rows.filter((row) => isFor(row, user.userId, query.parties)),
                  readTo: lastRead(rows, range)
                }))
            },
            query
          )
        )
      ),
    contractById: (user, { contractId, reading }) =>
      Effect.gen(function* () {
        yield* may(user, reading)
        const found = yield* Effect.mapError(store.contract(contractId), lost)
        const created = Option.isSome(found)
          ? Views.active(registry, reading, found.value.contract)
          : null
        if (Option.isNone(found) || created === null) {
          return yield* LedgerError.make("CONTRACT_EVENTS_NOT_FOUND", `of ${contractId}`)
        }
        const { contract, archivedOffset } = found.value
        return { created, createdOffset: contract.createdOffset, archivedOffset }
      }),
    ledgerEnd: Effect.sync(writer.readable),
    horizon: Effect.sync(pruned)
  }
}

const lastRead = (
  rows: ReadonlyArray<{ readonly offset: Offset.Offset }>,
  range: { readonly through: Offset.Offset; readonly limit: number }
): Offset.Offset =>
  rows.length < range.limit ? range.through : (rows.at(-1)?.offset ?? range.through)

const isFor = (
  row: Entry.Completion,
  userId: string,
  parties: ReadonlyArray<Party.Party>
): boolean => row.userId === userId && row.actAs.some((party) => parties.includes(party))

/** Applies the stream faults of a plan to a stream. */
const misbehaving = <A extends { readonly _tag: string }>(
  plan: Faults.Plan,
  stream: Stream.Stream<A, LedgerError.LedgerError>
): Stream.Stream<A, LedgerError.LedgerError> => {
  const shown =
    plan.checkpointOnly === true
      ? Stream.filter(stream, ({ _tag }) => _tag === "Checkpoint")
      : plan.duplicateFrame === true
        ? Stream.flatMap(stream, (item) => Stream.make(item, item))
        : stream
  return plan.wsCut === undefined
    ? shown
    : Stream.concat(Stream.take(shown, plan.wsCut), Stream.fail(Faults.dropped()))
}
