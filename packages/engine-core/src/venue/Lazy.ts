/** Lazy promise: the call begins when it is first awaited, so that a list can be iterated instead. */
export class Lazy<A> implements Promise<A> {
  readonly [Symbol.toStringTag] = "Promise"
  readonly #begin: () => Promise<A>
  #begun: Promise<A> | undefined

  constructor(begin: () => Promise<A>) {
    this.#begin = begin
  }

  get #promise(): Promise<A> {
    return (this.#begun ??= this.#begin())
  }

  then<B = A, C = never>(
    onFulfilled?: ((value: A) => B | PromiseLike<B>) | null,
    onRejected?: ((reason: unknown) => C | PromiseLike<C>) | null
  ): Promise<B | C> {
    return this.#promise.then(onFulfilled, onRejected)
  }

  catch<C = never>(onRejected?: ((reason: unknown) => C | PromiseLike<C>) | null): Promise<A | C> {
    return this.#promise.catch(onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<A> {
    return this.#promise.finally(onFinally)
  }
}
