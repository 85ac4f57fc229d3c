/** Record of an account at a bank or custodian, mapped to a holder or an instrument. */
import { Effect, Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Iban from "../../kernel/Iban.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { ExternalAccountKind } from "../../vocabulary/sets.ts"

export const ExternalAccountId = RecordId.make("ExternalAccountId")
export type ExternalAccountId = typeof ExternalAccountId.Type

export const AccountKind = ExternalAccountKind.schema

const { NullOr, String: Text } = Schema

const shown = {
  externalAccountId: ExternalAccountId,
  kind: AccountKind,
  /** Currency of a cash account; null: the account names none. */
  currency: Field.optional(Text),
  /** True: cash kept apart for lines of distributions that are suspended. */
  segregated: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  holderId: NullOr(Text),
  instrumentId: NullOr(Text),
  /** The account's number, masked but for its last characters. */
  masked: Text,
  /** Subject claim (`sub`) of the person who mapped it. */
  mappedBy: Text
}

/**
 * The number is stored sealed under the deployment's key. Lines of statements find the account by the
 * keyed hash of the number, which the index of account numbers holds.
 */
export const ExternalAccount = Schema.Struct({ ...shown, sealed: Text })
export type ExternalAccount = typeof ExternalAccount.Type

export const externalAccounts = Collection.define<ExternalAccount, never>("external-account", {
  doc: "An account at a bank or a custodian, and the holder or instrument it is mapped to.",
  id: (self) => self.externalAccountId,
  record: ExternalAccount,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine",
  filters: {
    kind: (self) => self.kind,
    holderId: (self) => self.holderId,
    instrumentId: (self) => self.instrumentId
  },
  invariants: {
    "an account is somebody's": (self) => self.holderId !== null || self.instrumentId !== null
  }
})

export const ExternalAccountView = RecordView.schemaOf(shown, {
  identifier: "ExternalAccount",
  description: "An account at a bank or a custodian, and the holder or instrument it is mapped to."
})

/** View of an account, with its number masked. */
export const view = (account: Stored<ExternalAccount>): typeof ExternalAccountView.Type =>
  RecordView.of(externalAccounts, shown, account)

/** Largest number of characters of an account's number that are shown. */
const shownMax = 4

/** Masks a number but for its last characters: at most four, and at most a third of them all. */
export const mask = (number: string): string => {
  const signs = number.replaceAll(/[^A-Za-z0-9]/g, "")
  return `****${signs.slice(signs.length - Math.min(shownMax, Math.floor(signs.length / 3)))}`
}

/**
 * Masks account numbers within a text of an outside party: this one, in whichever groups, and every
 * IBAN with right check digits.
 */
export const masking = (text: string, number: string | null): string => {
  const written = Iban.findAll(text)
  const signs = number === null ? [] : [...Iban.plainNumber(number)]
  const own = signs.length === 0 ? [] : [new RegExp(signs.join("[\\s./-]*"), "giu")]
  return [...own, ...written].reduce<string>(
    (masked, each) => masked.replaceAll(each, (found) => mask(found)),
    text
  )
}
