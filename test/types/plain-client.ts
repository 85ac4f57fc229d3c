/** Types of the plain client, of every write and read; checked by `npm run types`, never run. */
import type { Venue } from "@bursar/engine-core"
import * as PlainClient from "@bursar/http-host/plain-client"

type Kinds = Venue.WriteKind
type Whole<A> = A extends never ? false : true
type All<T extends true> = T

/** Types whose members at any depth are JSON alone: no bigint of a decimal or of an instant is left. */
type IsJson<A> = [A] extends [PlainClient.JsonValue]
  ? true
  : A extends string | number | boolean | null | undefined
    ? true
    : A extends bigint
      ? false
      : A extends ReadonlyArray<infer U>
        ? IsJson<U>
        : false extends { [M in keyof A]-?: IsJson<A[M]> }[keyof A]
          ? false
          : true

/** Every kind and read has a body, a result, parameters and an answer of its own. */
export type EveryKind = All<
  {
    [K in Kinds]: false extends IsJson<PlainClient.BodyJson<K>> | IsJson<PlainClient.ResultJson<K>>
      ? false
      : true
  }[Kinds]
>
export type EveryRead = All<
  {
    [R in Venue.ReadName]: false extends
      | IsJson<PlainClient.ParamsJson<R>>
      | (R extends Venue.ListName
          ? IsJson<PlainClient.RowJson<R>>
          : R extends Venue.ValueName
            ? IsJson<PlainClient.AnswerJson<R>>
            : never)
      ? false
      : true
  }[Venue.ReadName]
>
export type Named = Whole<PlainClient.ActionJson>

const client = PlainClient.make({ baseUrl: "http://venue.test", authorization: "Bearer b" })

export const calls = async () => {
  // Optional members are optional, decimals are text, whole numbers are numbers.
  const action = await client.write("subscription.claim", {
    instrumentId: "fund-a",
    holderId: "h-1",
    amount: "100.50"
  })
  const { result } = await client.done(action)
  const units: string | null = result.units
  const offset: number | null = action.offset
  // @ts-expect-error a decimal of an answer is text
  const wrong: number | null = result.units
  // @ts-expect-error a decimal is given as text: a number keeps 15 to 17 digits alone
  await client.write("subscription.claim", { instrumentId: "a", holderId: "h", amount: 100.5 })
  // @ts-expect-error no write is called so
  await client.write("subscription.claims", {})
  // @ts-expect-error no read is called so
  await client.read("subscription.get", { subscriptionId: "s" })
  // @ts-expect-error a list is no value
  await client.read("subscriptions.list", {})
  // @ts-expect-error an instrument's movements are of an instrument
  await client.list("instruments.movements")
  const page = await client.list("findings.list", { where: { state: ["open"] } })
  const days: number | undefined = page.value[0]?.ageDays
  try {
    await client.approve(action)
  } catch (error) {
    if (!PlainClient.isRefusal(error, "subscription.claim")) throw error
    if (error.slug === "rule-refused") return error.check
    // @ts-expect-error no call of this kind is refused so
    const never: "webhook-configured" = error.slug
    return [never, error.pointer]
  }
  return [units, offset, wrong, days]
}
