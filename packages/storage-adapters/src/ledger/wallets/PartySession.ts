/** Session of a party at the ledger's door, by its own token: submit, read, follow. */
import { Instant, Offset, type Party } from "@bursar/engine-core/kernel"
import type * as Templates from "@bursar/engine-core/templates"
import { Duration, Effect, Random, Schedule, Stream } from "effect"
import * as DoorClient from "./DoorClient.ts"
import { DoorLost, DoorRefused } from "./DoorClient.ts"
import * as Prepared from "./Prepared.ts"
import type { SigningKey } from "./SigningKey.ts"
import * as Wire from "./Wire.ts"

/** A change of the ledger, identified by its commandId: repeated submissions commit once. */
export interface PartyChange {
  readonly commandId: string
  readonly commands: readonly [Templates.Command, ...ReadonlyArray<Templates.Command>]
  /** Earliest ledger time of the change, for choices that compare it with a deadline. */
  readonly notBefore?: Instant.Instant
}

/** Change that the ledger committed for a party. */
export interface CommittedChange {
  readonly offset: Offset.Offset
  /** Null where an earlier submission committed the change. */
  readonly updateId: string | null
  readonly changes: ReadonlyArray<Wire.Change>
  readonly duplicate: boolean
}

/** Failure of a submission of a party. */
export type SubmitError = DoorRefused | DoorLost | Prepared.NotSigned

/** Session of a party at the ledger's door, with its key. */
export interface PartySession {
  readonly party: Party.Party
  readonly userId: string
  /** Retries while the outcome is uncertain; succeeds only when the change is committed. */
  readonly submit: (change: PartyChange) => Effect.Effect<CommittedChange, SubmitError>
  /**
   * Streams every update after the offset, once and in order; reconnects where a connection was
   * lost.
   */
  readonly updates: (after: Offset.Offset) => Stream.Stream<Wire.Update, DoorRefused>
  readonly acs: (
    at: Offset.Offset
  ) => Effect.Effect<ReadonlyArray<Wire.WireContract>, DoorClient.DoorError>
  readonly ledgerEnd: Effect.Effect<Offset.Offset, DoorClient.DoorError>
}

/** Options of a party's session. */
export interface Options extends DoorClient.Address {
  /** Party to act as, for a token with rights for several. */
  readonly party?: Party.Party
  /** Key of an external party; without it the party acts by its token. */
  readonly key?: SigningKey
  /** Called with the transaction that is about to be signed, so that a person can read it. */
  readonly show?: (signing: {
    readonly commandId: string
    readonly commands: ReadonlyArray<Wire.WireCommand>
    readonly hash: string
  }) => Effect.Effect<void>
  /** `polling` avoids sockets where the network does not support them. */
  readonly transport?: "socket" | "polling"
}

const backoff = Schedule.exponential("250 millis").pipe(
  Schedule.modifyDelay(({ duration }) =>
    Effect.map(Random.next, (fraction) =>
      Duration.millis(Math.min(Duration.toMillis(duration), 30_000) * (0.5 + fraction / 2))
    )
  )
)

/** Number of retries of a submission with an uncertain outcome. */
const triesMax = 12

const passing = <A, E extends { readonly _tag: string }>(
  effect: Effect.Effect<A, E | DoorClient.DoorError>
) =>
  Effect.retry(
    effect,
    backoff.pipe(
      Schedule.setInputType<E | DoorClient.DoorError>(),
      Schedule.while(
        ({ input, attempt }) =>
          attempt <= triesMax &&
          (input instanceof DoorLost || input instanceof DoorRefused) &&
          DoorClient.isPassing(input, attempt)
      )
    )
  )

const allowed = (options: DoorClient.Address) =>
  Effect.gen(function* () {
    const { user } = yield* passing(
      Effect.flatMap(DoorClient.call(options, { path: "/v2/authenticated-user" }), Wire.readUser)
    )
    const path = `/v2/users/${encodeURIComponent(user.id)}/rights`
    const { rights } = yield* passing(
      Effect.flatMap(DoorClient.call(options, { path }), Wire.readRights)
    )
    return { user, rights }
  })

/** Parties that the token may act as by itself: those that a custodian hosts, and its own. */
export const hosted = (
  options: DoorClient.Address
): Effect.Effect<ReadonlyArray<Party.Party>, DoorClient.DoorError> =>
  Effect.map(allowed(options), ({ rights }) =>
    rights.flatMap(({ kind }) => kind.CanActAs?.value.party ?? [])
  )

