/**
 * `bursar keys make`: generates keys for everything a deployment signs and seals, to paste into its
 * settings.
 */
import { Clock, Effect } from "effect"
import { Command } from "effect/cli"
import { randomBytes, randomInt } from "node:crypto"
import * as Outcome from "./Outcome.ts"

const secret = (encoding: "base64" | "base64url"): string => randomBytes(32).toString(encoding)

/**
 * Key id with the date, the same for all keys of one run, so that people see which keys belong
 * together.
 */
const keyId = (use: string, day: string): string =>
  `${use}-${day}-${randomBytes(2).toString("hex")}`

const make = Command.make("make", {}, () =>
  Effect.gen(function* () {
    const now = new Date(yield* Clock.currentTimeMillis).toISOString()
    const day = now.slice(0, 10).replaceAll("-", "")
    const signs = (use: string) => [
      { keyId: keyId(use, day), seed: secret("base64"), notBefore: now, notAfter: null }
    ]
    const made = {
      // From 1: id 0 is that of the key that a deployment makes for itself.
      "cursor.keys": `${randomInt(1, 256)}:${secret("base64url")}`,
      "signing.keys": [
        {
          keyId: keyId("sg", day),
          sub: "SUBJECT",
          secret: secret("base64"),
          notBefore: now,
          notAfter: null
        }
      ],
      "webhooks.keys": signs("wh"),
      "webhooks.sealingKeys": [{ keyId: keyId("se", day), secret: secret("base64") }],
      "audit.keys": signs("au")
    }
    yield* Outcome.print(JSON.stringify(made, null, 2))
  })
).pipe(
  Command.withShortDescription("Make fresh keys to paste into the settings"),
  Command.withDescription(
    "Prints a JSON object with a fresh key for each setting that holds keys, as the file that BURSAR_CONFIG names has them; keep it like a password. Put a new key beside the old ones: of cursor.keys and webhooks.sealingKeys the first signs or seals and the others go on verifying and opening. What a deployment made for itself and keeps under data goes on beside a new one too: as 0:secret in cursor.keys, as keyId and secret in webhooks.sealingKeys. Replace SUBJECT by whose requests the key signs, or leave signing.keys out."
  )
)

export const keys = Command.make("keys").pipe(
  Command.withShortDescription("Keys that the venue signs and seals with"),
  Command.withDescription("Keys that the venue signs and seals with."),
  Command.withSubcommands([make])
)
