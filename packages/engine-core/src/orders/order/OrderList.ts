/** Audience, parameters and scope that the lists of holders' orders and proposals share. */
import { Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type * as Read from "../../reads/Read.ts"

export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  investor: "own",
  registrar: "near"
} as const satisfies Read.Audience

export const params = {
  instrumentId: Schema.optionalKey(InstrumentId),
  holderId: Schema.optionalKey(HolderId)
} as const

interface Params {
  readonly instrumentId?: InstrumentId
  readonly holderId?: HolderId
}

/** Returns the filter columns for the parameters of a list. */
export const columns = ({ instrumentId, holderId }: Params): Read.Scope => ({
  ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
  ...(holderId === undefined ? {} : { holderId: [holderId] })
})

/** Limits an investor to the orders of its own holder; naming another holder is denied. */
export const scope = <P extends Params>(who: Read.ReadCaller, { holderId }: P) =>
  Sight.scopeNaming(who, holderId === undefined ? undefined : [holderId])
