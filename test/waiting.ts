/** Waiting in tests: how long a hang is, and polls that only a hang ends. */

/**
 * Ends a test that hangs, in milliseconds. No outcome depends on the speed of the machine: a test
 * that takes this long on a busy machine has stopped making progress.
 */
export const hangs = 600_000

/** Less than a test's own limit, so that what did not come is named. */
export const pollLimit = hangs / 2

/**
 * Polls until there is something to answer. Where `moved` is given, a poll that reached its limit begins
 * again as long as the value of `moved` is another one than at the limit before: what still moves on a
 * busy machine does not hang.
 */
export const wanted = async <A>(
  read: () => A | undefined | Promise<A | undefined>,
  moved?: () => Promise<string>
): Promise<A> => {
  let limit = performance.now() + pollLimit
  let before = await moved?.()
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    if (performance.now() > limit) {
      const now = await moved?.()
      if (now === before) throw new Error(`it never came to be: ${read}`)
      before = now
      limit = performance.now() + pollLimit
    }
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
