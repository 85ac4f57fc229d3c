/** Kind of the setting of people's sign-in: parameters that an identity provider needs. */
import { Schema } from "effect"
import * as Kind from "./Kind.ts"

const parametersMax = 20

/**
 * Parameters of the request that the page sets itself: a configured value would be dropped, or would break
 * the exchange of the code.
 */
const pageParameters: ReadonlyArray<string> = [
  "client_id",
  "client_secret",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "redirect_uri",
  "request",
  "request_uri",
  "response_mode",
  "response_type",
  "state"
]

const ParameterName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9._-]{1,64}$/),
  Schema.makeFilter((name: string) =>
    pageParameters.includes(name) ? `the page that signs in sets ${name} itself` : undefined
  )
)

const ParameterValue = Schema.String.check(Schema.isPattern(/^[\x20-\x7E]{1,2048}$/))

/** Kind of the parameters by name; the words of `scope` are scopes. */
export const parameters: Kind.Kind<{
  /** Scopes besides those that every sign-in asks for. */
  readonly scopes: ReadonlyArray<string>
  /** The other parameters, by name. */
  readonly parameters: Readonly<Record<string, string>>
}> = Kind.mapped(
  Kind.empty(
    {},
    Kind.structured({
      limit: `a JSON object of at most ${parametersMax} parameters, such as {"resource": "urn:venue"}: names of 1 to 64 of A-Z a-z 0-9 . _ -, except ${pageParameters.join(", ")}; values of 1 to 2048 printable ASCII characters`,
      schema: Schema.Record(ParameterName, ParameterValue).check(
        Schema.isMaxProperties(parametersMax)
      )
    })
  ),
  ({ scope = "", ...others }: Readonly<Record<string, string>>) => ({
    scopes: scope.split(" ").filter((word) => word !== ""),
    parameters: others
  })
)
