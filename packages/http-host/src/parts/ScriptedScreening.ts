/** Scripted source of screening of a deployment, where the settings name its script. */
import { ScreeningSource } from "@bursar/engine-core/ports"
import * as ScriptedScreening from "@bursar/storage-adapters/screening"
import { Effect, Layer } from "effect"
import * as NotUsable from "../config/NotUsable.ts"
import type { ScreeningPart } from "./Parts.ts"

/**
 * The scripted screening source; without a script nobody is screened. Its file must hold a script when the host starts, and may change
 * later.
 */
export const part: ScreeningPart = (config) => {
  const script = config["screening.script"]
  if (script === null) return ScreeningSource.layerNone
  return Layer.unwrap(
    Effect.as(
      ScriptedScreening.readFile(script).pipe(
        Effect.mapError(({ detail }) => ({ message: detail })),
        NotUsable.faultOf("screening.script")
      ),
      ScriptedScreening.layerFile(script)
    )
  )
}
