/** The endpoints for external parties: the node prepares, the party's own wallet signs, the node executes. */
import type { Party } from "@bursar/engine-core/kernel"
import { Effect, Result } from "effect"
import type * as Entry from "../Entry.ts"
import * as LedgerError from "../LedgerError.ts"
import type { Signature } from "../Participant.ts"
import * as Commanding from "./Commanding.ts"
import { type Call, type EndpointContext, from, type Handler } from "./EndpointContext.ts"
import * as Formats from "./Formats.ts"
import type { Refusal } from "./Refusals.ts"
import * as Requests from "./Requests.ts"
import * as Submissions from "./Submissions.ts"

const hashingScheme = "HASHING_SCHEME_VERSION_V2"
const signatureFormat = "SIGNATURE_FORMAT_CONCAT"
const signingAlgorithm = "SIGNING_ALGORITHM_SPEC_ED25519"

const invalid = (why: string): LedgerError.LedgerError => LedgerError.make("INVALID_ARGUMENT", why)

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const bytesOf = (
  field: string,
  text: string
): Result.Result<Uint8Array, LedgerError.LedgerError> =>
  base64.test(text)
    ? Result.succeed(Buffer.from(text, "base64"))
    : Result.fail(invalid(`${field} is not base64`))

const print = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

const minLedgerTime = (requestedTime: (typeof Requests.Prepare.Type)["minLedgerTime"]) =>
  Result.gen(function* () {
    if (requestedTime === null || requestedTime.time === null) return null
    const [name, plain] = Requests.arm(requestedTime.time)
    if (name === "Empty") return null
    if (name !== "MinLedgerTimeAbs") return yield* Result.fail(Requests.strange(name))
    const { value } = yield* Requests.decode(Requests.MinLedgerTimeAbs, plain)
    return yield* Submissions.instant("minLedgerTime", value)
  })

export const prepare: Handler = (context, { user, body }) =>
  Effect.gen(function* () {
    const ask = yield* from(Requests.decode(Requests.Prepare, body))
    if ((ask.readAs ?? []).length > 0) return yield* invalid("readAs cannot be prepared")
    const prepared = yield* context.participant.prepare(user, {
      userId: yield* from(Submissions.ownUser(user, ask.userId)),
      commandId: ask.commandId,
      commands: yield* from(Submissions.commands(context.names, ask.commands)),
      actAs: yield* from(Formats.parties(ask.actAs)),
      disclosed: yield* from(Submissions.disclosed(context.names, ask.disclosedContracts)),
      maxRecordTime: yield* from(Submissions.instant("maxRecordTime", ask.maxRecordTime)),
      minLedgerTime: yield* from(minLedgerTime(ask.minLedgerTime))
    })
    return {
      preparedTransaction: print(prepared.bytes),
      preparedTransactionHash: print(prepared.hash),
      hashingSchemeVersion: hashingScheme
    }
  })

const signatures = (
  partySignatures: Requests.Execute["partySignatures"]
): Result.Result<ReadonlyArray<Signature>, Refusal> =>
  Result.gen(function* () {
    const found: Array<Signature> = []
    for (const { party, signatures } of partySignatures.signatures) {
      for (const partySignature of signatures)
        found.push(yield* signature(yield* Formats.party(party), partySignature))
    }
    return found
  })

const signature = (
  party: Party.Party,
  partySignature: Requests.Signature
): Result.Result<Signature, LedgerError.LedgerError> =>
  partySignature.format !== signatureFormat
    ? Result.fail(invalid(`signatures are ${signatureFormat}`))
    : partySignature.signingAlgorithmSpec !== signingAlgorithm
      ? Result.fail(invalid(`signatures are ${signingAlgorithm}`))
      : Result.map(bytesOf("signature", partySignature.signature), (bytes) => ({
          party,
          signedBy: partySignature.signedBy,
          signature: bytes
        }))

interface ExecutedTransaction {
  readonly transaction: Entry.Transaction
  readonly ask: Requests.Execute
}

const run = (
  context: EndpointContext,
  { user, body }: Call
): Effect.Effect<ExecutedTransaction, Refusal> =>
  Effect.gen(function* () {
    const ask = yield* from(Requests.decode(Requests.Execute, body))
    yield* from(Submissions.ownUser(user, ask.userId))
    if (ask.hashingSchemeVersion !== hashingScheme) {
      return yield* invalid(`hashingSchemeVersion is ${hashingScheme}`)
    }
    if (ask.transactionFormat !== null) {
      const reading = yield* from(Formats.ofTransaction(context.names, ask.transactionFormat))
      yield* Commanding.readable(context, user, reading)
    }
    const transaction = yield* context.participant.execute(user, {
      prepared: yield* from(bytesOf("preparedTransaction", ask.preparedTransaction)),
      signatures: yield* from(signatures(ask.partySignatures)),
      submissionId: ask.submissionId
    })
    return { transaction, ask }
  })

/** Checks whether an error is reported in the completion and not in the answer. */
const isVerdict = ({ code }: LedgerError.LedgerError): boolean =>
  code.startsWith("LOCAL_VERDICT_") || code === "DUPLICATE_COMMAND"

export const execute: Handler = (context, call) =>
  run(context, call).pipe(
    Effect.as({}),
    Effect.catchIf(
      (error) => error._tag === "LedgerError" && isVerdict(error),
      () => Effect.succeed({})
    )
  )

export const executeAndWait: Handler = (context, call) =>
  Effect.map(run(context, call), ({ transaction }) => Commanding.committed(transaction))

export const executeForTransaction: Handler = (context, call) =>
  Effect.gen(function* () {
    const { transaction: committed, ask } = yield* run(context, call)
    const reading = yield* Commanding.readingOf(context, ask.transactionFormat, committed.actAs)
    return yield* Commanding.shown(context, { user: call.user, committed, reading })
  })
