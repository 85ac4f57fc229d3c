/** Gives the tests of a run their databases: one server, started by the first test that needs it. */
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"

export const setup = async (): Promise<() => Promise<void>> => {
  const databases = await TestDatabase.giveOut()
  process.env[TestDatabase.GIVEN_OUT_AT] = databases.address
  return databases.stop
}
