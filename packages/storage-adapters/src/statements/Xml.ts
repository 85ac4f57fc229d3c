/**
 * Reader of statements in XML: bytes, decoded into text, walked as the message that the source sends
 * (docs/domain/statements.md#xml).
 */
import type { StatementSource } from "@bursar/engine-core/ports"
import type { Stream } from "effect"
import * as Camt053 from "./Camt053.ts"
import { decoder } from "./Decoding.ts"
import * as Reda001 from "./Reda001.ts"
import * as Semt from "./Semt.ts"
import * as Steps from "./Steps.ts"
import { type Form, walk } from "./XmlWalk.ts"

/** Forms by the name that a source's configuration gives its adapter. */
const forms = {
  "camt.053": Camt053.form,
  "semt.002": Semt.semt002,
  "semt.003": Semt.semt003,
  "reda.001": Reda001.form
} as const satisfies Readonly<Record<string, Form>>
type XmlAdapter = keyof typeof forms

/** Reading of a file in one of the forms. */
export type Reading = StatementSource.Reading & { readonly adapter: XmlAdapter }

/** Checks whether the source sends one of the forms. */
export const isXml = (reading: StatementSource.Reading): reading is Reading =>
  reading.adapter in forms

/**
 * Reads the statement of the source's account or instrument in a file of one of the forms; lines are
 * handed on while the file is read. Fails as `StatementSource.Reader` declares.
 */
export const read = <E, R>(
  reading: Reading,
  bytes: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<StatementSource.Part, StatementSource.StatementFault | E, R> =>
  Steps.run(Steps.sliced(bytes), () =>
    Steps.joined(
      decoder({ charset: reading.charset, declaration: { by: "xml" } }),
      walk(forms[reading.adapter], reading)
    )
  )