/** Opens a session of a party. */
export const open = (options: Options): Effect.Effect<PartySession, DoorClient.DoorError> =>
  Effect.gen(function* () {
    const { user, rights } = yield* allowed(options)
    const party = options.party ?? ownParty(options, rights)
    if (party === undefined) {
      return yield* new DoorRefused({
        status: 403,
        code: "NA",
        cause: "the token has no right for a party of this kind; name the party",
        category: 7,
        context: {}
      })
    }
    const { ledgerEnd, acs } = reads(options, party)
    return {
      party,
      userId: user.id,
      submit: (change) =>
        options.key === undefined
          ? byToken(options, { party, userId: user.id, change })
          : byKey(options, options.key, { party, userId: user.id, change }),
      updates: (after) => tail(options, party, after),
      acs,
      ledgerEnd
    }
  })

type Rights = Effect.Success<ReturnType<typeof Wire.readRights>>["rights"]

/** The party of this key, or the first that the token may act as. */
const ownParty = ({ key }: Options, rights: Rights): Party.Party | undefined => {
  const parties = rights.flatMap(({ kind }) =>
    key === undefined
      ? (kind.CanActAs?.value.party ?? [])
      : (kind.CanExecuteAs?.value.party ?? kind.CanActAs?.value.party ?? [])
  )
  return key === undefined
    ? parties[0]
    : parties.find((party) => party.endsWith(`::${key.fingerprint}`))
}

interface Submission {
  readonly party: Party.Party
  readonly userId: string
  readonly change: PartyChange
}

/** The ledger has deduplicated the change: it is committed once. */
const already = (error: DoorRefused): CommittedChange => ({
  offset: Offset.of(Number(error.context["completion_offset"] ?? "0")),
  updateId: null,
  changes: [],
  duplicate: true
})

const settled = <E extends { readonly _tag: string }>(
  attempt: Effect.Effect<Wire.Update, E | DoorClient.DoorError>
) =>
  passing(attempt).pipe(
    Effect.map((update): CommittedChange => ({ ...update, duplicate: false })),
    Effect.catchIf(
      (error): error is DoorRefused =>
        error instanceof DoorRefused && error.code === "DUPLICATE_COMMAND",
      (error) => Effect.succeed(already(error))
    )
  )

const byToken = (options: Options, { party, userId, change }: Submission) =>
  settled(
    Effect.flatMap(
      DoorClient.call(options, {
        path: "/v2/commands/submit-and-wait-for-transaction",
        body: {
          commands: {
            commandId: change.commandId,
            userId,
            actAs: [party],
            commands: change.commands.map(Wire.command),
            ...(change.notBefore === undefined
              ? {}
              : { minLedgerTimeAbs: Instant.format(change.notBefore) })
          },
          transactionFormat: Wire.transactionFormat(party)
        }
      }),
      Wire.readTransaction
    )
  )

const hashingScheme = "HASHING_SCHEME_VERSION_V2"

/** Sends the same signed bytes until their outcome is certain: they can be executed once only. */
const byKey = (
  options: Options,
  key: SigningKey,
  { party, userId, change }: Submission
): Effect.Effect<CommittedChange, SubmitError> =>
  Effect.gen(function* () {
    const { commandId, notBefore } = change
    const commands = change.commands.map(Wire.command)
    const prepared = yield* passing(
      Effect.flatMap(
        DoorClient.call(options, {
          path: "/v2/interactive-submission/prepare",
          body: {
            userId,
            commandId,
            commands,
            actAs: [party],
            ...(notBefore === undefined
              ? {}
              : {
                  minLedgerTime: {
                    time: { MinLedgerTimeAbs: { value: Instant.format(notBefore) } }
                  }
                })
          }
        }),
        Wire.readPrepared
      )
    )
    const { hash } = yield* Effect.fromResult(
      Prepared.check(
        { userId, commandId, party, commands, notBefore },
        {
          bytes: Buffer.from(prepared.preparedTransaction, "base64"),
          hash: prepared.preparedTransactionHash,
          now: yield* Instant.now
        }
      )
    )
    if (options.show !== undefined) {
      yield* options.show({ commandId, commands, hash: prepared.preparedTransactionHash })
    }
    const signature = {
      format: "SIGNATURE_FORMAT_CONCAT",
      signature: Buffer.from(key.sign(hash)).toString("base64"),
      signedBy: key.fingerprint,
      signingAlgorithmSpec: "SIGNING_ALGORITHM_SPEC_ED25519"
    }
    let tries = 0
    return yield* settled(
      Effect.suspend(() =>
        DoorClient.call(options, {
          path: "/v2/interactive-submission/executeAndWaitForTransaction",
          body: {
            preparedTransaction: prepared.preparedTransaction,
            hashingSchemeVersion: hashingScheme,
            submissionId: `${commandId}/${++tries}`,
            userId,
            partySignatures: { signatures: [{ party, signatures: [signature] }] },
            transactionFormat: Wire.transactionFormat(party)
          }
        })
      ).pipe(Effect.flatMap(Wire.readTransaction))
    )
  })

