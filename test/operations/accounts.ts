/** Kit of external accounts: plants one as the operation that maps it would store it. */
import { Records, Settings } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect } from "effect"
import {
  type ExternalAccount,
  externalAccounts
} from "#core/holders/external-account/ExternalAccount.ts"
import * as Secrets from "#core/writes/Secrets.ts"

/** Key of worlds without one, whose accounts nothing unseals. */
const spare = { keyId: "spare", secret: new Uint8Array(32).fill(9) }

/**
 * Plants an account, by default of cash: its number is sealed under the key of the world, so that the
 * task which indexes numbers can read it.
 */
export const plants = (
  externalAccount: Pick<ExternalAccount, "externalAccountId"> & Partial<ExternalAccount>,
  number: string = externalAccount.externalAccountId
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const crypto = yield* Effect.provide(Crypto, NodeCrypto.layer)
    const { sealingKeys } = yield* Settings
    const keys = sealingKeys.length === 0 ? [spare] : sealingKeys
    const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
    const account: ExternalAccount = {
      kind: "cash",
      currency: null,
      segregated: false,
      holderId: null,
      instrumentId: null,
      masked: "****0001",
      mappedBy: "olga",
      sealed: Secrets.seal(number, { keys, nonce: new Uint8Array(12) }, crypto),
      ...externalAccount
    }
    yield* records.transact(Effect.orDie(records.open(externalAccounts, account, act)))
  })
