/**
 * Write that maps an account at a bank or a custodian to a holder or an instrument.
 */
import { Effect, Option, Schema } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { InstrumentId, instruments } from "../../instruments/instrument/Instrument.ts"
import { currency as currencyCode } from "../../instruments/instrument/Manifest.ts"
import { condition, failed, judge } from "../../kernel/Gates.ts"
import * as Iban from "../../kernel/Iban.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, optionally, phrase, sentence } from "../../writes/Summary.ts"
import { type Holder, holders, isEnded, HolderMachine } from "../holder/Holder.ts"
import { HolderId } from "../holder/HolderId.ts"
import { accountNumbers } from "./AccountNumber.ts"
import { currentHasher, findMapped } from "./AccountNumberLookups.ts"
import {
  ExternalAccountId,
  externalAccounts,
  ExternalAccountView,
  AccountKind,
  mask,
  view
} from "./ExternalAccount.ts"

/** Largest number of external accounts of a holder. */
const accountsMax = 32

const Body = Schema.Struct({
  /** Made by the engine when the caller names none. */
  externalAccountId: Field.optional(ExternalAccountId),
  kind: AccountKind,
  /** Currency of a cash account, by its ISO 4217 code; a source of cash needs it. */
  currency: Field.optional(currencyCode),
  /** True: cash kept apart for lines of distributions that are suspended. */
  segregated: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  holderId: Field.optional(HolderId),
  instrumentId: Field.optional(InstrumentId),
  /** The account's number in full, such as an IBAN; stored sealed and never shown. */
  number: Schema.String.check(
    Schema.isPattern(/^[A-Za-z0-9](?:[ ./-]?[A-Za-z0-9]){4,47}$/, {
      expected: "an account number of 5 to 48 letters and digits"
    }),
    Schema.makeFilter((number: string) => !Iban.isMistyped(number), {
      expected: "an IBAN with its own check digits"
    })
  )
})
type Body = typeof Body.Type

const map = Operation.define("external-account.map", {
  doc: "Maps an account at a bank or a custodian to a holder or an instrument.",
  summary: ({ currency, kind }, subject) =>
    sentence`Maps ${kind} account ${subject.resource.id}${optionally(currency, (currency) => phrase` in ${currency}`)}${concerning(subject)}.`,
  route: "POST /v1/external-accounts",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "external-account",
    prefix: "xac",
    id: ({ externalAccountId }) => externalAccountId ?? "",
    href: () => "/v1/external-accounts",
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Body,
  secrets: { number: mask },
  complete: (input, makeId) => ({
    ...input,
    externalAccountId: input.externalAccountId ?? ExternalAccountId.make(makeId())
  }),
  judge: Effect.fnUntraced(function* () {
    const { sealingKeys } = yield* Settings
    if (sealingKeys.length === 0) {
      return yield* Effect.die(new Error("the deployment has no key to seal an account number"))
    }
  }),
  result: ExternalAccountView,
  refuses: ["already-exists", "not-found", "state-conflict", "rule-refused"],
  run: Effect.fn("external-account.map")(function* (input, act) {
    const records = yield* Records
    const { currency, kind, holderId, instrumentId, number, segregated } = input
    const externalAccountId = RecordId.made(input.externalAccountId, "an external account")
    const holder = yield* ownerOf(input)
    const isOfCash = kind === "cash" || (currency === null && !segregated)
    yield* Effect.fromResult(judge([condition("account-cash", isOfCash)]))
    const opened = yield* records.open(
      externalAccounts,
      {
        externalAccountId,
        kind,
        currency,
        segregated,
        holderId,
        instrumentId,
        masked: mask(number),
        mappedBy: act.actor,
        // A write that is only judged has sealed nothing and stores nothing.
        sealed: act.sealed?.["number"] ?? ""
      },
      act
    )
    if (Option.isSome(yield* findMapped({ number, currency }))) return yield* alreadyMapped
    const hash = (yield* currentHasher)(number)
    yield* Effect.catchTag(
      records.open(accountNumbers, { hash, currency, externalAccountId }, act),
      "Refused",
      () => alreadyMapped
    )
    if (holder !== null) {
      const fact = { on: "map-account", externalAccountId, at: act.now } as const
      yield* records.append(holders, holder, fact, act)
    }
    return view(opened)
  })
})

export const operations = [map] as const

/** Refuses a number that an account has already in that currency. */
const alreadyMapped = Effect.fail(refused("rule-refused", failed("account-mapped")))

/** Loads the holder of the account; null for the account of an instrument's fund. */
const ownerOf = Effect.fnUntraced(function* ({ holderId, instrumentId }: Body) {
  const records = yield* Records
  if (instrumentId !== null) yield* records.get(instruments, instrumentId)
  if (holderId === null) {
    yield* Effect.fromResult(judge([condition("account-owner", instrumentId !== null)]))
    return null
  }
  const holder = yield* records.get(holders, holderId)
  if (isEnded(holder)) return yield* refuseEnded(holder)
  const withinLimit = condition(
    "external-accounts-max",
    holder.externalAccounts.length < accountsMax,
    {
      recovery: `A holder has at most ${accountsMax} accounts.`
    }
  )
  yield* Effect.fromResult(judge([withinLimit]))
  return holder
})

const refuseEnded = ({ state }: Holder) =>
  Effect.fail(
    refused("state-conflict", {
      check: HolderMachine.name,
      detail: `A holder in state ${state} gets no account.`
    })
  )