const reads = (options: Options, party: Party.Party) => {
  const eventFormat = Wire.eventFormat(party)

  const bySocket = (activeAtOffset: Offset.Offset) =>
    DoorClient.frames(options, {
      path: "/v2/state/active-contracts",
      body: { activeAtOffset, eventFormat }
    }).pipe(Stream.mapEffect(Wire.readActive), Stream.runCollect)

  const byPage = (activeAtOffset: Offset.Offset) =>
    Effect.gen(function* () {
      const found: Array<Wire.WireContract> = []
      let pageToken: string | null = null
      do {
        const page: Effect.Success<ReturnType<typeof Wire.readActivePage>> = yield* Effect.flatMap(
          DoorClient.call(options, {
            path: "/v2/state/active-contracts-page",
            body: { activeAtOffset, eventFormat, ...(pageToken === null ? {} : { pageToken }) }
          }),
          Wire.readActivePage
        )
        found.push(...page.contracts)
        pageToken = page.next
      } while (pageToken !== null)
      return found
    })

  return {
    ledgerEnd: passing(
      Effect.flatMap(DoorClient.call(options, { path: "/v2/state/ledger-end" }), Wire.readLedgerEnd)
    ),
    acs: (at: Offset.Offset) =>
      passing(
        options.transport === "polling"
          ? byPage(at)
          : bySocket(at).pipe(
              Effect.catchIf(
                (error) => error instanceof DoorLost && error.unopened,
                () => byPage(at)
              )
            )
      )
  }
}

/** Number of updates requested by one polling call. */
const pollMax = 200

const tail = (
  options: Options,
  party: Party.Party,
  after: Offset.Offset
): Stream.Stream<Wire.Update, DoorRefused> => {
  const updateFormat = { includeTransactions: Wire.transactionFormat(party) }
  let at = after
  let pageSize = pollMax
  let polling = options.transport === "polling"

  const socket = () =>
    DoorClient.frames(options, {
      path: "/v2/updates",
      body: { beginExclusive: at, updateFormat }
    }).pipe(
      Stream.mapEffect(Wire.readUpdate),
      Stream.concat(Stream.fail(new DoorLost({ detail: "the tail ended", unopened: false }))),
      Stream.tapError((error) =>
        Effect.sync(() => {
          if (error instanceof DoorLost && error.unopened) polling = true
        })
      )
    )

  const poll = () =>
    Stream.fromEffectRepeat(
      Effect.suspend(() =>
        Effect.flatMap(
          DoorClient.call(options, {
            path: `/v2/updates?limit=${pageSize}&stream_idle_timeout_ms=500`,
            body: { beginExclusive: at, updateFormat }
          }),
          Wire.readUpdates
        )
      ).pipe(
        Effect.tap(() => Effect.sync(() => void (pageSize = Math.min(pollMax, pageSize * 2)))),
        // An answer that is too long may fit in smaller pages.
        Effect.tapError(() => Effect.sync(() => void (pageSize = Math.max(1, pageSize >> 2))))
      )
    ).pipe(
      Stream.flatMap((list) => Stream.fromIterable(list)),
      // Tries sockets again later, because the network may support them by then.
      Stream.interruptWhen(
        options.transport === "polling" ? Effect.never : Effect.sleep("1 minute")
      ),
      Stream.ensuring(Effect.sync(() => void (polling = options.transport === "polling")))
    )

  return Stream.suspend(() => (polling ? poll() : socket())).pipe(
    Stream.filter((update): update is Wire.Update => {
      if (update === null || update.offset <= at) return false
      at = update.offset
      return true
    }),
    Stream.concat(Stream.fail(new DoorLost({ detail: "the tail ended", unopened: false }))),
    Stream.retry(
      backoff.pipe(
        Schedule.setInputType<DoorClient.DoorError>(),
        Schedule.while(({ input, attempt }) => DoorClient.isPassing(input, attempt))
      )
    ),
    Stream.catchTag("DoorLost", (error) => Stream.die(error))
  )
}
