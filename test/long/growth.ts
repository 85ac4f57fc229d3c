/** Growth of the work with the length of a text: a ratio of times, which no machine's speed changes. */

const runs = 20
const measures = 10
const attempts = 5

/** Least time of several measures: what else the machine does only adds. A slow run is measured once. */
const leastTime = (run: () => void): number => {
  const began = performance.now()
  run()
  const first = performance.now() - began
  if (first > 20) return first * runs
  let least = Number.POSITIVE_INFINITY
  for (let measure = 0; measure < measures; measure++) {
    const started = performance.now()
    for (let i = 0; i < runs; i++) run()
    least = Math.min(least, performance.now() - started)
  }
  return least
}

/**
 * Time of reading a text divided by the time of reading one of half its length: at most about 2 for
 * a linear reader, 4 for a quadratic one, 16 for one of four repetitions in a row.
 */
export const growth = (options: {
  readonly text: (length: number) => string
  readonly length: number
  readonly read: (text: string) => void
}): number => {
  const [half, whole] = [options.text(options.length / 2), options.text(options.length)]
  let ratio = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && ratio > 2.5; attempt++) {
    ratio = Math.min(
      ratio,
      leastTime(() => options.read(whole)) / leastTime(() => options.read(half))
    )
  }
  return ratio
}
