/** Decoding of callers' submissions into the node's. */
import { randomUUID } from "node:crypto"
import { Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Duration, Result } from "effect"
import * as LedgerError from "../LedgerError.ts"
import type { Attempt } from "../Participant.ts"
import * as Users from "../Users.ts"
import * as Formats from "./Formats.ts"
import { toLfRecord, toLfValue } from "./Json.ts"
import type { Refusal } from "./Refusals.ts"
import * as Requests from "./Requests.ts"
import * as TypeNames from "./TypeNames.ts"

export const instant = (
  field: string,
  text: string | null
): Result.Result<Instant.Instant | null, LedgerError.LedgerError> =>
  text === null
    ? Result.succeed(null)
    : Result.mapError(Instant.parse(text), ({ detail }) =>
        LedgerError.make("INVALID_FIELD", `${field}: ${detail}`)
      )

/** A token may name its own user only. */
export const ownUser = (
  user: Users.User,
  named: string | null
): Result.Result<string, LedgerError.LedgerError> =>
  named === null || named === "" || named === user.userId
    ? Result.succeed(user.userId)
    : Result.fail(Users.permissionDenied())

const command = (
  names: TypeNames.TypeNames,
  taggedUnion: Requests.Union
): Result.Result<Ledger.Command, Refusal> =>
  Result.gen(function* () {
    const [name, plain] = Requests.arm(taggedUnion)
    switch (name) {
      case "CreateCommand": {
        const { templateId, createArguments } = yield* Requests.decode(
          Requests.CreateCommand,
          plain
        )
        const template = yield* TypeNames.read(names, templateId)
        return { _tag: "Create", template, args: toLfRecord(createArguments) } as const
      }
      case "ExerciseCommand": {
        const read = yield* Requests.decode(Requests.ExerciseCommand, plain)
        return {
          _tag: "Exercise",
          target: yield* TypeNames.read(names, read.templateId),
          contractId: read.contractId,
          choice: read.choice,
          arg: toLfValue(read.choiceArgument)
        } as const
      }
      case "CreateAndExerciseCommand": {
        const read = yield* Requests.decode(Requests.CreateAndExerciseCommand, plain)
        return {
          _tag: "CreateAndExercise",
          template: yield* TypeNames.read(names, read.templateId),
          args: toLfRecord(read.createArguments),
          choice: read.choice,
          arg: toLfValue(read.choiceArgument)
        } as const
      }
      default:
        return yield* Result.fail(Requests.strange(name))
    }
  })

export const commands = (
  names: TypeNames.TypeNames,
  unions: ReadonlyArray<Requests.Union>
): Result.Result<ReadonlyArray<Ledger.Command>, Refusal> =>
  Result.all(unions.map((union) => command(names, union)))

/** Converts a deduplication window to its beginning, which is all that the node needs. */
const dedup = (dedupUnion: Requests.Union | null): Result.Result<Ledger.Dedup | null, Refusal> =>
  Result.gen(function* () {
    if (dedupUnion === null) return null
    const [name, plain] = Requests.arm(dedupUnion)
    switch (name) {
      case "Empty":
        return null
      case "DeduplicationOffset": {
        const { value } = yield* Requests.decode(Requests.DeduplicationOffset, plain)
        return { _tag: "Since", offset: value } as const
      }
      case "DeduplicationDuration": {
        const { value } = yield* Requests.decode(Requests.DeduplicationDuration, plain)
        const millis = value.seconds * 1_000 + (value.nanos ?? 0) / 1_000_000
        if (millis < 0) {
          return yield* Result.fail(
            LedgerError.make("INVALID_FIELD", "deduplicationPeriod is negative")
          )
        }
        return { _tag: "For", duration: Duration.millis(millis) } as const
      }
      default:
        return yield* Result.fail(Requests.strange(name))
    }
  })

export const disclosed = (
  names: TypeNames.TypeNames,
  contracts: ReadonlyArray<Requests.DisclosedContract> | null
): Result.Result<ReadonlyArray<Ledger.DisclosedContract>, Refusal> =>
  Result.all(
    (contracts ?? []).map((contract) =>
      Result.gen(function* () {
        const { createdEventBlob, contractId, templateId, synchronizerId } = contract
        const template = templateId === null ? undefined : yield* TypeNames.read(names, templateId)
        return {
          createdEventBlob,
          ...(contractId === null || contractId === "" ? {} : { contractId }),
          ...(template === undefined ? {} : { template }),
          ...(synchronizerId === null ? {} : { synchronizerId })
        }
      })
    )
  )

export const attempt = (
  names: TypeNames.TypeNames,
  ask: {
    readonly user: Users.User
    readonly requestCommands: Requests.Commands
    readonly traceparent: string | null
  }
): Result.Result<Attempt, Refusal> =>
  Result.gen(function* () {
    const { requestCommands } = ask
    yield* ownUser(ask.user, requestCommands.userId)
    return {
      commandId: requestCommands.commandId,
      actAs: yield* Formats.parties(requestCommands.actAs),
      readAs: yield* Formats.parties(requestCommands.readAs ?? []),
      commands: yield* commands(names, requestCommands.commands),
      dedup: yield* dedup(requestCommands.deduplicationPeriod),
      submissionId: requestCommands.submissionId ?? randomUUID(),
      workflowId: requestCommands.workflowId === "" ? null : requestCommands.workflowId,
      disclosed: yield* disclosed(names, requestCommands.disclosedContracts),
      minLedgerTime: yield* instant("minLedgerTimeAbs", requestCommands.minLedgerTimeAbs),
      traceparent: ask.traceparent
    }
  })
