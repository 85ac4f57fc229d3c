/** Waiting in tests: how long a hang is, and polls that only a hang ends. */

/**
 * Ends a test that hangs, in milliseconds. No outcome depends on how fast the machine is: whatever
 * takes this long on a busy machine has stopped making progress.
 */
export const hangs = 600_000

/** Less than a test's own limit, so that what did not come is named. */
export const pollLimit = hangs / 2

/** Polls until there is something to answer. */
export const wanted = async <A>(read: () => A | undefined | Promise<A | undefined>): Promise<A> => {
  const limit = performance.now() + pollLimit
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    if (performance.now() > limit) throw new Error(`it never came to be: ${read}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Polls until a condition holds. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  const limit = performance.now() + pollLimit
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`it never came to be: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
