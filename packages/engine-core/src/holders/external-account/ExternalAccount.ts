/** External account at a bank or custodian, mapped to a holder or instrument. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { ExternalAccountKind } from "../../vocabulary/sets.ts"

export const ExternalAccountId = RecordId.make("ExternalAccountId")
export type ExternalAccountId = typeof ExternalAccountId.Type

export const Kind = ExternalAccountKind.schema

const { NullOr, String: Text } = Schema

const shown = {
  externalAccountId: ExternalAccountId,
  kind: Kind,
  holderId: NullOr(Text),
  instrumentId: NullOr(Text),
  /** The number's last characters only. */
  masked: Text,
  /** Who mapped it, by sub. */
  mappedBy: Text
}

/**
 * The number itself is kept sealed under the deployment's key, not hashed: account numbers are so few
 * that a hash of one tells it, and a statement's line is only found by the number itself.
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

/** An account as the API shows it, without its number. */
export const view = (account: Stored<ExternalAccount>): typeof ExternalAccountView.Type =>
  RecordView.of(externalAccounts, shown, account)

/** How many of a number's last signs are shown at most. */
const shownMax = 4

/** The number with no more than its last signs, and never as much as half of it. */
export const mask = (number: string): string => {
  const signs = number.replaceAll(/[^A-Za-z0-9]/g, "")
  return `****${signs.slice(signs.length - Math.min(shownMax, Math.floor(signs.length / 3)))}`
}
