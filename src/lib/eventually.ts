/** A value that is there at once, or that has to be waited for. */
export type Eventually<T> = T | Promise<T>

/** Goes on with a value, at once where it is there: what waits for nothing stays in its turn. */
export const whenThere = <T, U>(value: Eventually<T>, go: (value: T) => Eventually<U>): Eventually<U> =>
  value instanceof Promise ? value.then(go) : go(value)
